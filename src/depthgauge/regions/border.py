"""The margin of the image."""

from __future__ import annotations

from depthgauge.regions._checks import has_truth, not_negative
from depthgauge.regions._region import region
from depthgauge.types import Map, Mask


@region("border")
def border(truth: Map, *, width: int) -> Mask:
    """Pixels that are less than `width` pixels from the image's edge: `border:1` is the outermost
    ring, `all - border:10` leaves out ten rows and columns on every side.
    """
    not_negative("width", width)
    mask = has_truth(truth)
    mask[width : mask.shape[0] - width, width : mask.shape[1] - width] = False
    return mask
