"""Gaps of a truth as occlusion leaves them: closed with what is behind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from depthgauge.geometry._checks import need_gaps, need_jump
from depthgauge.geometry._maps import as_map, as_plane, need_same_size
from depthgauge.types import Map, Mask, is_known


class ClosedMap(NamedTuple):
    """A truth whose gaps are closed, to find edges beside them."""

    truth: Map
    """As given; NaN in the gaps that stay open."""
    order: Map
    filled: Mask
    """The pixels that have a value now."""
    known: Mask | None
    """Those that have truth of their own, and so may belong to a region; None if no gap was
    closed."""


def close_gaps(
    truth: Map,
    order: Map,
    *,
    jump: float = 1.0,
    gaps: str = "background",
    right_disparity: Map | None = None,
) -> ClosedMap:
    """The truth with each gap of a row closed by what is most probably there.

    Where one camera sees a surface and the other does not, measured truth is missing: beside
    every object that is in front. So a gap between two known pixels of a row gets the value of
    the one behind. If the slopes beside the gap lead from one pixel to the other within a `jump`,
    it is a hole in a surface and is interpolated linearly.

    The truth of the right view shows more: what it has between the places of the two pixels is
    between them in the scene too. If that is behind both by more than a `jump`, the gap gets the
    farthest of these values. So two things with nothing but hidden background between them stay
    two.

    A gap at the border of the image stays open: nothing is known beyond it. If more pixels would
    be filled than are known, as in truth of a laser scanner, the truth is not dense, and all gaps
    stay open.

    Args:
        truth: (H, W) or (H, W, C), NaN where missing.
        order: (H, W), larger in front.
        jump: In the unit of the order.
        gaps: `background`, or `open` to fill nothing.
        right_disparity: (H, W) that of the right view, if the truth is the left view's disparity.

    Raises:
        WrongShape: The sizes differ.
        Misuse: The jump is negative, or no such way to treat gaps.

    >>> row = np.array([[1, np.nan, np.nan, 5, np.nan, 5, np.nan]])
    >>> close_gaps(row, row).truth
    array([[ 1., 1., 1., 5., 5., 5., nan]], dtype=float32)
    """
    need_gaps(gaps)
    need_jump(jump)
    values, ahead = as_map(truth), as_plane(order, "the order")
    need_same_size(ahead, values, ("the order", "the truth"))
    right = np.zeros((0, 0), np.float32)
    if right_disparity is not None:
        right = as_plane(right_disparity, "the right disparity")
        need_same_size(right, values, ("the right disparity", "the truth"))
    known = is_known(values) & np.isfinite(ahead)
    if gaps == "open" or known.all():
        return ClosedMap(values, ahead, known, None)
    from depthgauge.geometry.discontinuities import _gap_kernels as kernels

    filled = np.where(known[..., np.newaxis], values.reshape(*known.shape, -1), np.float32(np.nan))
    front = np.where(known, ahead, np.float32(np.nan))
    closed = np.zeros_like(known)
    kernels.close_rows(filled, front, known, right, jump, closed)
    if np.count_nonzero(closed) > np.count_nonzero(known):
        return ClosedMap(values, ahead, known, None)
    return ClosedMap(filled.reshape(values.shape), front, known | closed, known)
