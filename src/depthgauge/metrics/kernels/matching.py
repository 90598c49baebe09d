"""Maximum one-to-one matchings of pixels within a radius.

Planes are flattened, with an empty border as wide as the radius, so that a neighbour is a step
along the plane and no step leaves it. A set of pixels is a list of places in raster order and a
plane with the number of the pixel at each place, or -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]

MANY = 8
"""How many times more pixels the other set must have left to skip finding which of them matter."""
NEAR = 256
"""How many pixels of the other set a search visits before the method for hard cases takes over."""


@compiled()
def mark_reach(places: Array, steps: Array, reach: Array) -> None:
    """Marks the places of a plane that have a pixel of the set within the radius."""
    for i in range(places.size):
        for k in range(steps.size):
            reach[places[i] + steps[k]] = True


@compiled()
def _pair_nearest(
    places: Array,
    other_at: Array,
    other_reach: Array,
    steps: Array,
    mates: Array,
    other_mates: Array,
) -> Array:
    """Pairs by distance: all that are 0 px apart, then those 1 px apart, and so on.

    Returns the pixels without a mate although a pixel of the other set is in reach.
    """
    left = np.zeros(places.size, np.int64)
    count = 0
    for a in range(places.size):
        if other_reach[places[a]]:
            left[count] = a
            count += 1
    for k in range(steps.size):
        kept = 0
        for i in range(count):
            a = left[i]
            b = other_at[places[a] + steps[k]]
            if b >= 0 and other_mates[b] < 0:
                mates[a] = b
                other_mates[b] = a
            else:
                left[kept] = a
                kept += 1
        count = kept
    return left[:count]


@compiled()
def _augment_near(
    free: Array, places: Array, other_at: Array, steps: Array, mates: Array, other_mates: Array
) -> Array:
    """Searches the shortest augmenting path from each free pixel, but not far.

    Everything that a complete search without success has seen can never be part of a path again,
    and is not visited any more. Returns the free pixels whose search was given up.
    """
    seen = np.zeros(other_mates.size, np.bool_)
    came_from = np.zeros(other_mates.size, np.int64)
    visited = np.zeros(NEAR + 1, np.int64)
    queue = np.zeros(NEAR + 2, np.int64)
    given_up, kept = np.zeros(free.size, np.int64), 0
    for f in range(free.size):
        queue[0] = free[f]
        head, tail, count, end = 0, 1, 0, -1
        while head < tail and end < 0 and count <= NEAR:
            a = queue[head]
            head += 1
            for k in range(steps.size):
                b = other_at[places[a] + steps[k]]
                if b < 0 or seen[b]:
                    continue
                if count > NEAR:
                    break
                seen[b] = True
                visited[count] = b
                count += 1
                came_from[b] = a
                if other_mates[b] < 0:
                    end = b
                    break
                queue[tail] = other_mates[b]
                tail += 1
        if end < 0 and count <= NEAR:
            continue
        if end < 0:
            given_up[kept] = free[f]
            kept += 1
        while end >= 0:
            a = came_from[end]
            before = mates[a]
            mates[a], other_mates[end] = end, a
            end = before
        for i in range(count):
            seen[visited[i]] = False
    return given_up[:kept]


@compiled()
def _find_levels(
    free: Array,
    places: Array,
    other_at: Array,
    steps: Array,
    other_mates: Array,
    levels: Array,
    queue: Array,
) -> bool:
    """The number of pairs from a free pixel to each, up to the first that have a free neighbour."""
    levels[:] = -1
    tail = 0
    for f in range(free.size):
        levels[free[f]] = 0
        queue[tail] = free[f]
        tail += 1
    head, last = 0, levels.size
    while head < tail and levels[queue[head]] <= last:
        a = queue[head]
        head += 1
        for k in range(steps.size):
            b = other_at[places[a] + steps[k]]
            if b < 0:
                continue
            if other_mates[b] < 0:
                last = levels[a]
                break
            if levels[other_mates[b]] < 0:
                levels[other_mates[b]] = levels[a] + 1
                queue[tail] = other_mates[b]
                tail += 1
    return last < levels.size


@compiled()
def _augment_along(
    start: int,
    places: Array,
    other_at: Array,
    steps: Array,
    mates: Array,
    other_mates: Array,
    levels: Array,
    tried: Array,
    path: Array,
) -> bool:
    """An augmenting path from a free pixel, from level to level; each neighbour is tried once."""
    depth = 0
    path[0] = start
    while depth >= 0:
        a = path[depth]
        deeper = False
        while tried[a] < steps.size:
            b = other_at[places[a] + steps[tried[a]]]
            if b >= 0 and other_mates[b] < 0:
                for i in range(depth, -1, -1):
                    before = mates[path[i]]
                    mates[path[i]], other_mates[b] = b, path[i]
                    b = before
                return True
            tried[a] += 1
            if b >= 0 and levels[other_mates[b]] == levels[a] + 1:
                depth += 1
                path[depth] = other_mates[b]
                deeper = True
                break
        if not deeper:
            levels[a] = -1
            depth -= 1
    return False


@compiled()
def _augment_far(
    free: Array, places: Array, other_at: Array, steps: Array, mates: Array, other_mates: Array
) -> None:
    """Makes the matching a maximum one (Hopcroft and Karp 1973): shortest paths, many at a time."""
    n = places.size
    levels, tried = np.zeros(n, np.int64), np.zeros(n, np.int64)
    queue, path = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    while free.size and _find_levels(free, places, other_at, steps, other_mates, levels, queue):
        tried[:] = 0
        left = 0
        for f in range(free.size):
            a = free[f]
            if not _augment_along(
                a, places, other_at, steps, mates, other_mates, levels, tried, path
            ):
                free[left] = a
                left += 1
        free = free[:left]


@compiled()
def _squared(place: int, other: int, stride: int) -> int:
    """The squared distance of two places of a plane."""
    down = place // stride - other // stride
    across = place % stride - other % stride
    return down * down + across * across


@compiled()
def _shorten(
    free: Array,
    places: Array,
    other_places: Array,
    other_at: Array,
    steps: Array,
    squares: Array,
    stride: int,
    mates: Array,
    other_mates: Array,
) -> None:
    """Gives a pixel's mate to a free pixel that is nearer to it, until there is none.

    The matched pixels of the other set stay the same; in this set they become the nearest ones. It
    ends, because the distances become shorter with each exchange.
    """
    stack, count = np.zeros(places.size, np.int64), 0
    for f in range(free.size - 1, -1, -1):
        if mates[free[f]] < 0:
            stack[count] = free[f]
            count += 1
    apart, farthest = np.zeros(other_mates.size, np.int64), 0
    for b in range(other_mates.size):
        if other_mates[b] >= 0:
            apart[b] = _squared(places[other_mates[b]], other_places[b], stride)
            farthest = max(farthest, apart[b])
    while count > 0:
        count -= 1
        a = stack[count]
        for k in range(steps.size):
            if squares[k] >= farthest:
                break
            b = other_at[places[a] + steps[k]]
            if b >= 0 and squares[k] < apart[b]:
                # It is matched: otherwise the matching would not be a maximum one.
                stack[count] = other_mates[b]
                count += 1
                mates[other_mates[b]] = -1
                mates[a], other_mates[b], apart[b] = b, a, squares[k]
                break


@compiled()
def _left_over(mates: Array, places: Array, other_at: Array, steps: Array) -> Array:
    """Pixels without a mate although a pixel of the other set is in reach."""
    found, count = np.zeros(mates.size, np.int64), 0
    for a in range(mates.size):
        if mates[a] >= 0:
            continue
        for k in range(steps.size):
            if other_at[places[a] + steps[k]] >= 0:
                found[count] = a
                count += 1
                break
    return found[:count]


@compiled()
def match_sets(
    places: Array,
    at: Array,
    other_places: Array,
    other_at: Array,
    other_reach: Array,
    steps: Array,
    squares: Array,
    stride: int,
    mates: Array,
    other_mates: Array,
) -> None:
    """A maximum matching: nearest pairs first, then augmenting paths in raster order, then shorter.

    Args:
        places: Places of one set.
        at: Plane of that set.
        other_places: Places of the other set.
        other_at: Plane of the other set.
        other_reach: Plane of what is within the radius of the other set.
        steps: Steps to all places within the radius, nearest first.
        squares: The squared lengths of the steps.
        stride: Width of the plane.
        mates: (number of places,) of -1; becomes the number of the mate in the other set.
        other_mates: The same for the other set.
    """
    free = _pair_nearest(places, other_at, other_reach, steps, mates, other_mates)
    if not free.size:
        return
    # Every path ends in both sets: if this one has many left, the other may have fewer.
    other_free = free[:0]
    few = MANY * free.size <= np.count_nonzero(other_mates < 0)
    if not few:
        other_free = _left_over(other_mates, other_places, at, steps)
    if few or free.size <= other_free.size:
        far = _augment_near(free, places, other_at, steps, mates, other_mates)
        _augment_far(far, places, other_at, steps, mates, other_mates)
    else:
        far = _augment_near(other_free, other_places, at, steps, other_mates, mates)
        _augment_far(far, other_places, at, steps, other_mates, mates)
    _shorten(free, places, other_places, other_at, steps, squares, stride, mates, other_mates)
