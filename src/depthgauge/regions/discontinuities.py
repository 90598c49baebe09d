"""The neighbourhood of jumps in the truth."""

from __future__ import annotations

import numpy as np

from depthgauge.regions._checks import has_truth, not_negative, odd
from depthgauge.regions._region import region
from depthgauge.types import Map, Mask


@region("discontinuities", cite="after Scharstein & Szeliski 2002")
def discontinuities(truth: Map, *, jump: float = 1.0, width: int = 9, guard: int = 1) -> Mask:
    """Pixels within `width`/2 of a jump in the truth.

    Two 4-neighbours whose truth differs by more than `jump` (in the truth's unit: px for disparity
    and flow, m for depth; for flow, the length of the difference) are both edge pixels, unless one
    of them has no truth or is within `guard` pixels of one without: an apparent jump beside a hole
    is mostly caused by the hole. The region is every pixel with truth in a square of `width` x
    `width` around an edge pixel; `guard` limits edges, not the pixels around them.

    The authors' program requires a jump of 2 px or more and has no guard; here the default is more
    than 1 px. `discontinuities:2` is closest to it.
    """
    radius = odd("width", width)
    not_negative("jump", jump)
    not_negative("guard", guard)
    known = has_truth(truth)
    from depthgauge.regions import _kernels

    usable = ~_kernels.dilate(~known, guard)
    channels = truth if truth.ndim == 3 else truth[..., np.newaxis]
    edges = _kernels.jumps(np.ascontiguousarray(channels, np.float32), usable, jump)
    around: Mask = _kernels.dilate(edges, radius)
    return known & around
