"""Second derivatives by least squares over windows, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]


@banded("out", cost=20)
def fitted_curvature(
    begin: int, end: int, values: Array, radius: int, where: Array, out: Array
) -> None:
    """The larger magnitude of the eigenvalues of the Hessian of the best quadratic; all channels'.

    Values are (H, W, C), `where` is (H, W), or empty for all pixels. On a square window the
    quadratic's terms 1, x, y, xy, x^2 - m and y^2 - m (m the mean of x^2) are orthogonal, so each
    coefficient is a separate sum, down the columns and then along the row. Each term is even or
    odd, so two pixels at a time have one weight.
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
        if where.size > 0 and not where[y].any():
            continue
        sums = np.zeros((3, width), np.float64)
        for c in range(channels):
            for x in range(width):
                value = np.float64(values[y, x, c])
                sums[0, x] = value
                sums[1, x] = 0.0
                sums[2, x] = bend[radius] * value
            for k in range(1, radius + 1):
                above, below = values[y - k], values[y + k]
                dy, b = np.float64(k), bend[radius + k]
                for x in range(width):
                    one, two = np.float64(above[x, c]), np.float64(below[x, c])
                    sums[0, x] += one + two
                    sums[1, x] += dy * (two - one)
                    sums[2, x] += b * (one + two)
            for x in range(radius, width - radius):
                if where.size > 0 and not where[y, x]:
                    continue
                xx, xy, yy = bend[radius] * sums[0, x], 0.0, sums[2, x]
                for k in range(1, radius + 1):
                    xx += bend[radius + k] * (sums[0, x - k] + sums[0, x + k])
                    xy += k * (sums[1, x + k] - sums[1, x - k])
                    yy += sums[2, x - k] + sums[2, x + k]
                xx *= 2.0 / (size * quadratic)
                yy *= 2.0 / (size * quadratic)
                xy *= 1.0 / (linear * linear)
                half = np.sqrt(((xx - yy) / 2.0) ** 2 + xy * xy)
                most = abs(xx + yy) / 2.0 + half
                # NaN stays: the bend of a pixel that lacks a channel is unknown.
                if c == 0 or not most <= out[y, x]:
                    out[y, x] = most if c == 0 or out[y, x] == out[y, x] else np.nan
