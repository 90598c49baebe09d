"""Cubic B-splines through pixels, compiled: hardly any bias towards whole pixels, little blur.

Rows, and blocks of columns, write to places of their own, so the number of threads never changes a
bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]

_POLE = np.float32(math.sqrt(3.0) - 2.0)
_REACH = 16  # powers of the pole vanish beyond
_BLOCK = 256


@compiled()
def _filter(lines: Array) -> None:
    """Along the first axis of (N, K)."""
    count, size = lines.shape
    gain = np.float32(6)
    if count < 2:
        return
    power = _POLE
    for x in range(1, min(count, _REACH)):
        for k in range(size):
            lines[0, k] += power * lines[x, k]
        power *= _POLE
    for x in range(1, count):
        for k in range(size):
            lines[x, k] += _POLE * lines[x - 1, k]
    last = gain * _POLE / (_POLE * _POLE - np.float32(1))
    for k in range(size):
        lines[count - 1, k] = last * (lines[count - 1, k] + _POLE * lines[count - 2, k])
    for x in range(count - 2, -1, -1):
        for k in range(size):
            lines[x, k] = _POLE * (lines[x + 1, k] - gain * lines[x, k])


@compiled(parallel=True)
def spline_rows(values: Array) -> None:
    """Turns (H, W, K) values into coefficients of the splines through them, along rows."""
    for y in prange(values.shape[0]):
        _filter(values[y])


@compiled(parallel=True)
def spline_columns(values: Array) -> None:
    """Turns (H, N) values into coefficients of the splines through them, along columns."""
    for b in prange((values.shape[1] + _BLOCK - 1) // _BLOCK):
        start = np.int64(b) * _BLOCK
        _filter(values[:, start : start + _BLOCK])


@compiled()
def _weights(t: float, w: Array) -> None:
    u = 1.0 - t
    w[0], w[3] = u * u * u / 6.0, t * t * t / 6.0
    w[1] = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
    w[2] = 1.0 - w[0] - w[1] - w[3]


@compiled()
def _mirrored(place: int, count: int) -> int:
    inside = abs(place)
    inside = 2 * (count - 1) - inside if inside >= count else inside
    return max(inside, 0)


@compiled()
def _sample_row(coefficients: Array, xs: Array, ys: Array, out: Array) -> None:
    height, width, channels = coefficients.shape
    wx, wy = np.zeros(4), np.zeros(4)
    for i in range(xs.size):
        x, y = np.float64(xs[i]), np.float64(ys[i])
        # Pixels are squares around their centres; written so that a NaN fails.
        if not (-0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5):
            continue
        x0, y0 = int(np.floor(x)), int(np.floor(y))
        _weights(x - x0, wx)
        _weights(y - y0, wy)
        for c in range(channels):
            total = 0.5
            for m in range(4):
                v, line = _mirrored(y0 - 1 + m, height), 0.0
                for n in range(4):
                    line += wx[n] * coefficients[v, _mirrored(x0 - 1 + n, width), c]
                total += wy[m] * line
            out[i, c] = np.uint8(min(max(total, 0.0), 255.0))


@compiled(parallel=True)
def sample(coefficients: Array, xs: Array, ys: Array, out: Array) -> None:
    """Looks a picture up at positions; nothing is written outside of it.

    Args:
        coefficients: (H, W, C) of splines along rows and columns, in grey levels.
        xs: (h, w) columns.
        ys: (h, w) rows.
        out: (h, w, C) uint8.
    """
    for j in prange(xs.shape[0]):
        _sample_row(coefficients, xs[j], ys[j], out[j])
