"""Second derivatives by least squares over windows, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]


@banded("out", cost=20)
def fitted_curvature(begin: int, end: int, values: Array, radius: int, out: Array) -> None:
    """The larger magnitude of the eigenvalues of the Hessian of the best quadratic; all channels'.

    Values are (H, W, C). On a square window the quadratic's terms 1, x, y, xy, x^2 - m and y^2 - m
    (m the mean of x^2) are orthogonal, so each coefficient is a separate sum, down the columns
    and then along the row.
    """
    height, width, channels = values.shape
    size = 2 * radius + 1
    bend = np.zeros(size, np.float64)
    for k in range(size):
        bend[k] = (k - radius) ** 2
    linear = bend.sum()
    bend -= linear / size
    quadratic = (bend**2).sum()
    for y in range(max(begin, radius), min(end, height - radius)):
        sums = np.zeros((3, width), np.float64)
        for c in range(channels):
            sums[:] = 0.0
            for k in range(size):
                row = values[y + k - radius]
                dy, b = np.float64(k - radius), bend[k]
                for x in range(width):
                    value = np.float64(row[x, c])
                    sums[0, x] += value
                    sums[1, x] += dy * value
                    sums[2, x] += b * value
            for x in range(radius, width - radius):
                xx, xy, yy = 0.0, 0.0, 0.0
                for k in range(size):
                    u = x + k - radius
                    xx += bend[k] * sums[0, u]
                    xy += (k - radius) * sums[1, u]
                    yy += sums[2, u]
                xx *= 2.0 / (size * quadratic)
                yy *= 2.0 / (size * quadratic)
                xy *= 1.0 / (linear * linear)
                half = np.sqrt(((xx - yy) / 2.0) ** 2 + xy * xy)
                most = abs(xx + yy) / 2.0 + half
                # NaN stays: the bend of a pixel that lacks a channel is unknown.
                if c == 0 or not most <= out[y, x]:
                    out[y, x] = most if c == 0 or out[y, x] == out[y, x] else np.nan
