"""Simulated annotators: from exact geometry to what a person would have drawn."""
