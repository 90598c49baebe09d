"""Loops over pixels, compiled; each is called by one function of this room.

All of them are sequential: sums are taken in reading order, so the number of threads does not
change a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def undistort(x: Array, y: Array, k: Array, out_x: Array, out_y: Array) -> None:
    """Slopes of rays whose distorted slopes are x, y; nothing is written where there is none."""
    k1, k2, p1, p2, k3 = k[0], k[1], k[2], k[3], k[4]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a, b = x[i, j], y[i, j]
            for _ in range(30):
                r2 = a * a + b * b
                q = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
                d = k1 + r2 * (2.0 * k2 + 3.0 * r2 * k3)
                ex = a * q + 2.0 * p1 * a * b + p2 * (r2 + 2.0 * a * a) - x[i, j]
                ey = b * q + p1 * (r2 + 2.0 * b * b) + 2.0 * p2 * a * b - y[i, j]
                xx = q + 2.0 * a * a * d + 2.0 * p1 * b + 6.0 * p2 * a
                yy = q + 2.0 * b * b * d + 6.0 * p1 * b + 2.0 * p2 * a
                xy = 2.0 * a * b * d + 2.0 * p1 * a + 2.0 * p2 * b
                determinant = xx * yy - xy * xy
                # Beyond the fold of the polynomial the lens model has no ray.
                if not (determinant > 1e-9 and xx > 0.0):
                    break
                if abs(ex) + abs(ey) < 1e-13:
                    out_x[i, j], out_y[i, j] = a, b
                    break
                a -= (yy * ex - xy * ey) / determinant
                b -= (xx * ey - xy * ex) / determinant


@compiled()
def landing_sources(move: Array, nearness: Array, sign: float) -> Array:
    """Index of the source pixel that wins each target pixel, -1 where none lands."""
    height, width, channels = move.shape
    sources = np.full((height, width), -1, np.int64)
    best = np.full((height, width), -np.inf, np.float32)
    for y in range(height):
        for x in range(width):
            near = nearness[y, x]
            # Positions in float64: float32 would round 0.5 px steps of large images.
            tx = np.floor(x + sign * np.float64(move[y, x, 0]) + 0.5)
            ty = np.float64(y)
            if channels == 2:
                ty = np.floor(y + sign * np.float64(move[y, x, 1]) + 0.5)
            # Written so that a NaN fails.
            if not (0 <= tx < width and 0 <= ty < height and np.isfinite(near)):
                continue
            column, row = int(tx), int(ty)
            if sources[row, column] < 0 or near > best[row, column]:
                best[row, column] = near
                sources[row, column] = y * width + x
    return sources


@compiled()
def fetch_bilinear(values: Array, move: Array, sign: float) -> Array:
    """Looks up values (H, W, C) at each pixel's displaced position."""
    height, width, channels = values.shape
    out = np.full(values.shape, np.nan, np.float32)
    for y in range(height):
        for x in range(width):
            sx = x + sign * np.float64(move[y, x, 0])
            sy = np.float64(y)
            if move.shape[2] == 2:
                sy = y + sign * np.float64(move[y, x, 1])
            if not (0 <= sx <= width - 1 and 0 <= sy <= height - 1):
                continue
            x0, y0 = int(sx), int(sy)
            wx, wy = sx - x0, sy - y0
            for c in range(channels):
                out[y, x, c] = _mix(values, y0, x0, wy, wx, c)
    return out


@compiled()
def blend(values: Array, rows: Array, wy: Array, columns: Array, wx: Array) -> Array:
    """Blends values (H, W, C) at the crossings of rows and columns with fractions."""
    channels = values.shape[2]
    out = np.full((rows.size, columns.size, channels), np.nan, np.float32)
    for i in range(rows.size):
        for j in range(columns.size):
            for c in range(channels):
                out[i, j, c] = _mix(
                    values, rows[i], columns[j], np.float64(wy[i]), np.float64(wx[j]), c
                )
    return out


@compiled()
def _mix(values: Array, y: int, x: int, wy: float, wx: float, c: int) -> float:
    """Bilinear value; a neighbour without weight is not read; it may not exist."""
    total = (1.0 - wy) * (1.0 - wx) * np.float64(values[y, x, c])
    if wx != 0.0:
        total += (1.0 - wy) * wx * np.float64(values[y, x + 1, c])
    if wy != 0.0:
        total += wy * (1.0 - wx) * np.float64(values[y + 1, x, c])
        if wx != 0.0:
            total += wy * wx * np.float64(values[y + 1, x + 1, c])
    return total


@compiled()
def left_right_codes(left: Array, right: Array, threshold: float) -> Array:
    """0 not visible, 1 visible, 2 unknown."""
    height, width = left.shape
    codes = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            disparity = np.float64(left[y, x])
            target = np.floor(x - disparity + 0.5)
            if not np.isfinite(disparity):
                codes[y, x] = 2
            elif 0 <= target < width:
                other = np.float64(right[y, int(target)])
                if not np.isfinite(other):
                    codes[y, x] = 2
                elif abs(disparity - other) <= threshold:
                    codes[y, x] = 1
    return codes


@compiled()
def normals(depth: Array, slope_x: Array, slope_y: Array) -> Array:
    """Unit normals by central differences of the back-projected points."""
    height, width = depth.shape
    out = np.full((height, width, 3), np.nan, np.float32)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            left, right = np.float64(depth[y, x - 1]), np.float64(depth[y, x + 1])
            up, down = np.float64(depth[y - 1, x]), np.float64(depth[y + 1, x])
            nearest = min(left, right, up, down, np.float64(depth[y, x]))
            total = left + right + up + down + np.float64(depth[y, x])
            # min() does not propagate NaN, the sum does.
            if not (nearest > 0.0 and total < np.inf):
                continue
            ax = right * slope_x[y, x + 1] - left * slope_x[y, x - 1]
            ay = right * slope_y[y, x + 1] - left * slope_y[y, x - 1]
            az = right - left
            bx = down * slope_x[y + 1, x] - up * slope_x[y - 1, x]
            by = down * slope_y[y + 1, x] - up * slope_y[y - 1, x]
            bz = down - up
            nx, ny, nz = by * az - bz * ay, bz * ax - bx * az, bx * ay - by * ax
            length = np.sqrt(nx * nx + ny * ny + nz * nz)
            if length > 0.0 and np.isfinite(slope_x[y, x]):
                out[y, x, 0], out[y, x, 1], out[y, x, 2] = nx / length, ny / length, nz / length
    return out


@compiled()
def second_derivatives(values: Array) -> Array:
    """d2/dx2, d2/dxdy, d2/dy2 by central differences."""
    height, width = values.shape
    out = np.full((height, width, 3), np.nan, np.float32)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            up_left, up = np.float64(values[y - 1, x - 1]), np.float64(values[y - 1, x])
            up_right, left = np.float64(values[y - 1, x + 1]), np.float64(values[y, x - 1])
            middle, right = np.float64(values[y, x]), np.float64(values[y, x + 1])
            down_left, down = np.float64(values[y + 1, x - 1]), np.float64(values[y + 1, x])
            down_right = np.float64(values[y + 1, x + 1])
            xx = left - 2.0 * middle + right
            yy = up - 2.0 * middle + down
            xy = (up_left - up_right - down_left + down_right) / 4.0
            if np.isfinite(xx + yy + xy):
                out[y, x, 0], out[y, x, 1], out[y, x, 2] = xx, xy, yy
    return out


@compiled()
def _value(number: float, inverse: bool) -> float:
    wide = np.float64(number)
    return 1.0 / wide if inverse else wide


@compiled()
def raw_sums(values: Array, target: Array, used: Array, inverse: bool) -> tuple[float, float]:
    """Sums of e e and e t."""
    squares = products = 0.0
    for y in range(values.shape[0]):
        for x in range(values.shape[1]):
            if used[y, x]:
                e = _value(values[y, x], inverse)
                squares += e * e
                products += e * _value(target[y, x], inverse)
    return squares, products


@compiled()
def centred_sums(
    values: Array, target: Array, used: Array, inverse: bool
) -> tuple[float, float, float, float, bool]:
    """Means of e and t, sums of (e - mean)^2 and (e - mean)(t - mean), and whether e varies."""
    n = 0
    mean = target_mean = 0.0
    low, high = np.inf, -np.inf
    for y in range(values.shape[0]):
        for x in range(values.shape[1]):
            if used[y, x]:
                e = _value(values[y, x], inverse)
                n += 1
                mean += e
                target_mean += _value(target[y, x], inverse)
                low, high = min(low, e), max(high, e)
    mean, target_mean = mean / n, target_mean / n
    squares = products = 0.0
    for y in range(values.shape[0]):
        for x in range(values.shape[1]):
            if used[y, x]:
                e = _value(values[y, x], inverse) - mean
                squares += e * e
                products += e * (_value(target[y, x], inverse) - target_mean)
    # Rounding of the mean leaves a constant estimate with tiny squares; its extremes show it.
    return mean, target_mean, squares, products, low < high


@compiled()
def scale_and_shift(values: Array, scale: float, shift: float, inverse: bool) -> Array:
    """Aligned values, scale e + shift, of inverses if `inverse`; never infinite."""
    out = np.full(values.size, np.nan, np.float32)
    for i in range(values.size):
        e = np.float64(values[i])
        if inverse:
            aligned = scale / e + shift if e > 0.0 else np.nan
            aligned = 1.0 / aligned if aligned > 0.0 else np.nan
        else:
            aligned = scale * e + shift
        narrow = np.float32(aligned)
        if np.isfinite(narrow):
            out[i] = narrow
    return out


@compiled()
def fill_background(values: Array, absent: Array) -> None:
    """KITTI's interpolateBackground, in place; `absent` is overwritten."""
    height, width, channels = values.shape
    for y in range(height):
        first, last = -1, -1
        for x in range(width):
            if absent[y, x]:
                continue
            if first < 0:
                first = x
            for gap in range(last + 1, x):
                if last >= 0:
                    for c in range(channels):
                        values[y, gap, c] = min(values[y, last, c], values[y, x, c])
            last = x
        if first < 0:
            continue
        for x in range(width):
            if x < first:
                values[y, x] = values[y, first]
            elif x > last:
                values[y, x] = values[y, last]
            absent[y, x] = False
    _extend_rows(values, absent)


@compiled()
def _extend_rows(values: Array, absent: Array) -> None:
    """Empty rows above the first and below the last full one become copies of these."""
    height = values.shape[0]
    # After the rows are filled, a row is full or empty: each column's first value is in one row.
    first, last = 0, height - 1
    while absent[first, 0]:
        first += 1
    while absent[last, 0]:
        last -= 1
    for y in range(first):
        values[y] = values[first]
    for y in range(last + 1, height):
        values[y] = values[last]


@compiled()
def fill_scanline(values: Array, absent: Array) -> None:
    """Linear in each row, then empty rows from the nearest full one; `absent` is overwritten."""
    height, width, channels = values.shape
    for y in range(height):
        last = -1
        for x in range(width):
            if absent[y, x]:
                continue
            for gap in range(last + 1, x):
                for c in range(channels):
                    end = np.float64(values[y, x, c])
                    start = np.float64(values[y, last, c]) if last >= 0 else end
                    values[y, gap, c] = start + (end - start) * (gap - last) / (x - last)
            last = x
        if last < 0:
            continue
        for x in range(width):
            if x > last:
                values[y, x] = values[y, last]
            absent[y, x] = False
    _copy_nearest_rows(values, absent[:, 0])


@compiled()
def _copy_nearest_rows(values: Array, empty: Array) -> None:
    height = values.shape[0]
    for y in range(height):
        if not empty[y]:
            continue
        for distance in range(1, height):
            if y >= distance and not empty[y - distance]:
                values[y] = values[y - distance]
                break
            if y + distance < height and not empty[y + distance]:
                values[y] = values[y + distance]
                break
