"""What both views see, and what only the left view sees."""

from __future__ import annotations

import numpy as np

from depthgauge.errors import Unavailable
from depthgauge.geometry.warping import Visibility
from depthgauge.quantities import QUANTITIES
from depthgauge.regions._checks import has_truth, same_size
from depthgauge.regions._region import region
from depthgauge.regions._shared_maps import shared_map
from depthgauge.types import Map, Mask

_SOURCES = ("visible_mask", "occluded_mask", "right_disparity")


@region("visible", needs=("quantity",), needs_any=_SOURCES, cite="after Scharstein & Szeliski 2002")
def visible(
    truth: Map,
    *,
    quantity: str,
    visible_mask: Mask | None = None,
    occluded_mask: Mask | None = None,
    right_disparity: Map | None = None,
    threshold_px: float = 1.0,
) -> Mask:
    """Pixels that the other view sees too.

    Comes from the truth's `visible_mask` (or `occluded_mask`) if it has one, otherwise from the
    left-right check: |d_left(x) - d_right(x - d_left(x))| <= threshold_px. With the check, a pixel
    whose match has no right truth is neither visible nor occluded, because it is unknown.

    The source is chosen for each sample, so one dataset may mix both. A mask made by the dataset's
    authors and a left-right check do not mark exactly the same pixels.
    """
    known = has_truth(truth)
    mask = _from_masks(truth, visible_mask, occluded_mask)
    if mask is not None:
        return known & mask
    right = _checked(truth, right_disparity, quantity)
    from depthgauge.geometry.warping import left_right_consistent

    return known & left_right_consistent(truth, right, threshold_px)


@region(
    "occluded", needs=("quantity",), needs_any=_SOURCES, cite="after Scharstein & Szeliski 2002"
)
def occluded(
    truth: Map,
    *,
    quantity: str,
    visible_mask: Mask | None = None,
    occluded_mask: Mask | None = None,
    right_disparity: Map | None = None,
    threshold_px: float = 1.0,
) -> Mask:
    """Pixels with truth that the other view does not see; from the same sources as `visible`."""
    known = has_truth(truth)
    mask = _from_masks(truth, visible_mask, occluded_mask)
    if mask is not None:
        return known & ~mask
    right = _checked(truth, right_disparity, quantity)
    from depthgauge.geometry.warping import left_right_consistent, left_right_unknown

    seen = left_right_consistent(truth, right, threshold_px)
    return known & ~seen & ~left_right_unknown(truth, right)


@shared_map(
    "visibility", needs=("quantity",), needs_any=_SOURCES, cite="after Scharstein & Szeliski 2002"
)
def visibility(
    truth: Map,
    *,
    quantity: str,
    visible_mask: Mask | None = None,
    occluded_mask: Mask | None = None,
    right_disparity: Map | None = None,
    threshold_px: float = 1.0,
) -> Visibility:
    """The regions `visible` and `occluded`, and what only the right view sees.

    From the same sources as these regions. A pixel of the right view is seen by it alone if no
    visible pixel of the left view lands on it; only a truth of disparity says so.
    """
    sources = {
        "visible_mask": visible_mask,
        "occluded_mask": occluded_mask,
        "right_disparity": right_disparity,
    }
    known = {"quantity": quantity, "threshold_px": threshold_px}
    seen = visible(truth, **known, **sources)
    hidden = occluded(truth, **known, **sources)
    if not QUANTITIES[quantity].between_views:
        return Visibility(seen, hidden)
    from depthgauge.geometry.warping import seen_by_right_only

    return Visibility(seen, hidden, seen_by_right_only(truth, seen))


def _from_masks(truth: Map, visible_mask: Mask | None, occluded_mask: Mask | None) -> Mask | None:
    """Where the sample's own masks say that a pixel is visible; None without such masks."""
    if visible_mask is not None:
        same_size("visible_mask", visible_mask, truth)
        return np.not_equal(visible_mask, 0)
    if occluded_mask is not None:
        same_size("occluded_mask", occluded_mask, truth)
        return np.equal(occluded_mask, 0)
    return None


def _checked(truth: Map, right_disparity: Map | None, quantity: str) -> Map:
    if right_disparity is None:
        raise Unavailable(
            "visibility needs a visible_mask or a right_disparity; this sample has neither.",
            ["visible_mask", "right_disparity"],
        )
    if not QUANTITIES[quantity].between_views:
        raise Unavailable(
            f"visibility of a {quantity} truth needs a visible_mask: the left-right check compares "
            "disparities.",
            ["visible_mask"],
        )
    same_size("right_disparity", right_disparity, truth)
    return right_disparity
