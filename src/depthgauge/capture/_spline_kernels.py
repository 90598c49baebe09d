"""Cubic B-splines through pixels, compiled: hardly any bias towards whole pixels, little blur.

Rows, and blocks of columns, write to separate places, so the number of threads never changes a
bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._spline_kernels import GAIN, mirrored, spline_filter, spline_taps

Array = NDArray[Any]

_BLOCK = 256


@banded("values")
def spline_rows(begin: int, end: int, values: Array) -> None:
    """Turns (H, W, K) values into coefficients of the splines through them, along rows."""
    for y in range(begin, end):
        spline_filter(values[y], GAIN)


@banded("values", axis=1, step=_BLOCK)
def spline_columns(begin: int, end: int, values: Array) -> None:
    """Turns (H, N) values into coefficients of the splines through them, along columns."""
    for start in range(begin, end, _BLOCK):
        spline_filter(values[:, start : min(start + _BLOCK, end)], GAIN)


@compiled()
def _sample_row(coefficients: Array, xs: Array, ys: Array, out: Array) -> None:
    height, width, channels = coefficients.shape
    for i in range(xs.size):
        x, y = np.float64(xs[i]), np.float64(ys[i])
        # Pixels are squares around their centres; written so that a NaN fails.
        if not (-0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5):
            continue
        x0, y0 = int(np.floor(x)), int(np.floor(y))
        wx, wy = spline_taps(x - x0), spline_taps(y - y0)
        for c in range(channels):
            total = 0.0
            for m in range(4):
                v, line = mirrored(y0 - 1 + m, height), 0.0
                for n in range(4):
                    line += wx[n] * coefficients[v, mirrored(x0 - 1 + n, width), c]
                total += wy[m] * line
            out[i, c] = total


@banded("out", cost=20)
def sample(begin: int, end: int, coefficients: Array, xs: Array, ys: Array, out: Array) -> None:
    """Samples a picture at positions; nothing is written outside it.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        coefficients: (H, W, C) of splines along rows and columns, in grey levels.
        xs: (h, w) columns.
        ys: (h, w) rows.
        out: (h, w, C) float32; splines overshoot, so values may be a little out of range.
    """
    for j in range(begin, end):
        _sample_row(coefficients, xs[j], ys[j], out[j])
