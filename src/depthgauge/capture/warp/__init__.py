"""Step `warp`: the labels of the unbalanced pair from those of the balanced one."""

from depthgauge.capture.warp.step import warp

__all__ = ["warp"]
