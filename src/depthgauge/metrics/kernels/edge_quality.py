"""Loops over the pixels beside edges: their piece of the edge, and what no shift explains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

UNKNOWN, BEHIND, BETWEEN, FRONT = 0, 1, 2, 3
"""The side of an estimate."""


@compiled()
def _height(value: Array, low: Array, high: Array) -> float:
    """Where a value lies between two others, 0 to 1, along their difference."""
    along = jump = 0.0
    for c in range(value.size):
        step = np.float64(high[c]) - low[c]
        along += (np.float64(value[c]) - low[c]) * step
        jump += step * step
    return along / jump if jump > 0.0 else np.nan


@banded("side")
def take_sides(
    begin: int,
    end: int,
    estimate: Array,
    truth: Array,
    foreground: Array,
    background: Array,
    front_map: Array,
    back_map: Array,
    margin: float,
    side: Array,
    taken: Array,
) -> None:
    """The true side of each pixel (1 in front, -1 behind, 0 none), and that of its estimate.

    Maps are (H, W, C). On each side the truth is one of the two surfaces and the other one is
    extrapolated. A pixel without both has no side.
    """
    width = side.shape[1]
    for y in range(begin, end):
        for x in range(width):
            front = foreground[y, x]
            if front == background[y, x]:
                continue
            low = back_map[y, x] if front else truth[y, x]
            high = truth[y, x] if front else front_map[y, x]
            if not np.isfinite(_height(truth[y, x], low, high)):
                continue
            side[y, x] = 1 if front else -1
            at = _height(estimate[y, x], low, high)
            if not np.isfinite(at):
                continue
            if at > 1.0 - margin:
                taken[y, x] = FRONT
            elif at < margin:
                taken[y, x] = BEHIND
            else:
                taken[y, x] = BETWEEN


@compiled()
def _turned(side: Array, y: int, x: int) -> int:
    """In which of two opposite directions the foreground is from an edge pixel, 0 or 1."""
    height, width = side.shape
    dx = dy = 0
    for v in range(max(0, y - 1), min(height, y + 2)):
        for u in range(max(0, x - 1), min(width, x + 2)):
            dx += (u - x) * side[v, u]
            dy += (v - y) * side[v, u]
    # No axis or diagonal is ambiguous.
    return 1 if 2 * dx + dy > 0 else 0


@banded("pieces")
def find_pieces(
    begin: int, end: int, nearest: Array, side: Array, size: int, pieces: Array
) -> None:
    """The number of the piece of edge that each pixel belongs to, -1 if it has no side.

    A piece is the edge within one square of `size` px, separately for its two sides. `nearest` is
    the flat index of the nearest edge pixel, `side` 1 in front, -1 behind and 0 elsewhere.
    """
    width = side.shape[1]
    across = (width + size - 1) // size
    for y in range(begin, end):
        for x in range(width):
            at = nearest[y, x]
            if side[y, x] == 0 or at < 0:
                pieces[y, x] = -1
                continue
            v, u = at // width, at % width
            square = (v // size) * across + u // size
            pieces[y, x] = 2 * square + _turned(side, v, u)


@compiled()
def find_deepest(depth: Array, pieces: Array, deepest: Array) -> None:
    """How far each piece reaches behind the boundary and in front of it."""
    height, width = depth.shape
    for y in range(height):
        for x in range(width):
            piece = pieces[y, x]
            if piece >= 0:
                deepest[piece, 0] = max(deepest[piece, 0], -depth[y, x])
                deepest[piece, 1] = max(deepest[piece, 1], depth[y, x])


@compiled()
def misfit(taken: int, depth: float, shift: float, tolerance: float) -> bool:
    """Whether the side of an estimate does not fit a shifted edge."""
    ahead = depth - shift
    if taken == UNKNOWN or abs(ahead) <= tolerance:
        return False
    return taken != (FRONT if ahead > 0 else BEHIND)


@compiled()
def count_misfits(
    taken: Array, depth: Array, pieces: Array, shifts: Array, tolerance: float, costs: Array
) -> None:
    """The number of pixels of each piece that do not fit each shift of its edge."""
    height, width = taken.shape
    for y in range(height):
        for x in range(width):
            piece = pieces[y, x]
            if piece < 0 or taken[y, x] == UNKNOWN:
                continue
            for k in range(shifts.size):
                if misfit(taken[y, x], depth[y, x], shifts[k], tolerance):
                    costs[piece, k] += 1


@banded("marked")
def mark_misfits(
    begin: int,
    end: int,
    taken: Array,
    depth: Array,
    pieces: Array,
    best: Array,
    tolerance: float,
    marked: Array,
) -> None:
    """Marks the pixels that do not fit the best shift of their piece."""
    width = taken.shape[1]
    for y in range(begin, end):
        for x in range(width):
            piece = pieces[y, x]
            if piece >= 0:
                marked[y, x] = misfit(taken[y, x], depth[y, x], best[piece], tolerance)
