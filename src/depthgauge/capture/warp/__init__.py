"""Step `warp`: the labels of the unbalanced pair from those of the balanced one."""

from depthgauge.capture.warp.step import SPEC, plan, warp

__all__ = ["SPEC", "plan", "warp"]
