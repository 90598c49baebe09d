"""Turns what a person draws on one photograph into dense normals, depth and a mesh."""
