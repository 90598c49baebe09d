"""Step `rectify`: the two pairs of cameras become ideal ones."""

from depthgauge.capture.rectify.step import read_pair, rectify

__all__ = ["read_pair", "rectify"]
