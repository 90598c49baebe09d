"""Values at positions between pixels, and a surface seen from the other view."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]


@banded("x", cost=10)
def fetch(begin: int, end: int, values: Array, x: Array, y: Array, jump: float, out: Array) -> None:
    """Values at positions, never mixed across a jump of the first channel.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        values: (H, W, C); the first channel says where surfaces end, and is continued beyond the
            border; other channels are only interpolated.
        x: (h, w) columns in `values`.
        y: (h, w) rows in `values`.
        jump: Neighbours that differ by more belong to two surfaces.
        out: (h, w, C); nothing is written where the nearest pixel has no value.
    """
    height, width, channels = values.shape
    for i in range(begin, end):
        for j in range(x.shape[1]):
            sx, sy = x[i, j], y[i, j]
            # Written so that a NaN fails.
            if not (-0.5 <= sx <= width - 0.5 and -0.5 <= sy <= height - 0.5):
                continue
            xn = min(max(int(np.floor(sx + 0.5)), 0), width - 1)
            yn = min(max(int(np.floor(sy + 0.5)), 0), height - 1)
            if not np.isfinite(values[yn, xn, 0]):
                continue
            x0 = min(max(int(np.floor(sx)), 0), max(width - 2, 0))
            y0 = min(max(int(np.floor(sy)), 0), max(height - 2, 0))
            if _one_surface(values, y0, x0, jump):
                wx, wy = sx - x0, sy - y0
                for c in range(channels):
                    if c == 1:
                        # Half a px beyond the border a surface goes on, but a variance that is
                        # continued like a line can become negative.
                        wx, wy = min(max(wx, 0.0), 1.0), min(max(wy, 0.0), 1.0)
                    upper = (1.0 - wx) * values[y0, x0, c] + wx * values[y0, x0 + 1, c]
                    lower = (1.0 - wx) * values[y0 + 1, x0, c] + wx * values[y0 + 1, x0 + 1, c]
                    out[i, j, c] = (1.0 - wy) * upper + wy * lower
                continue
            for c in range(channels):
                out[i, j, c] = values[yn, xn, c]
            along = _slope(values, yn, xn, 0, 1 if sx >= xn else -1, jump) * (sx - xn)
            down = _slope(values, yn, xn, 1 if sy >= yn else -1, 0, jump) * (sy - yn)
            out[i, j, 0] = values[yn, xn, 0] + along + down


@compiled()
def _one_surface(values: Array, y: int, x: int, jump: float) -> bool:
    """Whether the four pixels from (y, x) have values without a jump between neighbours."""
    if y + 1 >= values.shape[0] or x + 1 >= values.shape[1]:
        return False
    a, b = np.float64(values[y, x, 0]), np.float64(values[y, x + 1, 0])
    c, d = np.float64(values[y + 1, x, 0]), np.float64(values[y + 1, x + 1, 0])
    # A NaN fails one of these.
    across = abs(a - b) <= jump and abs(c - d) <= jump
    return bool(across and abs(a - c) <= jump and abs(b - d) <= jump)


@compiled()
def _slope(values: Array, y: int, x: int, dy: int, dx: int, jump: float) -> float:
    """Slope of a pixel's own surface, from the neighbour on this side or else on the other."""
    here = np.float64(values[y, x, 0])
    for sign in (1, -1):
        v, u = y + sign * dy, x + sign * dx
        if 0 <= v < values.shape[0] and 0 <= u < values.shape[1]:
            step = np.float64(values[v, u, 0]) - here
            if abs(step) <= jump:
                return step * sign * (dx + dy)
    return 0.0


@banded("out", cost=20)
def seen_from_right(begin: int, end: int, disparity: Array, jump: float, out: Array) -> None:
    """The right view's disparities of what the left view sees; the nearest surface wins.

    Neighbours of one surface are joined, so that a surface that is wider in the right view has no
    gaps through which another would be visible.
    """
    width = disparity.shape[1]
    for y in range(begin, end):
        for x in range(width):
            d = np.float64(disparity[y, x])
            if not np.isfinite(d):
                continue
            at = x - d
            following = np.nan
            if x + 1 < width:
                following = np.float64(disparity[y, x + 1])
            joined = abs(following - d) <= jump
            until = x + 1 - following if joined else at
            first, last = min(at, until), max(at, until)
            for t in range(int(np.ceil(first - 0.5)), int(np.floor(last + 0.5)) + 1):
                if not 0 <= t < width:
                    continue
                share = 0.0
                if last > first:
                    share = min(max((t - at) / (until - at), 0.0), 1.0)
                value = d + share * (following - d) if joined else d
                if not out[y, t] >= value:
                    out[y, t] = value
