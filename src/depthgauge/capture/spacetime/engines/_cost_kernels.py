"""The cost of matching a pixel at a disparity, under all patterns at once; compiled.

Colours are (row, column, K): the channels of pattern 0, then those of pattern 1 ..., filled up with
zeros so that K is a multiple of 16; a pixel's colours are adjacent, and the sum over them is one
loop without branches. Strips of rows write to separate places, so the number of threads never
changes a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

FAST = {"contract", "reassoc", "nsz"}  # sums may be reordered; NaN and infinity keep their meaning
STRIP = 16
"""Rows that one thread processes at a time; the window's margins are computed twice."""
WORST = 1023
"""The highest cost: patterns that do not agree, or nothing to compare with."""
CENSUS_BITS = 24
_ONE, _ZERO = np.float32(1), np.float32(0)


@compiled()
def _colours_row(stack: Array, own_mean: bool, offset: Any, colours: Array) -> None:
    patterns, width, channels = stack.shape
    for t in range(patterns):
        for x in range(width):
            for c in range(channels):
                colours[x, t * channels + c] = np.float32(stack[t, x, c])
    for x in range(width):
        for c in range(channels):
            mean = offset
            if own_mean:
                mean = _ZERO
                for t in range(patterns):
                    mean += colours[x, t * channels + c]
                mean /= np.float32(patterns)
            for t in range(patterns):
                colours[x, t * channels + c] -= mean


@banded("colours")
def colours_of(
    begin: int, end: int, stack: Array, own_mean: bool, offset: float, colours: Array
) -> None:
    """Converts pictures (T, H, W, C) to colours (H, W, K).

    Args:
        begin: First index of the band.
        end: The index after its last one.
        stack: uint8 or float32, in grey levels.
        own_mean: Whether to subtract each pixel's mean over the patterns, instead of the offset.
        offset: In grey levels.
        colours: float32, zeros.
    """
    for y in range(begin, end):
        _colours_row(stack[:, y], own_mean, np.float32(offset), colours[y])


@compiled()
def _census_row(picture: Array, y: int, least: int, t: int, words: Array) -> None:
    height, width, channels = picture.shape
    for x in range(width):
        word, here = np.uint32(0), _ZERO
        for c in range(channels):
            here += np.float32(picture[y, x, c])
        for j in range(-2, 3):
            v = min(max(y + j, 0), height - 1)
            for i in range(-2, 3):
                if i == 0 and j == 0:
                    continue
                u, there = min(max(x + i, 0), width - 1), _ZERO
                for c in range(channels):
                    there += np.float32(picture[v, u, c])
                bit = np.uint32(1) if there > here + least else np.uint32(0)
                word = np.uint32(np.uint32(word << np.uint32(1)) | bit)
        words[y, x, t] = word


@banded("words", cost=50)
def census(begin: int, end: int, stack: Array, least: int, words: Array) -> None:
    """One bit for each of 24 neighbours that is brighter than the pixel.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        stack: (T, H, W, C) uint8 or float32, in grey levels.
        least: The smallest difference, in levels of the sum over channels: noise sets no bits in
            the dark.
        words: (H, W, T) uint32.
    """
    patterns = stack.shape[0]
    for y in range(begin, end):
        for t in range(patterns):
            _census_row(stack[t], y, least, t, words)


@compiled(fastmath=FAST)
def _moments_row(
    y: int, colours: Array, patterns: int, weights: Array, means: Array, spread: Array
) -> None:
    height, width = colours.shape[:2]
    channels = means.shape[2]
    radius = weights.size // 2
    for x in range(width):
        sums = means[y, x]
        squares = _ZERO
        for j in range(-radius, radius + 1):
            v = min(max(y + j, 0), height - 1)
            for i in range(-radius, radius + 1):
                u = min(max(x + i, 0), width - 1)
                weight = weights[j + radius] * weights[i + radius]
                there = colours[v, u]
                part = _ZERO
                for k in range(there.size):
                    part += there[k] * there[k]
                squares += weight * part
                for c in range(channels):
                    total = _ZERO
                    for t in range(patterns):
                        total += there[t * channels + c]
                    sums[c] += weight * total
        for c in range(channels):
            sums[c] /= np.float32(patterns)
            squares -= np.float32(patterns) * sums[c] * sums[c]
        spread[y, x] = np.sqrt(max(squares, _ZERO))


@banded("spread", cost=10)
def moments(
    begin: int, end: int, colours: Array, patterns: int, weights: Array, means: Array, spread: Array
) -> None:
    """Mean colours of the space-time windows, and how far their colours spread around them.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        colours: (H, W, K).
        patterns: T.
        weights: (2r + 1,) of the window's rows and columns; they sum to 1.
        means: (H, W, C), zeros.
        spread: (H, W), root of the sum of squares over patterns and channels.
    """
    for y in range(begin, end):
        _moments_row(y, colours, patterns, weights, means, spread)


@compiled(fastmath=FAST)
def _products_row(left: Array, right: Array, low: int, products: Array) -> None:
    """Sums of left times right colours; 0 where the disparity leaves the picture."""
    width, count = left.shape[0], products.shape[1]
    size = left.shape[1]
    for x in range(width):
        here, sums = left[x], products[x]
        # Right columns x - low - d are inside the picture for d from first to last.
        first, last = max(0, x - low - width + 1), min(count - 1, x - low)
        for d in range(count):
            sums[d] = _ZERO
        d = first
        while d + 3 <= last:  # four at a time, so that the left colours are loaded once
            u = x - low - d
            r0, r1, r2, r3 = right[u], right[u - 1], right[u - 2], right[u - 3]
            s0, s1, s2, s3 = _ZERO, _ZERO, _ZERO, _ZERO
            for k in range(size):
                s0 += here[k] * r0[k]
                s1 += here[k] * r1[k]
                s2 += here[k] * r2[k]
                s3 += here[k] * r3[k]
            sums[d], sums[d + 1], sums[d + 2], sums[d + 3] = s0, s1, s2, s3
            d += 4
        while d <= last:
            there, total = right[x - low - d], _ZERO
            for k in range(size):
                total += here[k] * there[k]
            sums[d] = total
            d += 1


@compiled(fastmath=FAST)
def _blur_columns(products: Array, weights: Array, out: Array) -> None:
    width, count = products.shape
    radius = weights.size // 2
    for x in range(width):
        sums = out[x]
        for d in range(count):
            sums[d] = _ZERO
        for i in range(-radius, radius + 1):
            there = products[min(max(x + i, 0), width - 1)]
            weight = weights[i + radius]
            for d in range(count):
                sums[d] += weight * there[d]


@compiled()
def _bits(a: Array, b: Array) -> Any:
    """The number of bits that differ; LLVM recognises this pattern as a population count."""
    total = np.uint32(0)
    for t in range(a.size):
        v = np.uint32(a[t] ^ b[t])
        v = np.uint32(v - ((v >> np.uint32(1)) & np.uint32(0x55555555)))
        v = np.uint32((v & np.uint32(0x33333333)) + ((v >> np.uint32(2)) & np.uint32(0x33333333)))
        v = np.uint32((v + (v >> np.uint32(4))) & np.uint32(0x0F0F0F0F))
        total = np.uint32(total + (np.uint32(v * np.uint32(0x01010101)) >> np.uint32(24)))
    return total


@compiled(fastmath=FAST)
def _cost_row(
    y: int,
    rows: Array,
    ring: Array,
    weights: Array,
    means: Array,
    spreads: Array,
    known: Array,
    words: Array,
    how: Array,
    low: int,
    costs: Array,
) -> None:
    width, count = costs.shape
    channels, patterns = means.shape[3], words.shape[3]
    floor, census_part = how[0], how[1]
    # A random pair of words differs in half of its bits: that is the worst.
    per_bit = np.float32(2.0 / (CENSUS_BITS * patterns))
    line = np.zeros(count, np.float32)
    for x in range(width):
        out = costs[x]
        for d in range(count):
            out[d] = WORST
            line[d] = _ZERO
        if not known[0, y, x]:
            continue
        for j in range(weights.size):
            there, weight = ring[rows[j], x], weights[j]
            for d in range(count):
                line[d] += weight * there[d]
        first, last = max(0, x - low - width + 1), min(count - 1, x - low)
        for d in range(first, last + 1):
            u = x - low - d
            if not known[1, y, u]:
                continue
            shared = line[d]
            for c in range(channels):
                shared -= np.float32(patterns) * means[0, y, x, c] * means[1, y, u, c]
            likeness = shared / (spreads[0, y, x] * spreads[1, y, u] + floor)
            unlike = _ONE - min(max(likeness, _ZERO), _ONE)
            differing = min(np.float32(_bits(words[0, y, x], words[1, y, u])) * per_bit, _ONE)
            cost = (_ONE - census_part) * unlike + census_part * differing
            out[d] = np.uint16(np.float32(WORST) * cost + np.float32(0.5))


@compiled()
def _cost_strip(
    top: int,
    left: Array,
    right: Array,
    weights: Array,
    means: Array,
    spreads: Array,
    known: Array,
    words: Array,
    how: Array,
    low: int,
    costs: Array,
) -> None:
    height, width, count = costs.shape
    radius = weights.size // 2
    products = np.zeros((width, count), np.float32)
    ring = np.zeros((weights.size, width, count), np.float32)
    rows = np.zeros(weights.size, np.int64)
    done = max(top - radius, 0) - 1
    for y in range(top, min(top + STRIP, height)):
        while done < min(y + radius, height - 1):
            done += 1
            _products_row(left[done], right[done], low, products)
            _blur_columns(products, weights, ring[done % weights.size])
        for j in range(weights.size):
            rows[j] = min(max(y + j - radius, 0), height - 1) % weights.size
        _cost_row(y, rows, ring, weights, means, spreads, known, words, how, low, costs[y])


@banded("costs", step=STRIP, cost=10)
def cost_volume(
    begin: int,
    end: int,
    left: Array,
    right: Array,
    weights: Array,
    means: Array,
    spreads: Array,
    known: Array,
    words: Array,
    how: Array,
    low: int,
    costs: Array,
) -> None:
    """Costs of all disparities, 0 to `WORST`.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        left: (H, W, K) colours.
        right: (H, W, K).
        weights: (2r + 1,) of the window's rows and columns; they sum to 1.
        means: (2, H, W, C) of both views, from `moments`.
        spreads: (2, H, W).
        known: (2, H, W) where the cameras saw anything.
        words: (2, H, W, T) from `census`.
        how: Sum of squares of noise, and the share of the census in the cost.
        low: The first disparity, in px.
        costs: (H, W, D) uint16.
    """
    for top in range(begin, end, STRIP):
        _cost_strip(top, left, right, weights, means, spreads, known, words, how, low, costs)
