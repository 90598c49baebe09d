"""Matching costs and checks of `stereo-chain`, compiled; rows are independent of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]
_RADIUS = 2
_BITS = np.float32(24)  # neighbours of a pixel in its 5 x 5 window
_WORST = np.float32(1)
_FAR = np.float32(1e30)


@banded("codes", cost=30)
def census(begin: int, end: int, grey: Array, codes: Array) -> None:
    """One bit for each neighbour in 5 x 5 px: whether it is darker; the border is repeated."""
    height, width = grey.shape
    for y in range(begin, end):
        for x in range(width):
            code = np.uint32(0)
            for j in range(y - _RADIUS, y + _RADIUS + 1):
                row = min(max(j, 0), height - 1)
                for i in range(x - _RADIUS, x + _RADIUS + 1):
                    if j == y and i == x:
                        continue
                    column = min(max(i, 0), width - 1)
                    code = (code << np.uint32(1)) | np.uint32(grey[row, column] < grey[y, x])
            codes[y, x] = code


@compiled()
def _count_bits(code: Any) -> Any:
    code = code - ((code >> np.uint32(1)) & np.uint32(0x55555555))
    code = (code & np.uint32(0x33333333)) + ((code >> np.uint32(2)) & np.uint32(0x33333333))
    code = (code + (code >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    # Products have 64 bits here, so what is beyond 32 is cut off.
    return ((code * np.uint32(0x01010101)) >> np.uint32(24)) & np.uint32(0xFF)


@banded("volume", cost=2)
def census_costs(
    begin: int, end: int, left: Array, right: Array, lowest: int, volume: Array
) -> None:
    """The share of different bits, 0 to 1; 1 where the match is outside of the other picture."""
    width, disparities = volume.shape[1:]
    for y in range(begin, end):
        for x in range(width):
            for d in range(disparities):
                i = x - lowest - d
                if 0 <= i < width:
                    bits = _count_bits(left[y, x] ^ right[y, i])
                    volume[y, x, d] = np.float32(bits) / _BITS
                else:
                    volume[y, x, d] = _WORST


@banded("volume", cost=2)
def absolute_costs(
    begin: int, end: int, left: Array, right: Array, lowest: int, limit: float, volume: Array
) -> None:
    """Mean absolute difference of colours (H, W, C), cut off at a limit and divided by it."""
    width, disparities = volume.shape[1:]
    channels = left.shape[2]
    share = np.float32(1 / (channels * limit))
    for y in range(begin, end):
        for x in range(width):
            for d in range(disparities):
                i = x - lowest - d
                cost = _WORST
                if 0 <= i < width:
                    total = np.float32(0)
                    for c in range(channels):
                        total += abs(left[y, x, c] - right[y, i, c])
                    cost = min(total * share, _WORST)
                volume[y, x, d] = cost


@banded("found", cost=2)
def best_of_right(begin: int, end: int, volume: Array, lowest: int, found: Array) -> None:
    """For each pixel of the right picture, the disparity with the lowest cost; -1 for none."""
    width, disparities = volume.shape[1:]
    for y in range(begin, end):
        for i in range(width):
            least, best = _FAR, -1
            for d in range(disparities):
                x = i + lowest + d
                if 0 <= x < width and volume[y, x, d] < least:
                    least, best = volume[y, x, d], d
            found[y, i] = best


@banded("values", cost=4)
def drop_inconsistent(
    begin: int, end: int, right: Array, lowest: int, tolerance: float, values: Array
) -> None:
    """Makes disparities (from `lowest`, in px) NaN that the other picture's do not confirm."""
    width = values.shape[1]
    for y in range(begin, end):
        for x in range(width):
            disparity = values[y, x]
            if np.isnan(disparity):
                continue
            i = int(np.rint(x - disparity))
            if (
                not 0 <= i < width
                or right[y, i] < 0
                or not abs(disparity - (lowest + right[y, i])) <= tolerance
            ):
                values[y, x] = np.nan


@banded("out", cost=60)
def median(begin: int, end: int, values: Array, out: Array) -> None:
    """The median of the known values in 3 x 3 px; missing pixels stay missing."""
    height, width = values.shape
    known = np.zeros(9, np.float32)
    for y in range(begin, end):
        for x in range(width):
            out[y, x] = np.nan
            if np.isnan(values[y, x]):
                continue
            n = 0
            for j in range(max(y - 1, 0), min(y + 2, height)):
                for i in range(max(x - 1, 0), min(x + 2, width)):
                    value = values[j, i]
                    if not np.isnan(value):
                        k = n  # inserted in order
                        while k > 0 and known[k - 1] > value:
                            known[k] = known[k - 1]
                            k -= 1
                        known[k] = value
                        n += 1
            middle = n // 2
            if n % 2:
                out[y, x] = known[middle]
            else:
                out[y, x] = np.float32(0.5) * (known[middle - 1] + known[middle])
