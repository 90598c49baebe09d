"""Similarity of neighbourhoods, distributions and point sets instead of single values."""
