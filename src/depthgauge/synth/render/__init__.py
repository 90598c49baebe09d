"""Renders scenes: exact geometry and pictures."""
