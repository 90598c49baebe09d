"""Loops over pixels for the surface metrics; each pixel is written by one thread only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]


@banded("out", cost=20)
def angles_between(begin: int, end: int, first: Array, second: Array, out: Array) -> None:
    """Angle in degrees between two maps of unit vectors; NaN stays where either is NaN."""
    width = out.shape[1]
    for y in range(begin, end):
        for x in range(width):
            ax, ay, az = np.float64(first[y, x, 0]), np.float64(first[y, x, 1]), first[y, x, 2]
            bx, by, bz = np.float64(second[y, x, 0]), np.float64(second[y, x, 1]), second[y, x, 2]
            cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            # Unlike the arc cosine, exact for small angles.
            across = np.sqrt(cx * cx + cy * cy + cz * cz)
            out[y, x] = np.degrees(np.arctan2(across, ax * bx + ay * by + az * bz))


@banded("out", cost=40)
def angles_between_slopes(begin: int, end: int, first: Array, second: Array, out: Array) -> None:
    """Angle in degrees between the surfaces z = first(x, y) and z = second(x, y)."""
    height, width = out.shape
    for y in range(max(begin, 1), min(end, height - 1)):
        for x in range(1, width - 1):
            p = (np.float64(first[y, x + 1]) - first[y, x - 1]) / 2.0
            q = (np.float64(first[y + 1, x]) - first[y - 1, x]) / 2.0
            r = (np.float64(second[y, x + 1]) - second[y, x - 1]) / 2.0
            s = (np.float64(second[y + 1, x]) - second[y - 1, x]) / 2.0
            # A missing pixel has no surface, even where its neighbours have one.
            if not np.isfinite(p + q + r + s + first[y, x] + second[y, x]):
                continue
            across = np.sqrt((p - r) ** 2 + (q - s) ** 2 + (p * s - q * r) ** 2)
            out[y, x] = np.degrees(np.arctan2(across, p * r + q * s + 1.0))


@compiled()
def _second(values: Array, y: int, x: int) -> tuple[float, float, float]:
    """d2/dx2, d2/dxdy, d2/dy2 by central differences, as in `geometry.hessian`."""
    middle = 2.0 * np.float64(values[y, x])
    xx = np.float64(values[y, x - 1]) - middle + values[y, x + 1]
    yy = np.float64(values[y - 1, x]) - middle + values[y + 1, x]
    xy = np.float64(values[y - 1, x - 1]) - values[y - 1, x + 1]
    return xx, (xy - values[y + 1, x - 1] + values[y + 1, x + 1]) / 4.0, yy


@banded("out")
def bending(begin: int, end: int, values: Array, out: Array) -> None:
    """Larger magnitude of the Hessian's two eigenvalues; NaN stays where a neighbour is missing."""
    height, width = values.shape
    for y in range(max(begin, 1), min(end, height - 1)):
        for x in range(1, width - 1):
            xx, xy, yy = _second(values, y, x)
            most = abs(xx + yy) / 2.0 + np.sqrt((xx - yy) * (xx - yy) / 4.0 + xy * xy)
            if np.isfinite(most):
                out[y, x] = most


@banded("out")
def hessian_norm(begin: int, end: int, values: Array, out: Array) -> None:
    """Frobenius norm of the Hessian; NaN stays where a neighbour is missing."""
    height, width = values.shape
    for y in range(max(begin, 1), min(end, height - 1)):
        for x in range(1, width - 1):
            xx, xy, yy = _second(values, y, x)
            norm = np.sqrt(xx * xx + 2.0 * xy * xy + yy * yy)
            if np.isfinite(norm):
                out[y, x] = norm
