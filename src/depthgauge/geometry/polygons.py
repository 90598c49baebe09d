"""The pixels that a polygon encloses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Mask


def polygon_mask(
    shape: tuple[int, ...],
    points_px: Iterable[tuple[float, float]],
    *,
    with_outline: bool = False,
) -> Mask:
    """The pixels whose centres a polygon encloses, by the even-odd rule where it crosses itself.

    A centre on the outline is inside only on the left and upper sides. So a square from 2 to 5 is
    three pixels wide, and a pixel on the common side of two polygons belongs to only one of them.

    Args:
        shape: Height and width of the image.
        points_px: Three or more corners (x, y), pixel centres at integers; may lie outside.
        with_outline: Centres on any side are inside, so that the same square is four pixels wide.

    >>> polygon_mask((3, 4), [(0.5, -0.5), (2.5, -0.5), (2.5, 1.5), (0.5, 1.5)]).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 0]])
    """
    corners = np.array(list(points_px), np.float64)
    mask = np.zeros(shape[:2], np.bool_)
    _fill(mask, corners, upper=True, left=True)
    if with_outline:
        for upper, left in ((True, False), (False, True), (False, False)):
            _fill(mask, corners, upper=upper, left=left)
        # A pointed corner has no width.
        x, y = corners[(corners == np.round(corners)).all(axis=1)].T.astype(np.int64)
        inside = (x >= 0) & (y >= 0) & (x < mask.shape[1]) & (y < mask.shape[0])
        mask[y[inside], x[inside]] = True
    return mask


def _fill(mask: Mask, corners: NDArray[np.float64], *, upper: bool, left: bool) -> None:
    """Adds the enclosed pixels; of those on the outline, these on the sides named."""
    height, width = mask.shape
    ends = np.roll(corners, -1, axis=0)
    low, high = max(0, int(np.ceil(corners[:, 1].min()))), int(np.floor(corners[:, 1].max()))
    columns = np.arange(width)
    for y in range(low, min(high, height - 1) + 1):
        # Half-open, so that a corner on the row counts once.
        above = (
            (corners[:, 1] <= y, ends[:, 1] <= y) if upper else (corners[:, 1] < y, ends[:, 1] < y)
        )
        crossing = above[0] != above[1]
        (x0, y0), (x1, y1) = corners[crossing].T, ends[crossing].T
        crossed = np.sort(x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        passed = np.searchsorted(crossed, columns, side="right" if left else "left")
        mask[y] |= passed % 2 == 1
