"""Scores by what a person noted about samples and pixels: weather, lighting, hazards."""
