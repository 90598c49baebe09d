"""Thin parts of the foreground: runs between a rise and the opposite fall, and which of them are
corners.

The loops over all pixels go row by row; the flood visits few pixels, in a fixed order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

_NONE, _FALL, _RISE, _END = 0, 1, 2, 3
# Right, down, down-right, down-left; the other four are their opposites.
_DOWN, _RIGHT = (0, 1, 1, 1), (1, 0, 1, -1)


@banded("slopes", cost=10)
def find_slopes(
    begin: int, end: int, order: Array, known: Array, jump: float, slopes: Array
) -> None:
    """What lies between each pixel and four of its neighbours, two bits each.

    No jump, a fall, a rise, or the end of the known pixels.
    """
    height, width = order.shape
    for y in range(begin, end):
        for x in range(width):
            code = 0
            for k in range(4):
                v, u = y + _DOWN[k], x + _RIGHT[k]
                step = _END
                if v < height and 0 <= u < width and known[y, x] and known[v, u]:
                    step = _slope(order, known, jump, y, x, v, u)
                code |= step << 2 * k
            slopes[y, x] = code


@compiled()
def _slope(order: Array, known: Array, jump: float, y: int, x: int, v: int, u: int) -> int:
    """What lies between (y, x) and its neighbour (v, u).

    Diagonal neighbours of a steep surface may differ by more than a jump. They form a jump only if
    both ways around the corner have one.
    """
    difference = np.float64(order[v, u]) - order[y, x]
    if abs(difference) <= jump:
        return _NONE
    if y != v and x != u:
        ways = 0
        for k in range(2):
            cy, cx = (y, u) if k == 0 else (v, x)
            if known[cy, cx]:
                ways += 1
                first = abs(np.float64(order[cy, cx]) - order[y, x])
                if first <= jump and abs(np.float64(order[v, u]) - order[cy, cx]) <= jump:
                    return _NONE
        if ways == 0:
            return _NONE
    return _RISE if difference > 0 else _FALL


@banded("thin")
def find_thin(
    begin: int,
    end: int,
    order: Array,
    slopes: Array,
    near: Array,
    jump: float,
    width: float,
    thin: Array,
) -> None:
    """True where a run through the pixel, in one of four directions, is closed and short enough."""
    columns = order.shape[1]
    for y in range(begin, end):
        for x in range(columns):
            if not near[y, x]:
                continue
            for k in range(4):
                most = int(width if k < 2 else width / np.sqrt(2.0))
                there = _walk(order, slopes, jump, y, x, k, 1, most)
                if there > 0 and _walk(order, slopes, jump, y, x, k, -1, most + 1 - there) > 0:
                    thin[y, x] = True
                    break


@compiled()
def _walk(
    order: Array, slopes: Array, jump: float, y: int, x: int, k: int, sign: int, most: int
) -> int:
    """Steps from a pixel to beyond the fall that ends its surface, 0 if there is none within
    `most`.

    A rise on the way is something in front; after the fall that leads back, the walk continues.
    """
    height, width = order.shape
    above, base = False, 0.0
    for n in range(1, most + 1):
        v, u = y + sign * _DOWN[k], x + sign * _RIGHT[k]
        if not (0 <= v < height and 0 <= u < width):
            return 0
        # The plane stores a step at the pixel that comes first, as seen from there.
        step = ((slopes[y, x] if sign > 0 else slopes[v, u]) >> 2 * k) & 3
        if step == _END:
            return 0
        if (step == _FALL and sign > 0) or (step == _RISE and sign < 0):
            if not above or order[v, u] < base - jump:
                return n
            above = order[v, u] > base + jump
        elif step != _NONE and not above:
            above, base = True, np.float64(order[y, x])
        y, x = v, u
    return 0


@compiled()
def flood(
    order: Array, within: Array, jump: float, limit: float, queue: Array, distance: Array
) -> None:
    """Lengths of the shortest paths from where they are 0, up to a limit; infinite beyond.

    Paths go from pixel to 8-neighbour `within`, by 1 or by the root of 2, and not across a jump.
    The queue is a ring with room for all of those pixels; a pixel is queued again if a shorter path
    to it is found later.
    """
    height, width = order.shape
    queued = np.zeros((height, width), np.bool_)
    n, head = 0, 0
    for y in range(height):
        for x in range(width):
            if distance[y, x] == 0.0:
                queue[n] = y * width + x
                queued[y, x] = True
                n += 1
    while n > 0:
        y, x = queue[head] // width, queue[head] % width
        queued[y, x] = False
        head, n = (head + 1) % queue.size, n - 1
        for k in range(9):
            dy, dx = k // 3 - 1, k % 3 - 1
            v, u = y + dy, x + dx
            if not (0 <= v < height and 0 <= u < width) or not within[v, u]:
                continue
            length = distance[y, x] + np.float32(np.sqrt(np.float64(dy * dy + dx * dx)))
            if length > limit or length >= distance[v, u]:
                continue
            if abs(np.float64(order[v, u]) - order[y, x]) <= jump:
                distance[v, u] = length
                if not queued[v, u]:
                    queued[v, u] = True
                    queue[(head + n) % queue.size] = v * width + u
                    n += 1
