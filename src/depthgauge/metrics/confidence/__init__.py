"""Whether a method knows which of its values are wrong."""
