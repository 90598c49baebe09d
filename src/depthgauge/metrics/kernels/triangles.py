"""Which triangle each pixel is in: a numba kernel behind `structure/neighbours`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def paint_triangles(corners: Array, out: Array) -> None:
    """The number of a triangle into each pixel inside it or on its border; the first one stays.

    Args:
        corners: (n, 3, 2), whole rows and columns.
        out: (H, W), -1 where nothing is painted yet.
    """
    for t in range(corners.shape[0]):
        ay, ax = corners[t, 0, 0], corners[t, 0, 1]
        by, bx = corners[t, 1, 0], corners[t, 1, 1]
        cy, cx = corners[t, 2, 0], corners[t, 2, 1]
        turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if turn == 0:
            continue
        sign = 1 if turn > 0 else -1
        for y in range(min(ay, by, cy), max(ay, by, cy) + 1):
            for x in range(min(ax, bx, cx), max(ax, bx, cx) + 1):
                if (
                    out[y, x] < 0
                    and sign * ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) >= 0
                    and sign * ((cx - bx) * (y - by) - (cy - by) * (x - bx)) >= 0
                    and sign * ((ax - cx) * (y - cy) - (ay - cy) * (x - cx)) >= 0
                ):
                    out[y, x] = t
