"""Metrics of depth from one picture: planes, edges, sides of a plane."""
