"""Where things move fast or slowly, and how far pixels are from what disappears."""

from __future__ import annotations

import numpy as np

from depthgauge.errors import Misuse
from depthgauge.regions._checks import has_truth, same_size
from depthgauge.regions._region import region
from depthgauge.types import Map, Mask

_FAR = 1e9


def _check_limits(*, low: float, high: float = _FAR) -> None:
    if not 0 <= low < high:
        raise Misuse(f"the limits are {low:g} and {high:g}; the first must be smaller, from 0 on.")


@region("speed", of=("flow",), cite="Butler et al. 2012 (Sintel, s0-10)", check=_check_limits)
def speed(truth: Map, *, low: float, high: float = _FAR) -> Mask:
    """Pixels whose true motion is at least `low` and below `high` px long.

    `speed:0,10`, `speed:10,40` and `speed:40` are Sintel's s0-10, s10-40 and s40+.
    """
    length = np.hypot(truth[..., 0].astype(np.float64), truth[..., 1])
    return has_truth(truth) & (length >= low) & (length < high)


@region(
    "near_occlusion",
    needs=("matched_mask",),
    cite="Butler et al. 2012 (Sintel, d0-10)",
    check=_check_limits,
)
def near_occlusion(truth: Map, *, matched_mask: Mask, low: float, high: float = _FAR) -> Mask:
    """Pixels whose distance to the nearest boundary of an occlusion is in [low, high) px.

    Occlusions are what `matched_mask` leaves out. A boundary pixel has a neighbour (of four) on the
    other side; its distance is 0. Without any boundary, all pixels are infinitely far:
    they are in the region only if it has no upper limit.
    """
    same_size("matched_mask", matched_mask, truth)
    edge = np.zeros(matched_mask.shape, bool)
    across = matched_mask[:, 1:] != matched_mask[:, :-1]
    down = matched_mask[1:] != matched_mask[:-1]
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= down
    edge[:-1] |= down
    if not edge.any():
        return np.asarray(has_truth(truth) & bool(high >= _FAR))
    from scipy.ndimage import distance_transform_edt

    distance = distance_transform_edt(~edge)
    return np.asarray(has_truth(truth) & (distance >= low) & (distance < high))
