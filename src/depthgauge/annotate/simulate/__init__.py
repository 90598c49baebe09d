"""Simulated annotators: from exact geometry to what a person would have drawn."""

from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.noise import CAREFUL, HUMAN, LEVELS, NONE, AnnotatorNoise

__all__ = ["CAREFUL", "HUMAN", "LEVELS", "NONE", "AnnotatorNoise", "simulate"]
