"""From light to images and from fine maps to coarse ones, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]
_ODD_1, _ODD_2, _ODD_3 = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)
_11, _27, _30, _31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@compiled()
def _hash(seed: Any, index: Any) -> Any:
    """64 pseudo-random bits (splitmix64)."""
    z = seed + index * _ODD_1
    z = (z ^ (z >> _30)) * _ODD_2
    z = (z ^ (z >> _27)) * _ODD_3
    return z ^ (z >> _31)


@compiled()
def _normal(seed: Any, index: Any) -> Any:
    """A number of the standard normal distribution."""
    two = index + index
    first = (float(_hash(seed, two) >> _11) + 0.5) / 2.0**53
    second = float(_hash(seed, two + np.uint64(1)) >> _11) / 2.0**53
    return math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)


@banded("out", cost=20)
def expose(
    begin: int, end: int, light: Array, stops: Array, noise: Array, seed: Any, out: Array
) -> None:
    """Light as an image, uint8 (size, size, 3).

    Args:
        begin: First index of the band.
        end: The index after its last one.
        light: Light of each pixel.
        stops: Gain at the left border, and its increase to the right one.
        noise: Standard deviation (size, size), or empty.
        seed: Seed of the noise.
        out: The image.
    """
    size = light.shape[0]
    for i in range(begin, end):
        for j in range(size):
            gain = 2.0 ** (stops[0] + stops[1] * (j + 0.5) / size)
            deviation = noise[i, j] if noise.size > 0 else 0.0
            for channel in range(3):
                # Light is stored with gamma 2.
                value = math.sqrt(min(max(gain * light[i, j, channel], 0.0), 1.0))
                if deviation > 0.0:
                    index = np.uint64((i * size + j) * 3 + channel)
                    value += deviation * _normal(seed, index)
                out[i, j, channel] = int(255.0 * min(max(value, 0.0), 1.0) + 0.5)


@compiled()
def _select(values: Array, k: int) -> Any:
    """The value at index k of the sorted values (Hoare); reorders them."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@banded("low", cost=10)
def upper_median(
    begin: int, end: int, values: Array, scale: int, low: Array, places: Array
) -> None:
    """Element scale^2 // 2 of the sorted values of each tile, and its place in `values`."""
    width = low.shape[1]
    count = scale * scale
    for i in range(begin, end):
        tile = np.zeros(count, values.dtype)
        for j in range(width):
            for k in range(count):
                tile[k] = values[i * scale + k // scale, j * scale + k % scale]
            median = _select(tile, count // 2)
            k = 0
            while values[i * scale + k // scale, j * scale + k % scale] != median:
                k += 1
            low[i, j] = median
            places[i, j] = (i * scale + k // scale) * width * scale + j * scale + k % scale
