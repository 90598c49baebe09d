"""The loops over the pixels of an image, in bands of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

_BAND = 64  # rows; a band's sums start again, which costs little and is exact for whole numbers


@banded("out", cost=10)
def box_mean(begin: int, end: int, values: Array, radius: int, out: Array) -> None:
    """The mean over the square of that radius, cut at the border."""
    height, width = values.shape
    for y in range(begin, end):
        top, bottom = max(0, y - radius), min(height, y + radius + 1)
        column = np.zeros(width, np.float64)
        for v in range(top, bottom):
            for x in range(width):
                column[x] += values[v, x]
        for x in range(width):
            left, right = max(0, x - radius), min(width, x + radius + 1)
            total = 0.0
            for u in range(left, right):
                total += column[u]
            out[y, x] = total / ((bottom - top) * (right - left))


@banded("contrast")
def side_means(
    begin: int,
    end: int,
    image: Array,
    at: Array,
    foreground: Array,
    background: Array,
    radius: int,
    contrast: Array,
) -> None:
    """The largest difference of a channel between the means of both sides around some pixels.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        image: (H, W, C).
        at: (n,) flat indices.
        foreground: (H, W).
        background: (H, W).
        radius: Radius of the square around a pixel.
        contrast: (n,); NaN if one of the sides is missing.
    """
    height, width, channels = image.shape
    for i in range(begin, end):
        y, x = at[i] // width, at[i] % width
        sums = np.zeros((2, channels), np.float64)
        front, back = 0, 0
        for v in range(max(0, y - radius), min(height, y + radius + 1)):
            for u in range(max(0, x - radius), min(width, x + radius + 1)):
                if foreground[v, u]:
                    front += 1
                    for c in range(channels):
                        sums[0, c] += image[v, u, c]
                elif background[v, u]:
                    back += 1
                    for c in range(channels):
                        sums[1, c] += image[v, u, c]
        most = np.nan
        if front > 0 and back > 0:
            most = 0.0
            for c in range(channels):
                most = max(most, abs(sums[0, c] / front - sums[1, c] / back))
        contrast[i] = most


@banded("out", step=_BAND, cost=400)
def self_similarity(
    begin: int,
    end: int,
    grey: Array,
    radius: int,
    farthest: int,
    valley: float,
    least: float,
    out: Array,
) -> None:
    """How well the window around a pixel fits another one in its row, beyond the next valley.

    Two windows a and b fit by 1 - sum (a - b)^2 / (sum (a - mean a)^2 + sum (b - mean b)^2). From a
    pixel the loop goes left and right; it counts the best fit after the first one below `valley`,
    up to `farthest` px away, for windows whose values spread by `least` (a variance). Sums are of
    whole numbers and so exact. Windows that leave the image are skipped.
    """
    height, width = grey.shape
    size = 2 * radius + 1
    area = size * size
    n = width - size + 1  # windows in a row
    products = np.zeros((farthest + 1, width), np.int32)  # sums over a window's rows
    plain = np.zeros(width, np.int32)
    squares, spread = np.zeros(n, np.int32), np.zeros(n, np.float32)
    fits = np.zeros(n, np.float32)
    fallen, best = np.zeros((2, n), np.bool_), np.zeros((2, n), np.float32)
    for top in range(begin, min(end, height - size + 1)):
        _slide_down(grey, top, size, top == begin, products, plain)
        _spreads(products[0], plain, size, n, squares, spread)
        fallen[:] = False
        best[:] = 0.0
        for shift in range(1, min(farthest, n - 1) + 1):
            _fits(products[shift], squares, spread, size, n - shift, shift, fits)
            for x in range(n - shift):
                fit = fits[x]
                if fallen[0, x]:
                    best[0, x] = max(best[0, x], fit)
                else:
                    fallen[0, x] = fit < valley
                if fallen[1, x + shift]:
                    best[1, x + shift] = max(best[1, x + shift], fit)
                else:
                    fallen[1, x + shift] = fit < valley
        for x in range(n):
            if spread[x] >= least * area:
                out[top + radius, x + radius] = max(best[0, x], best[1, x])


@compiled()
def _slide_down(
    grey: Array, top: int, size: int, fresh: bool, products: Array, plain: Array
) -> None:
    """Moves the sums over a window's rows down by one row, or computes them."""
    if fresh:
        products[:] = 0
        plain[:] = 0
        for v in range(top, top + size):
            _add_row(grey[v], np.int32(1), products, plain)
        return
    _add_row(grey[top - 1], np.int32(-1), products, plain)
    _add_row(grey[top + size - 1], np.int32(1), products, plain)


@compiled()
def _add_row(row: Array, sign: int, products: Array, plain: Array) -> None:
    width = row.size
    for x in range(width):
        plain[x] += sign * np.int32(row[x])
    for shift in range(products.shape[0]):
        sums = products[shift]
        for x in range(width - shift):
            sums[x] += sign * (np.int32(row[x]) * np.int32(row[x + shift]))


@compiled()
def _spreads(
    columns: Array, plain: Array, size: int, n: int, squares: Array, spread: Array
) -> None:
    """Sums of squares of each window in a row, and of squared differences from its mean."""
    square, total = 0, 0
    for x in range(size - 1):
        square += columns[x]
        total += plain[x]
    for x in range(n):
        square += columns[x + size - 1]
        total += plain[x + size - 1]
        squares[x] = square
        spread[x] = square - np.float64(total) * total / (size * size)
        square -= columns[x]
        total -= plain[x]


@compiled()
def _fits(
    columns: Array, squares: Array, spread: Array, size: int, n: int, shift: int, fits: Array
) -> None:
    """How well each window fits the one `shift` px to its right."""
    product = np.int32(0)
    for x in range(size - 1):
        product += columns[x]
    for x in range(n):
        product += columns[x + size - 1]
        both = spread[x] + spread[x + shift]
        apart = np.float32(squares[x] + squares[x + shift] - 2 * product)
        fits[x] = 1.0 - apart / both if both > 0 else 1.0
        product -= columns[x]
