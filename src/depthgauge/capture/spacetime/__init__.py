"""Step `spacetime`: disparities and variances of both views from all patterns together."""

from depthgauge.capture.spacetime.step import spacetime

__all__ = ["spacetime"]
