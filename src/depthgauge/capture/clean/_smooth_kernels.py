"""Bilateral filters of maps with missing pixels, one offset of the window at a time.

The loops over x are innermost and have no branches, so that they run in SIMD: missing pixels have a
value so far from all others that their weight is 0. Rows do not depend on each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

MISSING = np.float32(1e6)
"""Replaces NaN in the padded map: far beyond all disparities, so that its weight is 0."""
_CHUNK = 256  # columns at a time: their sums stay in the cache
_FAR = np.float32(40.0)  # exp(-40) is nothing in float32
_FLAT = np.float32(0.02)  # px^2: pixels that spread less along some direction show no slope


@compiled()
def _weigh(
    segment: Array, centre: Array, slope: Array, dx: float, factor: float, share: float, part: Array
) -> None:
    """Fills `part` (2, n): the weights of a segment's pixels, and weight times difference.

    exp(-square) is computed by squaring five times; its relative error is below 2e-6 where it
    matters. Slices, and loops over their whole length; otherwise the loop would not become SIMD.
    """
    weights, products = part[0, : segment.size], part[1, : segment.size]
    for i in range(segment.size):
        off = segment[i] - centre[i] - dx * slope[i]
        t = np.float32(1.0 / 32.0) * min(off * off * factor, _FAR)
        e = np.float32(1.0) - t * (
            np.float32(1.0)
            - t * (np.float32(0.5) - t * (np.float32(1.0 / 6.0) - t * np.float32(1.0 / 24.0)))
        )
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        weights[i] = share * e
    for i in range(segment.size):
        products[i] = weights[i] * (segment[i] - centre[i] - dx * slope[i])


@compiled()
def _add(part: Array, factor: float, total: Array) -> None:
    for i in range(total.size):
        total[i] += factor * part[i]


@banded("out", cost=100)
def smooth_plain(
    begin: int, end: int, padded: Array, radius: int, range_factor: float, near: Array, out: Array
) -> None:
    """The bilateral filter: a weighted mean of the window.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        padded: float32, the map with `radius` more pixels each way, MISSING where there is none.
        radius: Radius of the window.
        range_factor: 1 / (2 sigma^2) of the differences.
        near: float32 (2 radius + 1, 2 radius + 1), weights by distance.
        out: Filled where the map has a value.
    """
    width = out.shape[1]
    factor, one = np.float32(range_factor), np.float32(1.0)
    for y in range(begin, end):
        part = np.zeros((2, _CHUNK), np.float32)
        sums = np.zeros((2, _CHUNK), np.float32)
        level = np.zeros(_CHUNK, np.float32)
        for start in range(0, width, _CHUNK):
            n = min(_CHUNK, width - start)
            centre = padded[y + radius, start + radius : start + radius + n]
            sums[:] = np.float32(0.0)
            for j in range(2 * radius + 1):
                for k in range(2 * radius + 1):
                    segment = padded[y + j, start + k : start + k + n]
                    _weigh(segment, centre, level[:n], np.float32(0.0), factor, near[j, k], part)
                    _add(part[0, :n], one, sums[0, :n])
                    _add(part[1, :n], one, sums[1, :n])
            for i in range(n):
                if centre[i] < np.float32(0.5) * MISSING:
                    out[y, start + i] = centre[i] + sums[1, i] / sums[0, i]


@banded("out", axis=1, cost=100)
def smooth_planes(
    begin: int,
    end: int,
    padded: Array,
    tangent: Array,
    radius: int,
    range_factor: float,
    near: Array,
    out: Array,
) -> None:
    """The plane of weighted least squares through the window, at its centre.

    The differences that decide the weights are those from a pixel's tangent plane.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        padded: As for `smooth_plain`.
        tangent: float32 (3, H, W): value, slope along x and along y at each pixel.
        radius: As for `smooth_plain`.
        range_factor: As for `smooth_plain`.
        near: As for `smooth_plain`.
        out: float32 (3, H, W): the same of the fitted planes; filled where the map has a value.
    """
    width = out.shape[2]
    factor, one = np.float32(range_factor), np.float32(1.0)
    for y in range(begin, end):
        part = np.zeros((2, _CHUNK), np.float32)
        sums = np.zeros((9, _CHUNK), np.float32)
        line = np.zeros((5, _CHUNK), np.float32)  # 1, x, xx, d, xd of one row of the window
        base = np.zeros(_CHUNK, np.float32)
        for start in range(0, width, _CHUNK):
            n = min(_CHUNK, width - start)
            slope = tangent[1, y, start : start + n]
            sums[:] = np.float32(0.0)
            for j in range(2 * radius + 1):
                dy = np.float32(j - radius)
                base[:n] = tangent[0, y, start : start + n]
                _add(tangent[2, y, start : start + n], dy, base[:n])
                line[:] = np.float32(0.0)
                for k in range(2 * radius + 1):
                    dx = np.float32(k - radius)
                    segment = padded[y + j, start + k : start + k + n]
                    _weigh(segment, base[:n], slope, dx, factor, near[j, k], part)
                    _add(part[0, :n], one, line[0, :n])
                    _add(part[0, :n], dx, line[1, :n])
                    _add(part[0, :n], dx * dx, line[2, :n])
                    _add(part[1, :n], one, line[3, :n])
                    _add(part[1, :n], dx, line[4, :n])
                _gather(line, dy, sums)
            for i in range(n):
                if padded[y + radius, start + radius + i] < np.float32(0.5) * MISSING:
                    _plane(sums[:, i], tangent[:, y, start + i], out[:, y, start + i])


@compiled()
def _gather(line: Array, dy: float, sums: Array) -> None:
    """Adds the sums of a row at height dy to those of the window: 1 x y xx xy yy d xd yd."""
    _add(line[0], np.float32(1.0), sums[0])
    _add(line[1], np.float32(1.0), sums[1])
    _add(line[0], dy, sums[2])
    _add(line[2], np.float32(1.0), sums[3])
    _add(line[1], dy, sums[4])
    _add(line[0], dy * dy, sums[5])
    _add(line[3], np.float32(1.0), sums[6])
    _add(line[4], np.float32(1.0), sums[7])
    _add(line[3], dy, sums[8])


@compiled()
def _plane(s: Array, base: Array, out: Array) -> None:
    """The fitted plane from the sums; where they show no slope, that of the tangent is kept."""
    n = np.float64(s[0])
    if not n > 0.0:
        out[0], out[1], out[2] = base[0], base[1], base[2]
        return
    mx, my, md = s[1] / n, s[2] / n, s[6] / n
    xx, xy, yy = s[3] / n - mx * mx, s[4] / n - mx * my, s[5] / n - my * my
    xd, yd = s[7] / n - mx * md, s[8] / n - my * md
    gx, gy = 0.0, 0.0
    determinant = xx * yy - xy * xy
    if determinant > _FLAT * (xx + yy) and xx + yy > 0.0:
        gx = (yy * xd - xy * yd) / determinant
        gy = (xx * yd - xy * xd) / determinant
    elif xx + yy > _FLAT:  # a line of pixels: its slope along the wider axis alone
        if xx > yy:
            gx = xd / xx
        else:
            gy = yd / yy
    out[0] = base[0] + md - gx * mx - gy * my
    out[1], out[2] = base[1] + gx, base[2] + gy
