"""Gaps of a map, closed row by row; rows do not depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

_LEAST_RUN, _LONGEST_RUN = 3, 8
"""px; how many steps beside a gap show the slope of a surface there."""


@banded("closed")
def close_rows(
    begin: int, end: int, truth: Array, order: Array, known: Array, jump: float, closed: Array
) -> None:
    """Fills the gaps between two known pixels of a row, in place, and marks them as closed."""
    width = known.shape[1]
    for y in range(begin, end):
        last = -1
        for x in range(width):
            if known[y, x]:
                if 0 <= last < x - 1:
                    _close(truth, order, known, jump, y, last, x)
                    closed[y, last + 1 : x] = True
                last = x


@compiled()
def _close(
    truth: Array, order: Array, known: Array, jump: float, y: int, left: int, right: int
) -> None:
    """Fills the gap between two known pixels: with the surface that both belong to, or else with
    the value of the one behind.
    """
    n = right - left
    there = _leads_to(order, known, jump, y, left, -1, n, order[y, right])
    if there and _leads_to(order, known, jump, y, right, 1, n, order[y, left]):
        for x in range(left + 1, right):
            share = (x - left) / n
            order[y, x] = order[y, left] + share * (order[y, right] - order[y, left])
            for c in range(truth.shape[2]):
                first, last = truth[y, left, c], truth[y, right, c]
                truth[y, x, c] = first + share * (last - first)
        return
    behind = left if order[y, left] <= order[y, right] else right
    for x in range(left + 1, right):
        order[y, x] = order[y, behind]
        for c in range(truth.shape[2]):
            truth[y, x, c] = truth[y, behind, c]


@compiled()
def _leads_to(
    order: Array, known: Array, jump: float, y: int, x: int, sign: int, n: int, value: float
) -> bool:
    """Whether the surface at a pixel, continued by n px, is within a jump of a value.

    Its slope is that of the pixels on the other side of the gap's end (`sign`).
    """
    k = 0
    while k < _LONGEST_RUN:
        u = x + sign * (k + 1)
        if not 0 <= u < known.shape[1] or not known[y, u]:
            break
        if not abs(np.float64(order[y, u]) - order[y, u - sign]) <= jump:
            break
        k += 1
    slope = 0.0
    if k >= _LEAST_RUN:
        slope = (np.float64(order[y, x]) - order[y, x + sign * k]) / k
    return bool(abs(order[y, x] + slope * n - value) <= jump)
