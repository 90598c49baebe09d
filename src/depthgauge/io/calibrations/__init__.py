"""Calibrations and what else is known about cameras: one module per format."""
