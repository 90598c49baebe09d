"""Near and far, by the truth's own depth or disparity."""

from __future__ import annotations

import numpy as np

from depthgauge.errors import Misuse
from depthgauge.quantities import QUANTITIES
from depthgauge.regions._checks import has_truth
from depthgauge.regions._region import region
from depthgauge.types import Map, Mask


@region("near", needs=("quantity",))
def near(truth: Map, *, quantity: str, limit: float) -> Mask:
    """Pixels that are nearer than the limit.

    Depth: truth < limit, in metres. Disparity is large where things are near, so there it is
    truth > limit, in px: `near:64` is the set of pixels of MORE than 64 px.
    """
    return has_truth(truth) & _nearer(truth, quantity, limit)


@region("far", needs=("quantity",))
def far(truth: Map, *, quantity: str, limit: float) -> Mask:
    """Pixels that are not `near` with the same limit.

    Depth: truth >= limit, in metres. Disparity: truth <= limit, in px.
    """
    return has_truth(truth) & ~_nearer(truth, quantity, limit)


def _nearer(truth: Map, quantity: str, limit: float) -> Mask:
    nearer = QUANTITIES[quantity].nearer
    if nearer is None or truth.ndim != 2:
        raise Misuse(f"near and far are for depth or disparity, not for {quantity}.")
    # The limit becomes float32 like the truth, so that a truth of 0.1 is not above a limit of 0.1.
    at = np.float32(limit)
    return np.asarray(truth < at if nearer == "smaller" else truth > at)
