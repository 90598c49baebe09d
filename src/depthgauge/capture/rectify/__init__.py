"""Step `rectify`: turns the two pairs of cameras into ideal ones."""

from depthgauge.capture.rectify.step import SPEC, plan, read_pair, rectify

__all__ = ["SPEC", "plan", "read_pair", "rectify"]
