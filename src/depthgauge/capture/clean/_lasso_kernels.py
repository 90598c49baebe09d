"""Which points a screen shows inside a closed line."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]


@banded("inside", cost=40)
def in_lasso(
    begin: int,
    end: int,
    points: Array,
    rows: Array,
    corners: Array,
    bounds: Array,
    inside: Array,
) -> None:
    """Projects points and counts the sides to the left of each: odd is inside.

    Args:
        begin: First row of the band.
        end: The row after its last one.
        points: (H, W, 3) in metres, NaN where there is none.
        rows: (3, 4), the projection.
        corners: (n, 2) of the line.
        bounds: Least u, most u, least v, most v, least w, most w.
        inside: bool (H, W), filled.
    """
    count = corners.shape[0]
    for row in range(begin, end):
        for column in range(points.shape[1]):
            inside[row, column] = False
            x, y, z = points[row, column, 0], points[row, column, 1], points[row, column, 2]
            w = rows[2, 0] * x + rows[2, 1] * y + rows[2, 2] * z + rows[2, 3]
            if not (w > 0 and w >= bounds[4] and w <= bounds[5]):
                continue
            u = (rows[0, 0] * x + rows[0, 1] * y + rows[0, 2] * z + rows[0, 3]) / w
            v = (rows[1, 0] * x + rows[1, 1] * y + rows[1, 2] * z + rows[1, 3]) / w
            if u < bounds[0] or u > bounds[1] or v < bounds[2] or v > bounds[3]:
                continue
            odd = False
            for k in range(count):
                u0, v0 = corners[k - 1, 0], corners[k - 1, 1]
                u1, v1 = corners[k, 0], corners[k, 1]
                if (v0 <= v) != (v1 <= v) and u0 + (v - v0) * ((u1 - u0) / (v1 - v0)) <= u:
                    odd = not odd
            inside[row, column] = odd
