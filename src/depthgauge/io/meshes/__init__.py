"""Meshes and clouds of points: PLY and GLB."""
