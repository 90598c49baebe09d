"""The loops over pixels of this room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.types import Map, Mask

PER_PASS = 16
"""The number of masks in one pass of `pack_bits`."""
BANDS = 64
"""Bands of pixels, each with its own table; fixed, so that nothing depends on the threads."""
_BLOCK = 2048  # pixels whose codes and masks stay in the first-level cache
_EXPONENT = np.uint32(0x7F800000)  # all ones: an infinity or NaN


@banded("seen")
def pack_bits(
    begin: int,
    end: int,
    codes: NDArray[Any],
    seen: NDArray[np.uint8],
    masks: tuple[NDArray[np.uint8], ...],
    first: int,
    count: int,
    truth_bits: NDArray[np.uint32],
    channels: int,
) -> None:
    """Ors bit `first + i` into the codes where mask i is set and the truth is finite.

    Eight masks at a time become one byte per pixel, so that the loops over a block run on bytes
    (SIMD at full width) and each mask is read once. `seen[band, code]` is set for each code of a
    band; a table without columns skips this.
    """
    size = codes.size
    step = (size + BANDS - 1) // BANDS
    for band in range(begin, end):
        known = np.zeros(_BLOCK, np.uint8)
        byte = np.zeros(_BLOCK, np.uint8)
        # Bytes without bit i, from an array: numba would widen arithmetic on literals to 64 bits.
        keep = np.zeros(8, np.uint8)
        for i in range(8):
            keep[i] = 255 ^ (1 << i)
        stop = min(size, (band + 1) * step)
        for start in range(band * step, stop, _BLOCK):
            n = min(stop - start, _BLOCK)
            block = codes[start : start + n]
            _finite(known, truth_bits[start * channels : (start + n) * channels], n, channels)
            for group in range(0, count, 8):
                used = min(count - group, 8)
                low = np.uint8((1 << used) - 1)
                for j in range(n):
                    byte[j] = known[j] & low
                for i in range(used):
                    mask = masks[group + i][start : start + n]
                    others = keep[i]
                    for j in range(n):
                        byte[j] &= np.uint8(255) if mask[j] != 0 else others
                shift = first + group
                if shift == 0:
                    for j in range(n):
                        block[j] = byte[j]
                else:
                    for j in range(n):
                        block[j] |= codes.dtype.type(byte[j]) << codes.dtype.type(shift)
            if seen.shape[1] > 0:
                for j in range(n):
                    seen[band, block[j]] = 1


@compiled()
def _finite(known: NDArray[np.uint8], bits: NDArray[np.uint32], n: int, channels: int) -> None:
    """255 where all channels are finite, else 0."""
    if channels == 1:
        for j in range(n):
            known[j] = 255 if (bits[j] & _EXPONENT) != _EXPONENT else 0
        return
    for j in range(n):
        known[j] = 255
        for c in range(channels):
            if (bits[j * channels + c] & _EXPONENT) == _EXPONENT:
                known[j] = 0


@compiled()
def relabel(codes: NDArray[np.uint64], atoms: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The index of each code in the ascending atoms, which include all codes."""
    labels = np.zeros(codes.size, np.uint32)
    last = 0
    for j in range(codes.size):
        # Neighbours mostly belong to one atom.
        if codes[j] != atoms[last]:
            last = np.searchsorted(atoms, codes[j])
        labels[j] = last
    return labels


@compiled()
def jumps(truth: Map, usable: Mask, jump: float) -> Mask:
    """True on both sides of a jump between usable 4-neighbours; truth is (H, W, C)."""
    height, width, channels = truth.shape
    edges = np.zeros((height, width), np.bool_)
    for y in range(height):
        for x in range(width):
            if not usable[y, x]:
                continue
            right, below = 0.0, 0.0
            for c in range(channels):
                here = np.float64(truth[y, x, c])
                if x + 1 < width and usable[y, x + 1]:
                    right += (here - truth[y, x + 1, c]) ** 2
                if y + 1 < height and usable[y + 1, x]:
                    below += (here - truth[y + 1, x, c]) ** 2
            if np.sqrt(right) > jump:
                edges[y, x] = True
                edges[y, x + 1] = True
            if np.sqrt(below) > jump:
                edges[y, x] = True
                edges[y + 1, x] = True
    return edges


@compiled()
def dilate(mask: Mask, radius: int) -> Mask:
    """True where the square of that radius around a pixel contains a True."""
    height, width = mask.shape
    wide = mask.copy()
    for y in range(height):
        for k in range(1, min(radius, width - 1) + 1):
            for x in range(width - k):
                wide[y, x] |= mask[y, x + k]
                wide[y, x + k] |= mask[y, x]
    out = wide.copy()
    for y in range(height):
        for other in range(max(0, y - radius), min(height, y + radius + 1)):
            for x in range(width):
                out[y, x] |= wide[other, x]
    return out


@compiled()
def squared_gradient(image: NDArray[Any], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The larger squared difference of the weighted channels to the left and right neighbour."""
    height, width, channels = image.shape
    out = np.zeros((height, width), np.float32)
    for y in range(height):
        before = np.float32(0.0)
        for x in range(width):
            grey = np.float32(0.0)
            for c in range(channels):
                grey += weights[c] * np.float32(image[y, x, c])
            if x > 0:
                squared = (grey - before) * (grey - before)
                out[y, x] = squared
                out[y, x - 1] = max(out[y, x - 1], squared)
            before = grey
    return out


@compiled()
def window_mean_below(values: NDArray[np.float32], radius: int, threshold: float) -> Mask:
    """True where the mean over the square of that radius, cut at the border, is below."""
    height, width = values.shape
    out = np.zeros((height, width), np.bool_)
    column = np.zeros(width, np.float64)
    for y in range(height):
        top, bottom = max(0, y - radius), min(height, y + radius + 1)
        column[:] = 0.0
        for other in range(top, bottom):
            for x in range(width):
                column[x] += values[other, x]
        for x in range(width):
            left, right = max(0, x - radius), min(width, x + radius + 1)
            total = 0.0
            for k in range(left, right):
                total += column[k]
            out[y, x] = total < threshold * ((bottom - top) * (right - left))
    return out
