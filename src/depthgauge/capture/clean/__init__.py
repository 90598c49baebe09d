"""Step `clean`: removes what cannot be trusted and smooths the rest."""

from depthgauge.capture.clean.step import REASONS, Cleaning, clean

__all__ = ["REASONS", "Cleaning", "clean"]
