"""Step `refine`: the measured maps at full size, with sharp discontinuities."""

from depthgauge.capture.refine.step import (
    ENGINES,
    Measured,
    Refined,
    RefineEngine,
    Refining,
    read_measured,
    refine,
)

__all__ = ["ENGINES", "Measured", "RefineEngine", "Refined", "Refining", "read_measured", "refine"]
