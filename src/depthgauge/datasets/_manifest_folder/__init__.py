"""The manifest of our own dataset folder (`manifest_folder`), and what it can hold."""
