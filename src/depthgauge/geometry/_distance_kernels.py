"""The exact distance transform in two passes, down the columns and along the rows.

Columns do not depend on each other, nor do rows, so the number of threads does not change a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]

_COLUMNS = 128  # columns that are processed together: whole cache lines of the int32 plane


@banded("rows", axis=1, step=_COLUMNS)
def nearest_rows(begin: int, end: int, mask: Array, limit: int, rows: Array) -> None:
    """The row of the nearest True in each pixel's column, -1 where none is within the limit."""
    height = mask.shape[0]
    for left in range(begin, end, _COLUMNS):
        right = min(end, left + _COLUMNS)
        for x in range(left, right):
            rows[0, x] = 0 if mask[0, x] else -1
        for y in range(1, height):
            for x in range(left, right):
                rows[y, x] = y if mask[y, x] else rows[y - 1, x]
        # Going up, `below` is the last True that was passed.
        below = np.full(right - left, -1, np.int32)
        for y in range(height - 1, -1, -1):
            for x in range(left, right):
                row = rows[y, x]
                if row == y:
                    below[x - left] = y
                under = below[x - left]
                if row < 0 or (under >= 0 and under - y < y - row):
                    row = under
                rows[y, x] = row if row >= 0 and abs(row - y) <= limit else -1


@banded("rows", cost=10)
def nearest_pixels(begin: int, end: int, rows: Array, limit: int) -> None:
    """Turns `nearest_rows` into flat indices of the nearest True pixels, in place.

    The squared distance from x to the True pixel of column u, (x - u)^2 + g(u)^2, is a parabola in
    x; the lower envelope of a row's parabolas is found from left to right and read off once.
    """
    width = rows.shape[1]
    for y in range(begin, end):
        tops = np.zeros(width, np.int32)  # columns whose parabolas make up the envelope
        starts = np.zeros(width, np.int64)  # the first x where each of them is the lowest
        drops = np.zeros(width, np.int32)
        n = 0
        for u in range(width):
            row = rows[y, u]
            drops[u] = row
            if row < 0:
                continue
            g = np.int64(row - y)
            start = np.int64(0)
            while n > 0:
                v = np.int64(tops[n - 1])
                h = np.int64(drops[v] - y)
                # The last x at which v is not farther than u; floor of a fraction.
                meet = (u * u - v * v + g * g - h * h) // (2 * (u - v))
                if meet < starts[n - 1]:
                    n -= 1
                    continue
                start = meet + 1
                break
            if start < width:
                tops[n] = u
                starts[n] = start
                n += 1
        k = 0
        for x in range(width):
            found = np.int32(-1)
            if n > 0:
                while k + 1 < n and starts[k + 1] <= x:
                    k += 1
                best = np.int64(tops[k])
                dx, dy = x - best, np.int64(drops[best] - y)
                if dx * dx + dy * dy <= np.int64(limit) * limit:
                    found = np.int32(np.int64(drops[best]) * width + best)
            rows[y, x] = found


@banded("index")
def lengths(begin: int, end: int, index: Array, distance: Array) -> None:
    """Distances to the pixels of flat indices; infinite where there is none."""
    width = index.shape[1]
    for y in range(begin, end):
        for x in range(width):
            at = index[y, x]
            if at >= 0:
                dy, dx = at // width - y, at % width - x
                distance[y, x] = np.sqrt(np.float64(dy * dy + dx * dx))
            else:
                distance[y, x] = np.inf
