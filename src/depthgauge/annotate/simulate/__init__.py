"""Simulated annotators: exact geometry becomes what a person would draw."""

from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.noise import CAREFUL, HUMAN, LEVELS, NONE, AnnotatorNoise

__all__ = ["CAREFUL", "HUMAN", "LEVELS", "NONE", "AnnotatorNoise", "simulate"]
