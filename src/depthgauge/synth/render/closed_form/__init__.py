"""Scenes of shapes that rays meet in closed form: exact truth without a renderer."""
