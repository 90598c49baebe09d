"""Pictures between their pixels, compiled: cubic splines, and rows read from elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]

FAST = {"contract", "reassoc", "nsz"}  # sums may be reordered; NaN and infinity keep their meaning
_POLE = np.float32(math.sqrt(3.0) - 2.0)
_REACH = 16  # powers of the pole vanish beyond


@compiled()
def _spline_row(row: Array) -> None:
    width = row.size
    power = _POLE
    for x in range(1, min(width, _REACH)):
        row[0] += power * row[x]
        power *= _POLE
    for x in range(1, width):
        row[x] += _POLE * row[x - 1]
    last = _POLE / (_POLE * _POLE - np.float32(1))
    row[width - 1] = last * (row[width - 1] + _POLE * row[width - 2])
    for x in range(width - 2, -1, -1):
        row[x] = _POLE * (row[x + 1] - row[x])


@compiled()
def _spline_columns(plane: Array) -> None:
    height, width = plane.shape
    power = _POLE
    for y in range(1, min(height, _REACH)):
        for x in range(width):
            plane[0, x] += power * plane[y, x]
        power *= _POLE
    for y in range(1, height):
        for x in range(width):
            plane[y, x] += _POLE * plane[y - 1, x]
    last = np.float32(36) * _POLE / (_POLE * _POLE - np.float32(1))
    for x in range(width):
        plane[height - 1, x] = last * (plane[height - 1, x] + _POLE * plane[height - 2, x])
    for y in range(height - 2, -1, -1):
        for x in range(width):
            plane[y, x] = _POLE * (plane[y + 1, x] - np.float32(36) * plane[y, x])


@compiled(parallel=True)
def spline_coefficients(planes: Array) -> None:
    """Turns (N, H, W) pictures into coefficients of the cubic B-splines through their pixels."""
    for p in prange(planes.shape[0]):
        for y in range(planes.shape[1]):
            _spline_row(planes[p, y])
        _spline_columns(planes[p])


@compiled()
def _taps(t: float) -> Any:
    """Weights of four neighbouring coefficients at a fraction t of a pixel."""
    u = 1.0 - t
    first, last = u * u * u / 6.0, t * t * t / 6.0
    second = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
    third = 1.0 - first - second - last
    return np.float32(first), np.float32(second), np.float32(third), np.float32(last)


@compiled(fastmath=FAST)
def shifted(
    coefficients: Array, right: float, down: float, top: int, rows: int, line: Array, out: Array
) -> None:
    """Rows of a picture, each pixel read from elsewhere; beyond the borders the last pixel counts.

    Args:
        coefficients: (H, W) spline.
        right: How many px further right is read.
        down: How many px further down.
        top: First row.
        rows: How many.
        line: Room for a row and, on both sides, what the shift leads out and three more.
        out: (rows, W).
    """
    height, width = coefficients.shape
    pad = (line.size - width) // 2
    whole_x, whole_y = math.floor(right), math.floor(down)
    a0, a1, a2, a3 = _taps(down - whole_y)
    b0, b1, b2, b3 = _taps(right - whole_x)
    for j in range(rows):
        y = top + j + whole_y
        r0 = coefficients[min(max(y - 1, 0), height - 1)]
        r1 = coefficients[min(max(y, 0), height - 1)]
        r2 = coefficients[min(max(y + 1, 0), height - 1)]
        r3 = coefficients[min(max(y + 2, 0), height - 1)]
        for x in range(width):
            line[pad + x] = a0 * r0[x] + a1 * r1[x] + a2 * r2[x] + a3 * r3[x]
        for x in range(pad):
            line[x] = line[pad]
            line[pad + width + x] = line[pad + width - 1]
        source = line[pad + whole_x - 1 : pad + whole_x + width + 2]
        row = out[j]
        for x in range(width):
            row[x] = b0 * source[x] + b1 * source[x + 1] + b2 * source[x + 2] + b3 * source[x + 3]
