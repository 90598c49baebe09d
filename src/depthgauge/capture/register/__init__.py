"""Step `register`: what moved between photographs, and how they are exposed."""

from depthgauge.capture.register.step import SPEC, plan, register

__all__ = ["SPEC", "plan", "register"]
