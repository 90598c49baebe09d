"""Semi-global matching in 16-bit numbers, and the disparities that win; compiled.

A path is followed by one thread; two paths of one direction never meet, so the number of threads
never changes a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import path_start

Array = NDArray[Any]

_FAR = np.float32(1e9)


@compiled(fastmath=True)
def _follow(
    x: int, y: int, dx: int, dy: int, costs: Array, small: Any, large: Any, totals: Array
) -> None:
    height, width, count = costs.shape
    before = np.zeros(count + 2, np.float32)
    now = np.zeros(count + 2, np.float32)
    before[0] = before[count + 1] = now[0] = now[count + 1] = _FAR
    lowest = np.float32(0)
    while 0 <= x < width and 0 <= y < height:
        here, sums = costs[y, x], totals[y, x]
        limit = lowest + large
        found = _FAR
        for d in range(count):
            step = min(before[d], before[d + 2]) + small
            value = np.float32(here[d]) + min(min(before[d + 1], limit), step) - lowest
            now[d + 1] = value
            sums[d] = np.uint16(np.int32(sums[d]) + np.int32(value))
            found = min(found, value)
        lowest = found
        before, now = now, before
        x += dx
        y += dy


@banded("paths", cost=2)
def follow_paths(
    begin: int,
    end: int,
    paths: int,
    costs: Array,
    dx: int,
    dy: int,
    small: float,
    large: float,
    totals: Array,
) -> None:
    """Adds the costs along the paths of one direction to `totals`.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        paths: The number of paths, from `path_count`.
        costs: (H, W, D) uint16.
        dx: Direction to the right, -1, 0 or 1.
        dy: Direction down.
        small: Penalty of a change by one disparity, a whole number.
        large: Penalty of larger changes.
        totals: (H, W, D) uint16.
    """
    height, width = costs.shape[:2]
    p1, p2 = np.float32(small), np.float32(large)
    for p in range(begin, end):
        x, y = path_start(p, height, width, dx, dy)
        _follow(x, y, dx, dy, costs, p1, p2, totals)


@compiled()
def _winners_row(costs: Array, totals: Array, worst: int, places: Array) -> None:
    width, count = totals.shape
    for x in range(width):
        sums, here = totals[x], costs[x]
        best = 0
        for d in range(1, count):
            if sums[d] < sums[best]:
                best = d
        place = best
        for d in range(max(best - 1, 0), min(best + 2, count)):
            if here[d] < here[place]:
                place = d
        places[x] = place if here[place] < worst else -1


@banded("places", cost=1)
def winners(begin: int, end: int, costs: Array, totals: Array, worst: int, places: Array) -> None:
    """The place of the smallest total; next to it, of the smallest cost, which has no penalties.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        costs: (H, W, D) uint16.
        totals: (H, W, D) uint16.
        worst: A cost that is not a match.
        places: (H, W) int32; -1 where there is no match.
    """
    for y in range(begin, end):
        _winners_row(costs[y], totals[y], worst, places[y])
