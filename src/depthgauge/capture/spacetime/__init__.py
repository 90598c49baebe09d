"""Step `spacetime`: disparities and variances of both views from all patterns together."""

from depthgauge.capture.spacetime.step import SPEC, SpacetimeOptions, plan, spacetime

__all__ = ["SPEC", "SpacetimeOptions", "plan", "spacetime"]
