"""Every pixel with known truth."""

from __future__ import annotations

from depthgauge.regions._checks import has_truth
from depthgauge.regions._region import region
from depthgauge.types import Map, Mask


@region("all")
def everything(truth: Map) -> Mask:
    """Every pixel with truth: all channels finite."""
    return has_truth(truth)
