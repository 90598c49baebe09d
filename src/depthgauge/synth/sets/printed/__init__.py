"""Boards to print: their shapes in millimetres, as PDF and SVG of true size."""
