"""Fractions of a pixel, and their variance, from the patterns around a match; compiled.

Each pixel's sums over its channels are computed once, for each pattern, at the pixel's own whole
disparity and a few columns beside it; the windows of its neighbours add them up. Blocks of columns
keep them in the processor's cache. Strips of rows write to separate places, so the number of
threads does not change a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._spline_kernels import GAIN, spline_filter

Array = NDArray[Any]

FAST = {"contract", "reassoc", "nsz"}
STRIP = 32
REACH = 2
"""Right pixels on either side of the match that interpolation needs for shifts of up to 1 px."""
_TAPS = 2 * REACH + 1
_WIDE = _TAPS + 2
"""A neighbour's whole disparity may differ by one either way."""
# The sums of a pixel, each for all patterns: rows of its table.
_SLOPE_LEFT, _LEFT_LEFT, _RIGHT_RIGHT, _SLOPE_RIGHT = 0, 1, 2, 3
_LEFT_RIGHT = _SLOPE_RIGHT + _WIDE
"""One row: the taps, not the patterns."""
_PIXEL_ROWS = _LEFT_RIGHT + 1
_MOST_SHIFT = 1.0
_MOST_GAIN = 4.0
_LEAST_LEFT = 1e-4
"""Share of the squares that must remain without a pattern; less is rounding."""
_BLOCK_BYTES = 600_000
FOUND = 6
"""Maps that are found: disparity, variance, agreement; and of the pixel alone at its match the sums
of squares of the left colours, of the right ones, and of products."""


@compiled(fastmath=FAST)
def _add_products(a: Array, b: Array, out: Array) -> None:
    for t in range(out.size):
        out[t] += a[t] * b[t]


@compiled(fastmath=FAST)
def _add_squares(a: Array, out: Array) -> None:
    for t in range(out.size):
        out[t] += a[t] * a[t]


@compiled(fastmath=FAST)
def _add_scaled(weight: Any, a: Array, out: Array) -> None:
    for t in range(out.size):
        out[t] += weight * a[t]


@compiled(fastmath=FAST)
def _dot(a: Array, b: Array) -> Any:
    total = np.float32(0)
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compiled(fastmath=FAST)
def _half_difference(after: Array, before: Array, out: Array) -> None:
    for k in range(out.size):
        out[k] = np.float32(0.5) * (after[k] - before[k])


@compiled(fastmath=FAST)
def _at_whole(b: Array, c: Array, d: Array, out: Array) -> None:
    for k in range(out.size):
        out[k] = np.float32(1 / 6) * (b[k] + np.float32(4) * c[k] + d[k])


@compiled()
def _tables_row(
    left: Array,
    right: Array,
    disparities: Array,
    none: int,
    first: int,
    channels: int,
    scratch: Array,
    tables: Array,
) -> None:
    """The sums of each pixel of a row's part, which begins at column `first`."""
    width = left.shape[0]
    padded = left.shape[1] // channels
    slope, there = scratch[0], scratch[1]
    for i in range(tables.shape[0]):
        x = first + i
        table = tables[i]
        table[:] = np.float32(0)
        if disparities[x] == none:
            continue
        column = x - disparities[x]
        here = left[x]
        _half_difference(left[min(x + 1, width - 1)], left[max(x - 1, 0)], slope)
        b, d = right[max(column - 1, 0)], right[min(column + 1, width - 1)]
        _at_whole(b, right[column], d, there)
        for c in range(channels):
            k = slice(c * padded, (c + 1) * padded)
            _add_products(slope[k], here[k], table[_SLOPE_LEFT])
            _add_squares(here[k], table[_LEFT_LEFT])
            _add_squares(there[k], table[_RIGHT_RIGHT])
        for o in range(_WIDE):
            tap = right[min(max(column + o - REACH - 1, 0), width - 1)]
            for c in range(channels):
                k = slice(c * padded, (c + 1) * padded)
                _add_products(slope[k], tap[k], table[_SLOPE_RIGHT + o])
            table[_LEFT_RIGHT, o] = _dot(here, tap)


@compiled()
def _gather(
    y: int,
    x: int,
    match: int,
    disparities: Array,
    weights: Array,
    ring: Array,
    first: int,
    sums: Array,
    shared: Array,
) -> Any:
    """Adds up the tables of the window's pixels of the same surface; returns their weight.

    `sums` gets the rows slope-left, left-left, right-right and those of the taps; `shared` the sums
    of left times taps.
    """
    height, width = disparities.shape
    radius = weights.size // 2
    total = np.float32(0)
    sums[:] = np.float32(0)
    shared[:] = np.float32(0)
    flat = sums.reshape(-1)
    n = sums.shape[1]
    for v in range(max(y - radius, 0), min(y + radius + 1, height)):
        for u in range(max(x - radius, 0), min(x + radius + 1, width)):
            # Beyond a jump is another surface; the smallest number marks "no match".
            beside = np.int64(disparities[v, u]) - match
            if abs(beside) > 1:
                continue
            weight = weights[v - y + radius] * weights[u - x + radius]
            table = ring[v % ring.shape[0], u - first].reshape(-1)
            start = (_SLOPE_RIGHT + 1 + beside) * n
            _add_scaled(weight, table[: 3 * n], flat[: 3 * n])
            _add_scaled(weight, table[start : start + _TAPS * n], flat[3 * n :])
            taps = _LEFT_RIGHT * n + 1 + beside
            _add_scaled(weight, table[taps : taps + _TAPS], shared)
            total += weight
    return total


@compiled()
def _taps(shift: float, value: Array, slope: Array) -> None:
    """Weights of the taps for the spline, and for its slope, at a match moved left by shift."""
    value[:] = 0.0
    slope[:] = 0.0
    place = REACH - shift
    base = min(max(int(np.floor(place)), 1), REACH)
    t = place - base
    s = 1.0 - t
    value[base - 1] = s * s * s / 6.0
    value[base] = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
    value[base + 1] = (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0
    value[base + 2] = t * t * t / 6.0
    slope[base - 1] = 0.5 * s * s
    slope[base] = -(-2.0 * t + 1.5 * t * t)
    slope[base + 1] = -(2.0 * s - 1.5 * s * s)
    slope[base + 2] = -0.5 * t * t


@compiled()
def _solve(totals: Array, taps: Array) -> float:
    """The shift at which the remaining difference has no component along the left picture's slope.

    The slope is only that of the left picture. Interpolation removes more of the right picture's
    noise at half pixels than at whole ones, but then this does not pull the shift. NaN if there is
    none.

    Args:
        totals: Sums over the window and the patterns: slope-left, left-left, right-right, taps.
        taps: Scratch space; holds the weights of the taps at the shift afterwards.
    """
    if not (totals[1] > 0.0 and totals[2] > 0.0):
        return np.nan
    gain = _gain(totals[1], totals[2])
    shift = 0.0
    for _ in range(8):
        _taps(shift, taps[0], taps[1])
        value, slope = 0.0, 0.0
        for o in range(_TAPS):
            value += taps[0, o] * totals[3 + o]
            slope += taps[1, o] * totals[3 + o]
        rising = -gain * slope
        if not rising > 0.0:
            return np.nan
        step = (gain * value - totals[0]) / rising
        step = min(max(step, -0.5), 0.5)
        shift += step
        if not abs(shift) <= _MOST_SHIFT:
            return shift if abs(shift) < 10 else np.nan
        if abs(step) < 1e-5:
            break
    _taps(shift, taps[0], taps[1])
    return shift


@compiled()
def _gain(left: float, right: float) -> float:
    return float(min(max(np.sqrt(left / right), 1.0 / _MOST_GAIN), _MOST_GAIN))


@compiled()
def _spread(
    sums: Array, totals: Array, taps: Array, patterns: int, recentred: float, shift: float
) -> float:
    """Jackknife: variance of the shift, from the shifts without each of the patterns.

    Each is found by one Newton step from the shift of all. If one of them is lost, the match
    depends on a single pattern and is most likely wrong: its variance is the largest that shifts up
    to twice the limit can have. NaN for a single pattern.

    Args:
        sums: (8, T) by pattern.
        totals: Their sums over the patterns.
        taps: Weights of the taps at the shift.
        patterns: T.
        recentred: The factor of what a pattern takes with it: where each pixel's mean over the
            patterns was subtracted, the others have another mean, which makes it T / (T - 1).
        shift: Of all patterns.
    """
    if patterns < 2:
        return np.nan
    value, slope = 0.0, 0.0
    for o in range(_TAPS):
        value += taps[0, o] * totals[3 + o]
        slope += taps[1, o] * totals[3 + o]
    most = 2.0 * _MOST_SHIFT
    lost = (patterns - 1) * most * most
    mean, square = 0.0, 0.0
    for t in range(patterns):
        here, here_slope = 0.0, 0.0
        for o in range(_TAPS):
            here += taps[0, o] * sums[3 + o, t]
            here_slope += taps[1, o] * sums[3 + o, t]
        left = totals[1] - recentred * sums[1, t]
        right = totals[2] - recentred * sums[2, t]
        if not (left > _LEAST_LEFT * totals[1] and right > _LEAST_LEFT * totals[2]):
            return lost
        gain = _gain(left, right)
        rising = -gain * (slope - recentred * here_slope)
        off = gain * (value - recentred * here) - (totals[0] - recentred * sums[0, t])
        if not rising > 0.0:
            return lost
        step = min(max(off / rising, -_MOST_SHIFT), _MOST_SHIFT)
        if not abs(shift + step) <= most:
            return lost
        mean += step
        square += step * step
    mean /= patterns
    return (patterns - 1) * max(square / patterns - mean * mean, 0.0)


@compiled(fastmath=FAST)
def _interpolated(weight: Any, tap: Array, out: Array) -> None:
    for k in range(out.size):
        out[k] += weight * tap[k]


@compiled()
def _alone(left: Array, right: Array, column: int, taps: Array, there: Array, found: Array) -> None:
    """Sums of squares and of products of one pixel's colours and those of its match."""
    width = right.shape[0]
    there[:] = np.float32(0)
    for o in range(_TAPS):
        if taps[o] != 0.0:
            u = min(max(column + o - REACH, 0), width - 1)
            _interpolated(np.float32(taps[o]), right[u], there)
    found[0], found[1], found[2] = _dot(left, left), _dot(there, there), _dot(left, there)


@compiled()
def _shift_pixel(
    y: int,
    x: int,
    left: Array,
    right: Array,
    disparities: Array,
    weights: Array,
    counts: tuple[int, int, float, float],
    ring: Array,
    first: int,
    scratch: tuple[Array, Array, Array, Array, Array, Array],
    found: Array,
) -> None:
    sums, shared, totals, taps, there, alone = scratch
    patterns, _, recentred, floor = counts
    match = np.int64(disparities[y, x])
    shift, weight = np.nan, np.float32(0)
    for _ in range(2):
        weight = _gather(y, x, match, disparities, weights, ring, first, sums, shared)
        if not weight > 0:
            return
        for r in range(3 + _TAPS):
            total = 0.0
            for t in range(patterns):
                total += sums[r, t]
            totals[r] = total
        shift = _solve(totals, taps)
        if not abs(shift) > 0.75:
            break
        match += 1 if shift > 0 else -1
    if not abs(shift) <= _MOST_SHIFT:
        return
    agreed = 0.0
    for o in range(_TAPS):
        agreed += taps[0, o] * shared[o]
    found[0, y, x] = match + shift
    found[1, y, x] = _spread(sums, totals, taps, patterns, recentred, shift)
    spread = np.sqrt(totals[1] * totals[2]) + weight * floor
    found[2, y, x] = min(max(agreed / spread, 0.0), 1.0)
    _alone(left[x], right, x - match, taps[0], there, alone)
    found[3, y, x], found[4, y, x], found[5, y, x] = alone[0], alone[1], alone[2]


def _block(padded: int, window: int) -> int:
    """Columns whose tables stay in the cache."""
    return max(16, _BLOCK_BYTES // (4 * _PIXEL_ROWS * padded * window) - window)


def _room(
    left: Array,
    right: Array,
    disparities: Array,
    none: int,
    weights: Array,
    counts: tuple[int, int, float, float],
    found: Array,
) -> tuple[Any, ...]:
    padded, window = left.shape[2] // counts[1], weights.size
    wide = min(_block(padded, window) + window, left.shape[1])
    return (
        np.zeros((STRIP + window, *left.shape[1:]), np.float32),
        np.zeros((window, wide, _PIXEL_ROWS, padded), np.float32),
        np.zeros((2, left.shape[2]), np.float32),
        (
            np.zeros((3 + _TAPS, padded), np.float32),
            np.zeros(_TAPS, np.float32),
            np.zeros(3 + _TAPS),
            np.zeros((2, _TAPS)),
            np.zeros(left.shape[2], np.float32),
            np.zeros(3),
        ),
    )


@banded("disparities", step=STRIP, cost=50, room=_room)
def shifts(
    begin: int,
    end: int,
    splines: Array,
    ring: Array,
    lines: Array,
    scratch: tuple[Array, Array, Array, Array, Array, Array],
    left: Array,
    right: Array,
    disparities: Array,
    none: int,
    weights: Array,
    counts: tuple[int, int, float, float],
    found: Array,
) -> None:
    """Disparities to fractions of a pixel, their variances, and how well the patterns agree.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        splines: Scratch space: coefficients of splines along the right picture's rows.
        ring: Scratch space: tables of sums of some rows.
        lines: Scratch space.
        scratch: Scratch space.
        left: (H, W, K) colours.
        right: (H, W, K).
        disparities: (H, W) int32 whole ones.
        none: The number that marks a pixel without a match.
        weights: (2r + 1,) of the window's rows and columns; they sum to 1.
        counts: Patterns, channels, factor of a pattern that is left out (see `_spread`), sum of
            squares of noise.
        found: (6, H, W), see `FOUND`; nothing is written where there is no match.
    """
    height, width = disparities.shape
    channels, window = counts[1], weights.size
    radius = window // 2
    block = ring.shape[1] - window if ring.shape[1] < width else width
    for top in range(begin, end, STRIP):
        low, high = max(top - radius, 0), min(top + STRIP + radius, height)
        for y in range(low, high):
            splines[y - low] = right[y]
            spline_filter(splines[y - low], GAIN)
        for start in range(0, width, block):
            first, last = max(start - radius, 0), min(start + block + radius, width)
            done = low - 1
            for y in range(top, min(top + STRIP, end)):
                while done < min(y + radius, height - 1):
                    done += 1
                    tables = ring[done % window, : last - first]
                    _tables_row(
                        left[done],
                        splines[done - low],
                        disparities[done],
                        none,
                        first,
                        channels,
                        lines,
                        tables,
                    )
                for x in range(start, min(start + block, width)):
                    if disparities[y, x] != none:
                        _shift_pixel(
                            y,
                            x,
                            left[y],
                            splines[y - low],
                            disparities,
                            weights,
                            counts,
                            ring,
                            first,
                            scratch,
                            found,
                        )
