"""The pixels that a polygon encloses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from depthgauge.types import Mask


def polygon_mask(shape: tuple[int, ...], points_px: Iterable[tuple[float, float]]) -> Mask:
    """The pixels whose centres a polygon encloses, by the even-odd rule where it crosses itself.

    A centre on the outline is inside only on the left and upper sides. So a square from 2 to 5 is
    three pixels wide, and a pixel on the common side of two polygons belongs to only one of them.

    Args:
        shape: Height and width of the image.
        points_px: Three or more corners (x, y), pixel centres at integers; may lie outside.

    >>> polygon_mask((3, 4), [(0.5, -0.5), (2.5, -0.5), (2.5, 1.5), (0.5, 1.5)]).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 0]])
    """
    height, width = shape[:2]
    corners = np.array(list(points_px), np.float64)
    ends = np.roll(corners, -1, axis=0)
    mask = np.zeros((height, width), np.bool_)
    low, high = max(0, int(np.ceil(corners[:, 1].min()))), int(np.floor(corners[:, 1].max()))
    columns = np.arange(width)
    for y in range(low, min(high, height - 1) + 1):
        # Half-open, so that a corner on the row counts once.
        crossing = (corners[:, 1] <= y) != (ends[:, 1] <= y)
        (x0, y0), (x1, y1) = corners[crossing].T, ends[crossing].T
        crossed = np.sort(x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        mask[y] = np.searchsorted(crossed, columns, side="right") % 2 == 1
    return mask
