"""Edges of surfaces: where they are, how sharp they are, and which side errors fall on."""
