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
    begin: int,
    end: int,
    truth: Array,
    order: Array,
    known: Array,
    right: Array,
    jump: float,
    closed: Array,
) -> None:
    """Fills the gaps between two known pixels of a row, in place, and marks them as closed.

    `right` is the disparity of the right view if the truth is that of the left one, or empty.
    """
    width = known.shape[1]
    for y in range(begin, end):
        last = -1
        for x in range(width):
            if known[y, x]:
                if 0 <= last < x - 1:
                    _close(truth, order, known, right, jump, y, last, x)
                    closed[y, last + 1 : x] = True
                last = x


@compiled()
def _close(
    truth: Array,
    order: Array,
    known: Array,
    right: Array,
    jump: float,
    y: int,
    first: int,
    last: int,
) -> None:
    """Fills the gap between two known pixels: with what the right view shows behind both, with the
    surface that both belong to, or else with the value of the one behind.
    """
    if right.size > 0:
        far = _farthest_between(right, y, first - truth[y, first, 0], last - truth[y, last, 0])
        if far < min(truth[y, first, 0], truth[y, last, 0]) - jump:
            truth[y, first + 1 : last, 0] = far
            order[y, first + 1 : last] = far
            return
    n = last - first
    there = _leads_to(order, known, jump, y, first, -1, n, order[y, last])
    if there and _leads_to(order, known, jump, y, last, 1, n, order[y, first]):
        for x in range(first + 1, last):
            share = (x - first) / n
            order[y, x] = order[y, first] + share * (order[y, last] - order[y, first])
            for c in range(truth.shape[2]):
                truth[y, x, c] = truth[y, first, c] + share * (
                    truth[y, last, c] - truth[y, first, c]
                )
        return
    behind = first if order[y, first] <= order[y, last] else last
    for x in range(first + 1, last):
        order[y, x] = order[y, behind]
        for c in range(truth.shape[2]):
            truth[y, x, c] = truth[y, behind, c]


@compiled()
def _farthest_between(right: Array, y: int, begin: float, end: float) -> float:
    """The smallest known disparity strictly between two places of a row; infinite if none is."""
    far = np.inf
    for x in range(max(0, int(np.floor(begin)) + 1), min(right.shape[1], int(np.ceil(end)))):
        if right[y, x] < far:  # NaN is not
            far = right[y, x]
    return far


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
