"""Figures and pages of annotations: what is in a set of them, and how well people agree."""
