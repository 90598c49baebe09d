"""Material masks: drawn with shapes and proposals, kept as histories, carried to other views."""
