"""Step `clean`: removes what cannot be trusted and smooths the rest."""

from depthgauge.capture.clean.step import REASONS, SPEC, CleanOptions, clean, plan

__all__ = ["REASONS", "SPEC", "CleanOptions", "clean", "plan"]
