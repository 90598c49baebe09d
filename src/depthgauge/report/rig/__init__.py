"""The generator of rig scenes, and the page on what it proposed and kept."""
