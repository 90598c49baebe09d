"""Semi-global matching among each pixel's candidates, and the ones that win; compiled.

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

_FAR = 1 << 20


@compiled()
def _follow(
    x: int,
    y: int,
    dx: int,
    dy: int,
    places: Array,
    costs: Array,
    worst: int,
    penalties: tuple[int, int],
    before: Array,
    totals: Array,
) -> None:
    height, width, most = places.shape
    small, large = penalties
    past, past_places, now = before[0], before[1], before[2]
    past[:], past_places[:] = 0, -_FAR
    while 0 <= x < width and 0 <= y < height:
        here, cost = places[y, x], costs[y, x]
        lowest = past[0]
        for q in range(1, most):
            lowest = min(lowest, past[q])
        for j in range(most):
            now[j] = _FAR
            if cost[j] >= worst:
                continue
            least = lowest + large
            for q in range(most):
                gap = abs(here[j] - past_places[q])
                if gap <= 1:
                    least = min(least, past[q] + gap * small)
            now[j] = cost[j] + least - lowest
            totals[y, x, j] += now[j]
        if cost[0] >= worst:
            past[:], past_places[:] = 0, -_FAR
        else:
            past[:] = now
            for j in range(most):
                past_places[j] = here[j]
        x += dx
        y += dy


def _room(paths: int, places: Array, *rest: Any) -> tuple[Any, ...]:
    return (np.zeros((3, places.shape[2]), np.int64),)


@banded("paths", cost=40, room=_room)
def follow_paths(
    begin: int,
    end: int,
    before: Array,
    paths: int,
    places: Array,
    costs: Array,
    worst: int,
    dx: int,
    dy: int,
    small: int,
    large: int,
    totals: Array,
) -> None:
    """Adds the costs along the paths of one direction to `totals`.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        before: Scratch space.
        paths: The number of paths, from `path_count`.
        places: (H, W, M) int16: the candidates' disparities.
        costs: (H, W, M) uint16: their costs, rising.
        worst: The cost of a candidate that does not exist.
        dx: Direction to the right, -1, 0 or 1.
        dy: Direction down.
        small: Penalty of a change by one disparity.
        large: Penalty of larger changes.
        totals: (H, W, M) uint16.
    """
    height, width = places.shape[:2]
    for p in range(begin, end):
        x, y = path_start(p, height, width, dx, dy)
        _follow(x, y, dx, dy, places, costs, worst, (small, large), before, totals)


@banded("found", cost=10)
def winners(
    begin: int,
    end: int,
    places: Array,
    costs: Array,
    totals: Array,
    worst: int,
    none: int,
    found: Array,
) -> None:
    """The candidate with the smallest total.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        places: (H, W, M) int16.
        costs: (H, W, M) uint16.
        totals: (H, W, M) uint16.
        worst: The cost of a candidate that does not exist.
        none: The number for a pixel without any.
        found: (H, W) int32.
    """
    for y in range(begin, end):
        for x in range(found.shape[1]):
            best = 0
            for j in range(1, places.shape[2]):
                if costs[y, x, j] < worst and totals[y, x, j] < totals[y, x, best]:
                    best = j
            found[y, x] = places[y, x, best] if costs[y, x, best] < worst else none
