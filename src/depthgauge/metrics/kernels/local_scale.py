"""Sums over the points of surfaces: numba kernels behind `local_scale.py`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def means(points: Array, target: Array, surface: Array, out: Array) -> None:
    """Number of points, mean z and mean target z of each surface into `out` (surfaces, 3)."""
    for i in range(surface.size):
        row = out[surface[i]]
        row[0] += 1.0
        row[1] += points[i, 2]
        row[2] += target[i, 2]
    for s in range(out.shape[0]):
        if out[s, 0] > 0:
            out[s, 1] /= out[s, 0]
            out[s, 2] /= out[s, 0]


@compiled()
def products(points: Array, target: Array, surface: Array, mean: Array, out: Array) -> None:
    """Squares of the points and products with the target, z without its mean: (surfaces, 2)."""
    for i in range(surface.size):
        s = surface[i]
        z, w = points[i, 2] - mean[s, 1], target[i, 2] - mean[s, 2]
        x, y = points[i, 0], points[i, 1]
        out[s, 0] += x * x + y * y + z * z
        out[s, 1] += x * target[i, 0] + y * target[i, 1] + z * w


@compiled()
def remainders(
    points: Array, target: Array, surface: Array, mean: Array, scale: Array, out: Array
) -> None:
    """Squared distances that remain after scale and shift, (surfaces,)."""
    for i in range(surface.size):
        s = surface[i]
        x = target[i, 0] - scale[s] * points[i, 0]
        y = target[i, 1] - scale[s] * points[i, 1]
        z = (target[i, 2] - mean[s, 2]) - scale[s] * (points[i, 2] - mean[s, 1])
        out[s] += x * x + y * y + z * z
