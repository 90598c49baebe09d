"""Windows and patches of pictures: numba kernels behind `views/`.

Pictures are (H, W * channels). Sums run element by element over neighbouring columns, which the
vector unit does without changing the order of any sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]
_ROWS = 4
"""A shift is given up after so many rows if it is already worse than the best one."""
_TILE = 384
"""Numbers of a row that are smoothed at once, so that all sums stay in the cache."""


def _patch_room(left: Array, right: Array, patch: int, *others: Any) -> tuple[Array, Array]:
    """Squares of one row of a patch, added over its rows, and room to add them up."""
    n = patch * others[3]
    return np.zeros(n, np.float32), np.zeros(n, np.float32)


@compiled()
def _added_up(values: Array, halves: Array) -> Any:
    """The sum of all values: the second half is added to the first until one is left."""
    n = values.size
    half = n // 2
    for k in range(half):
        halves[k] = values[k] + values[n - half + k]
    if n % 2:
        halves[half] = values[half]
    n -= half
    while n > 1:
        half = n // 2
        for k in range(half):
            halves[k] += halves[n - half + k]
        n -= half
    return halves[0]


@banded("best", cost=60, room=_patch_room)
def best_shifts(
    begin: int,
    end: int,
    sums: Array,
    halves: Array,
    left: Array,
    right: Array,
    patch: int,
    stride: int,
    least_px: int,
    most_px: int,
    channels: int,
    best: Array,
) -> None:
    """The smallest mean squared error over shifts of each patch into `best` (rows, columns).

    The shift that was best for the patch before is tried first: it is often close to the best one
    here, so that most others are given up early. The order does not change the result.
    """
    n = patch * channels
    for row in range(begin, end):
        top, likely = row * stride, least_px
        for column in range(best.shape[1]):
            x = column * stride
            most = min(most_px, x)
            least, found = np.float32(np.inf), likely
            count = most - least_px + 1
            for i in range(count):
                d = least_px + (likely - least_px + i) % count
                at, other = x * channels, (x - d) * channels
                for k in range(n):
                    sums[k] = 0.0
                y, total = 0, np.float32(0)
                while y < patch:
                    stop = min(y + _ROWS, patch)
                    while y < stop:
                        a = left[top + y, at : at + n]
                        b = right[top + y, other : other + n]
                        for k in range(n):
                            e = a[k] - b[k]
                            sums[k] += e * e
                        y += 1
                    total = _added_up(sums, halves)
                    if total >= least:
                        break
                if total < least:
                    least, found = total, d
            likely = found
            if least < np.inf:
                best[row, column] = least / (patch * n)


def _window_room(x: Array, y: Array, weights: Array, channels: int, *_: Any) -> tuple[Array, Array]:
    """Four weighted sums down the columns of a tile, and along its rows."""
    return np.zeros((4, _TILE + weights.size * channels)), np.zeros((4, _TILE))


@banded("out", cost=40, room=_window_room)
def similarity(
    begin: int,
    end: int,
    down: Array,
    along: Array,
    x: Array,
    y: Array,
    weights: Array,
    channels: int,
    spread: float,
    c1: float,
    c2: float,
    out: Array,
) -> None:
    """SSIM of each channel of every window within the pictures into `out`.

    `out` is (H - n + 1, (W - n + 1) * channels) for n weights along both axes, an odd number, the
    same from both ends.
    """
    last = weights.size - 1
    for row in range(begin, end):
        for first in range(0, out.shape[1], _TILE):
            m = min(_TILE, out.shape[1] - first)
            wide = m + last * channels
            down[:, :wide] = 0.0
            for i in range(last // 2 + 1):
                # The row in the middle is its own partner, and counts half.
                w = weights[i] if 2 * i < last else 0.5 * weights[i]
                a, b = x[row + i, first : first + wide], y[row + i, first : first + wide]
                c = x[row + last - i, first : first + wide]
                d = y[row + last - i, first : first + wide]
                for k in range(wide):
                    p, q = np.float64(a[k]), np.float64(b[k])
                    r, s = np.float64(c[k]), np.float64(d[k])
                    down[0, k] += w * (p + r)
                    down[1, k] += w * (q + s)
                    down[2, k] += w * (p * p + q * q + (r * r + s * s))
                    down[3, k] += w * (p * q + r * s)
            along[:, :m] = 0.0
            for n in range(4):
                total, column = along[n], down[n]
                for i in range(last // 2 + 1):
                    w = weights[i] if 2 * i < last else 0.5 * weights[i]
                    near, far = i * channels, (last - i) * channels
                    for k in range(m):
                        total[k] += w * (column[k + near] + column[k + far])
            for k in range(m):
                mx, my = along[0, k], along[1, k]
                squares, product = mx * mx + my * my, mx * my
                above = (2 * product + c1) * (2 * spread * (along[3, k] - product) + c2)
                below = (squares + c1) * (spread * (along[2, k] - squares) + c2)
                out[row, first + k] = above / below
