"""Loops of KITTI's twins: one pass over the pixels of a map, in the arithmetic of the kit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]
UNKNOWN = 2
"""Marks a pixel without truth; 0 is right and 1 is an outlier."""


@compiled()
def is_outlier(error: Any, size: Any, float32_quotient: bool) -> int:
    """1 or 0; an error at a truth of size 0 is infinitely large."""
    if not error > np.float32(3.0):
        return 0
    if float32_quotient:
        if size == 0.0:
            return 1
        return 1 if np.float64(np.float32(error / size)) > 0.05 else 0
    return 1 if 20.0 * np.float64(error) > np.float64(size) else 0


@compiled()
def judge_numbers(truth: Array, filled: Array, float32_quotient: bool, out: Array) -> None:
    """Marks the outliers of a disparity: above 3 px and above 5 % of the truth."""
    height, width = truth.shape
    for y in range(height):
        for x in range(width):
            t = truth[y, x]
            if math.isnan(t):
                out[y, x] = UNKNOWN
                continue
            error = abs(t - filled[y, x])
            out[y, x] = is_outlier(error, abs(t), float32_quotient)


@compiled()
def judge_vectors(truth: Array, filled: Array, float32_quotient: bool, out: Array) -> None:
    """Marks the outliers of a flow."""
    height, width = out.shape
    for y in range(height):
        for x in range(width):
            u, v = truth[y, x, 0], truth[y, x, 1]
            if math.isnan(u) or math.isnan(v):
                out[y, x] = UNKNOWN
                continue
            du, dv = u - filled[y, x, 0], v - filled[y, x, 1]
            error = np.float32(math.sqrt(np.float32(np.float32(du * du) + np.float32(dv * dv))))
            size = np.float32(math.sqrt(np.float32(np.float32(u * u) + np.float32(v * v))))
            out[y, x] = is_outlier(error, size, float32_quotient)


@compiled()
def judge_together(first: Array, second: Array, flow: Array, out: Array) -> None:
    """Scene flow: an outlier in any of three maps, where all of them have a truth."""
    height, width = out.shape
    for y in range(height):
        for x in range(width):
            a, b, c = first[y, x], second[y, x], flow[y, x]
            if a == UNKNOWN or b == UNKNOWN or c == UNKNOWN:
                out[y, x] = UNKNOWN
            else:
                out[y, x] = a | b | c


@compiled()
def count_marks(marks: Array, given: Array, objects: Array, counts: Array) -> None:
    """Pixels by outlier, submitted and foreground: `counts[bad, given, foreground]`."""
    height, width = marks.shape
    for y in range(height):
        for x in range(width):
            mark = marks[y, x]
            if mark != UNKNOWN:
                counts[mark, int(given[y, x]), int(objects[y, x] != 0)] += 1
