"""Step `refine`: brings the measured maps to full size, with sharp discontinuities."""

from depthgauge.capture.refine.engine import (
    MeasuredMaps,
    RefinedMaps,
    RefineEngine,
    RefineOptions,
    RefinerSpec,
)
from depthgauge.capture.refine.step import SPEC, plan, read_measured, refine

__all__ = [
    "SPEC",
    "MeasuredMaps",
    "RefineEngine",
    "RefineOptions",
    "RefinedMaps",
    "RefinerSpec",
    "plan",
    "read_measured",
    "refine",
]
