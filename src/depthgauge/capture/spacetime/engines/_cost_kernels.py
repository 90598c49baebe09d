"""The best few disparities of every pixel of both views, under all patterns at once; compiled.

Colours are (row, column, K): channel 0 under all patterns, then channel 1 ..., each filled up with
zeros to a multiple of 8 patterns. A pixel's colours are adjacent, and the sum over them is one loop
without branches. The costs of one row exist at a time, of all columns and disparities; both views
choose their candidates from them: the cost of a pair of pixels is the same from either side.
Strips of rows write to separate places, so the number of threads never changes a bit.
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
NOWHERE = -20000
"""The place of a candidate that does not exist."""
CENSUS_BITS = 24
LANES = 8
"""The colours of a channel are filled up to a multiple of this."""
_ONE, _ZERO = np.float32(1), np.float32(0)


@compiled()
def _colours_row(stack: Array, own_mean: bool, colours: Array, means: Array) -> None:
    patterns, width, channels = stack.shape
    padded = colours.shape[1] // channels
    for x in range(width):
        for c in range(channels):
            there = colours[x, c * padded : (c + 1) * padded]
            mean = _ZERO
            for t in range(patterns):
                there[t] = np.float32(stack[t, x, c])
                mean += there[t]
            mean /= np.float32(patterns)
            means[x, c] = mean
            if own_mean:
                for t in range(patterns):
                    there[t] -= mean


@banded("colours")
def colours_of(
    begin: int, end: int, stack: Array, own_mean: bool, colours: Array, means: Array
) -> None:
    """Converts pictures (T, H, W, C) to colours (H, W, K).

    Args:
        begin: First index of the band.
        end: The index after its last one.
        stack: uint8 or float32, in grey levels.
        own_mean: Whether to subtract each pixel's mean over the patterns.
        colours: float32, zeros.
        means: (H, W, C) float32: each pixel's means over the patterns.
    """
    for y in range(begin, end):
        _colours_row(stack[:, y], own_mean, colours[y], means[y])


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
def _energy_row(colours: Array, known: Array, energy: Array) -> None:
    for x in range(colours.shape[0]):
        there, total = colours[x], _ZERO
        for k in range(there.size):
            total += there[k] * there[k]
        energy[x] = total if known[x] else _ZERO


@banded("energy", cost=10)
def energies(begin: int, end: int, colours: Array, known: Array, energy: Array) -> None:
    """The sum of squares of each pixel's colours; 0 where the camera saw nothing.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        colours: (H, W, K).
        known: (H, W).
        energy: (H, W).
    """
    for y in range(begin, end):
        _energy_row(colours[y], known[y], energy[y])


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
def _scale(factor: Any, there: Array, out: Array) -> None:
    for d in range(out.size):
        out[d] = factor * there[d]


@compiled(fastmath=FAST)
def _add_scaled(factor: Any, there: Array, out: Array) -> None:
    for d in range(out.size):
        out[d] += factor * there[d]


@compiled()
def _blur_columns(products: Array, weights: Array, out: Array) -> None:
    width = products.shape[0]
    radius = weights.size // 2
    for x in range(width):
        _scale(weights[radius], products[x], out[x])
        for i in range(-radius, radius + 1):
            if i != 0:
                _add_scaled(weights[i + radius], products[min(max(x + i, 0), width - 1)], out[x])


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
def _likeness(shared: Array, spread: Any, others: Array, floor: Any, unlike: Array) -> None:
    for d in range(unlike.size):
        likeness = shared[d] / (spread * others[d] + floor)
        unlike[d] = _ONE - min(max(likeness, _ZERO), _ONE)


@compiled(fastmath=FAST)
def _rounded(unlike: Array, costs: Array) -> None:
    for d in range(costs.size):
        costs[d] = np.uint16(np.float32(WORST) * unlike[d] + np.float32(0.5))


@compiled()
def _cost_row(
    y: int,
    rows: Array,
    ring: Array,
    weights: Array,
    spreads: Array,
    words: Array,
    how: Array,
    low: int,
    line: Array,
    costs: Array,
) -> None:
    """Costs (W, D) of one row; spreads are (2, H, W), the right view's from right to left."""
    width, count = costs.shape
    patterns = words.shape[3]
    floor, census_part = how[0], how[1]
    # A random pair of words differs in half of its bits: that is the worst.
    per_bit = np.float32(2.0 / (CENSUS_BITS * max(patterns, 1)))
    for x in range(width):
        costs[x, :] = WORST
        if not np.isfinite(spreads[0, y, x]):
            continue
        first, last = max(0, x - low - width + 1), min(count - 1, x - low)
        if first > last:
            continue
        shared, unlike = line[0, : last + 1 - first], line[1, : last + 1 - first]
        _scale(weights[0], ring[rows[0], x, first : last + 1], shared)
        for j in range(1, weights.size):
            _add_scaled(weights[j], ring[rows[j], x, first : last + 1], shared)
        from_end = width - 1 - x + low
        others = spreads[1, y, from_end + first : from_end + last + 1]
        _likeness(shared, spreads[0, y, x], others, floor, unlike)
        if patterns > 0:
            for d in range(unlike.size):
                u = x - low - first - d
                differing = np.float32(_bits(words[0, y, x], words[1, y, u])) * per_bit
                worse = (_ONE - census_part) * unlike[d] + census_part * min(differing, _ONE)
                unlike[d] = worse if np.isfinite(others[d]) else _ONE
        _rounded(unlike, costs[x, first : last + 1])


@compiled()
def _shear(costs: Array, low: int, sheared: Array) -> None:
    """The same costs by right column and disparity."""
    width, count = costs.shape
    for u in range(width):
        sheared[u, :] = WORST
        first, last = max(0, -u - low), min(count - 1, width - 1 - u - low)
        for d in range(first, last + 1):
            sheared[u, d] = costs[u + low + d, d]


@compiled()
def _pick_row(costs: Array, places: Array, best: Array) -> None:
    """The lowest local minima of each pixel's costs, in rising order."""
    width, count = costs.shape
    most = places.shape[1]
    for x in range(width):
        here, found, values = costs[x], places[x], best[x]
        for j in range(most):
            found[j], values[j] = NOWHERE, WORST
        worst = WORST
        for d in range(count):
            value = here[d]
            if value >= worst:
                continue
            if (d > 0 and here[d - 1] < value) or (d < count - 1 and here[d + 1] <= value):
                continue
            j = most - 1
            while j > 0 and values[j - 1] > value:
                values[j], found[j] = values[j - 1], found[j - 1]
                j -= 1
            values[j], found[j] = value, d
            worst = values[most - 1]


def _room(
    left: Array,
    right: Array,
    weights: Array,
    spreads: Array,
    words: Array,
    how: Array,
    low: int,
    count: int,
    places: Array,
    best: Array,
) -> tuple[Any, ...]:
    width = left.shape[1]
    return (
        np.zeros((weights.size + 1, width, count), np.float32),
        np.zeros((2, width, count), np.uint16),
        np.zeros((2, count), np.float32),
        np.zeros(weights.size, np.int64),
    )


@banded("left", step=STRIP, cost=100, room=_room)
def candidates(
    begin: int,
    end: int,
    ring: Array,
    costs: Array,
    line: Array,
    rows: Array,
    left: Array,
    right: Array,
    weights: Array,
    spreads: Array,
    words: Array,
    how: Array,
    low: int,
    count: int,
    places: Array,
    best: Array,
) -> None:
    """The disparities of the lowest costs of each pixel of both views.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        ring: Scratch space: products of some rows.
        costs: Scratch space: costs of a row, by left and by right column.
        line: Scratch space.
        rows: Scratch space.
        left: (H, W, K) colours.
        right: (H, W, K).
        weights: (2r + 1,) of the window's rows and columns; they sum to 1.
        spreads: (2, H, W): roots of the sums of squares of windows of both views, the right one's
            columns in reversed order; infinite where a camera saw nothing.
        words: (2, H, W, T) from `census`, or none of them, (2, H, W, 0).
        how: Sum of squares of noise, and the share of the census in the cost.
        low: The first disparity, in px.
        count: The number of disparities.
        places: (2, H, W, M) int16: numbers of disparities, the best first; `NOWHERE` for none.
        best: (2, H, W, M) uint16: their costs, 0 to `WORST`.
    """
    height, size = left.shape[0], weights.size
    radius = size // 2
    products = ring[size]
    for top in range(begin, end, STRIP):
        done = max(top - radius, 0) - 1
        for y in range(top, min(top + STRIP, end)):
            while done < min(y + radius, height - 1):
                done += 1
                _products_row(left[done], right[done], low, products)
                _blur_columns(products, weights, ring[done % size])
            for j in range(size):
                rows[j] = min(max(y + j - radius, 0), height - 1) % size
            _cost_row(y, rows, ring, weights, spreads, words, how, low, line, costs[0])
            _pick_row(costs[0], places[0, y], best[0, y])
            _shear(costs[0], low, costs[1])
            _pick_row(costs[1], places[1, y], best[1, y])
