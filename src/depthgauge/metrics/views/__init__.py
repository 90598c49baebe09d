"""Views: what a generated picture is worth. Each module registers its metrics."""

from depthgauge.metrics.views import (
    disparity_scale,
    matchability,
    motion,
    patches,
    perception,
    reconstruction,
    sets,
)
from depthgauge.metrics.views._frames import frame_count

__all__ = [
    "disparity_scale",
    "frame_count",
    "matchability",
    "motion",
    "patches",
    "perception",
    "reconstruction",
    "sets",
]
