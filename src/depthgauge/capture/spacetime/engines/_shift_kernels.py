"""Fractions of a pixel, and their variance, from the patterns around a match; compiled.

Strips of rows write to separate places, so the number of threads does not change a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

FAST = {"contract", "reassoc", "nsz"}
STRIP = 16
REACH = 2
"""Right pixels on either side of the match that interpolation needs for shifts of up to 1 px."""
_TAPS = 2 * REACH + 1

# What is summed over the window, for each colour k: rows of `sums`.
_SLOPE_LEFT, _SLOPE, _LEFT, _LEFT_LEFT, _RIGHT_RIGHT = 0, 1, 2, 3, 4
_SLOPE_RIGHT, _RIGHT, _LEFT_RIGHT = 5, 5 + _TAPS, 5 + 2 * _TAPS
ROWS = 5 + 3 * _TAPS
# The same over patterns and channels, minus the products of means: a vector.
_TOTALS = 3 + 2 * _TAPS
_MOST_SHIFT = 1.0
_MOST_GAIN = 4.0


@compiled(fastmath=FAST)
def _add_product(a: Array, b: Array, out: Array) -> None:
    for k in range(out.size):
        out[k] += a[k] * b[k]


@compiled(fastmath=FAST)
def _add_scaled(weight: Any, a: Array, out: Array) -> None:
    for k in range(out.size):
        out[k] += weight * a[k]


@compiled(fastmath=FAST)
def _add_pixel(
    left: Array, before: Array, after: Array, right: Array, x: int, weight: Any, sums: Array
) -> None:
    """Adds one pixel of the window; x is its match's column in the right row.

    One sum per loop: with several at once, the compiler does not know that they do not overlap and
    processes one number at a time.
    """
    width = right.shape[0]
    slope, value, there = sums[ROWS], sums[ROWS + 1], sums[ROWS + 2]
    half = np.float32(0.5) * weight
    for k in range(slope.size):
        slope[k] = half * (after[k] - before[k])
    for k in range(value.size):
        value[k] = weight * left[k]
    b, c, d = right[max(x - 1, 0)], right[x], right[min(x + 1, width - 1)]
    squares = sums[_RIGHT_RIGHT]
    for k in range(there.size):
        there[k] = np.float32(1 / 6) * (b[k] + np.float32(4) * c[k] + d[k])
    for k in range(squares.size):
        squares[k] += weight * there[k] * there[k]
    _add_product(slope, left, sums[_SLOPE_LEFT])
    _add_scaled(np.float32(1), slope, sums[_SLOPE])
    _add_scaled(np.float32(1), value, sums[_LEFT])
    _add_product(value, left, sums[_LEFT_LEFT])
    for o in range(_TAPS):
        tap = right[min(max(x + o - REACH, 0), width - 1)]
        _add_product(slope, tap, sums[_SLOPE_RIGHT + o])
        _add_scaled(weight, tap, sums[_RIGHT + o])
        _add_product(value, tap, sums[_LEFT_RIGHT + o])


@compiled(fastmath=FAST)
def _gather(
    y: int,
    x: int,
    match: int,
    left: Array,
    right: Array,
    disparities: Array,
    weights: Array,
    sums: Array,
) -> Any:
    """Sums over the window's pixels of the same surface; returns their weight."""
    height, width = disparities.shape
    radius = weights.size // 2
    total = np.float32(0)
    for r in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            sums[r, k] = np.float32(0)
    for v in range(max(y - radius, 0), min(y + radius + 1, height)):
        for u in range(max(x - radius, 0), min(x + radius + 1, width)):
            other = disparities[v, u]
            # Beyond a jump is another surface; the smallest number marks "no match".
            if abs(np.int64(other) - disparities[y, x]) > 1:
                continue
            column = u - match
            if column < 0 or column >= width:
                continue
            weight = weights[v - y + radius] * weights[u - x + radius]
            before, after = left[v, max(u - 1, 0)], left[v, min(u + 1, width - 1)]
            _add_pixel(left[v, u], before, after, right[v], column, weight, sums)
            total += weight
    return total


@compiled()
def _by_channel(sums: Array, patterns: int, channels: int, by_channel: Array) -> None:
    for r in range(ROWS):
        for c in range(channels):
            total = 0.0
            for t in range(patterns):
                total += sums[r, t * channels + c]
            by_channel[r, c] = total


@compiled(fastmath=FAST)
def _centre(
    by_channel: Array, sums: Array, without: int, channels: int, count: float, totals: Array
) -> None:
    """Sums of products around the window's mean colours, of all patterns or without one."""
    share = 1.0 / count
    keep = 1.0 if without >= 0 else 0.0
    for i in range(_TOTALS):
        totals[i] = 0.0
    for c in range(channels):
        k = max(without, 0) * channels + c
        slope = by_channel[_SLOPE, c] - keep * sums[_SLOPE, k]
        left = by_channel[_LEFT, c] - keep * sums[_LEFT, k]
        middle = 0.0
        for o in range(-1, 2):
            part = by_channel[_RIGHT + REACH + o, c] - keep * sums[_RIGHT + REACH + o, k]
            middle += part * (4.0 / 6.0 if o == 0 else 1.0 / 6.0)
        both = by_channel[_SLOPE_LEFT, c] - keep * sums[_SLOPE_LEFT, k]
        squares = by_channel[_LEFT_LEFT, c] - keep * sums[_LEFT_LEFT, k]
        right_squares = by_channel[_RIGHT_RIGHT, c] - keep * sums[_RIGHT_RIGHT, k]
        slope_mean, left_mean = slope * share, left * share
        totals[0] += both - slope_mean * left
        totals[1] += squares - left_mean * left
        totals[2] += right_squares - middle * middle * share
        for o in range(_TAPS):
            right = by_channel[_RIGHT + o, c] - keep * sums[_RIGHT + o, k]
            with_slope = by_channel[_SLOPE_RIGHT + o, c] - keep * sums[_SLOPE_RIGHT + o, k]
            totals[3 + o] += with_slope - slope_mean * right
            if without < 0:  # how well all patterns agree
                totals[3 + _TAPS + o] += by_channel[_LEFT_RIGHT + o, c] - left_mean * right


@compiled()
def _at(values: Array, first: int, shift: float) -> Any:
    """The spline with these coefficients, and its slope, for a match moved left by shift."""
    place = REACH - shift
    base = min(int(np.floor(place)), REACH)
    t = place - base
    a, b = values[first + base - 1], values[first + base]
    c, d = values[first + base + 1], values[first + base + 2]
    p, q = 0.5 * (c - a), 0.5 * (a + c) - b
    r = (d - a) / 6.0 + 0.5 * (b - c)
    value = (a + 4.0 * b + c) / 6.0 + t * (p + t * (q + t * r))
    slope = p + t * (2.0 * q + 3.0 * t * r)
    return value, -slope


@compiled()
def _solve(totals: Array, start: float, rounds: int) -> float:
    """The shift at which the remaining difference has no component along the left picture's slope.

    The slope is only that of the left picture. Interpolation removes more of the right picture's
    noise at half pixels than at whole ones, but then this does not pull the shift. NaN if there is
    none.
    """
    if not (totals[1] > 0.0 and totals[2] > 0.0):
        return np.nan
    gain = min(max(np.sqrt(totals[1] / totals[2]), 1.0 / _MOST_GAIN), _MOST_GAIN)
    shift = start
    for _ in range(rounds):
        value, slope = _at(totals, 3, shift)
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
    return shift


@compiled()
def _spread(
    by_channel: Array,
    sums: Array,
    patterns: int,
    channels: int,
    weight: float,
    shift: float,
    totals: Array,
) -> float:
    """Jackknife: variance of the shift, from the shifts without each of the patterns.

    If one of them is lost, the match depends on a single pattern and is most likely wrong: its
    variance is the largest that shifts up to twice the limit can have. NaN for a single pattern.
    """
    if patterns < 2:
        return np.nan
    most = 2.0 * _MOST_SHIFT
    mean, square = 0.0, 0.0
    for t in range(patterns):
        _centre(by_channel, sums, t, channels, weight * (patterns - 1), totals)
        other = _solve(totals, shift, 2)
        if not abs(other) <= most:
            return (patterns - 1) * most * most
        mean += other - shift
        square += (other - shift) * (other - shift)
    mean /= patterns
    return (patterns - 1) * max(square / patterns - mean * mean, 0.0)


@compiled()
def _shift_pixel(
    y: int,
    x: int,
    left: Array,
    right: Array,
    disparities: Array,
    weights: Array,
    patterns: int,
    channels: int,
    floor: float,
    sums: Array,
    by_channel: Array,
    totals: Array,
    found: Array,
) -> None:
    match = np.int64(disparities[y, x])
    shift, weight = np.nan, np.float32(0)
    for _ in range(2):
        weight = _gather(y, x, match, left, right, disparities, weights, sums)
        if not weight > 0:
            return
        _by_channel(sums, patterns, channels, by_channel)
        _centre(by_channel, sums, -1, channels, weight * patterns, totals)
        shift = _solve(totals, 0.0, 8)
        if not abs(shift) > 0.75:
            break
        match += 1 if shift > 0 else -1
    if not abs(shift) <= _MOST_SHIFT:
        return
    shared = _at(totals, 3 + _TAPS, shift)[0]
    spread = np.sqrt(totals[1] * totals[2]) + weight * floor
    found[0, y, x] = match + shift
    found[2, y, x] = min(max(shared / spread, 0.0), 1.0)
    found[1, y, x] = _spread(by_channel, sums, patterns, channels, weight, shift, totals)


@compiled()
def _shift_strip(
    top: int,
    left: Array,
    right: Array,
    disparities: Array,
    none: int,
    weights: Array,
    patterns: int,
    channels: int,
    floor: float,
    found: Array,
) -> None:
    height, width = disparities.shape
    sums = np.zeros((ROWS + 3, left.shape[2]), np.float32)  # three more as scratch space
    by_channel = np.zeros((ROWS, channels))
    totals = np.zeros(_TOTALS)
    for y in range(top, min(top + STRIP, height)):
        for x in range(width):
            if disparities[y, x] != none:
                _shift_pixel(
                    y,
                    x,
                    left,
                    right,
                    disparities,
                    weights,
                    patterns,
                    channels,
                    floor,
                    sums,
                    by_channel,
                    totals,
                    found,
                )


@banded("disparities", step=STRIP, cost=50)
def shifts(
    begin: int,
    end: int,
    left: Array,
    right: Array,
    disparities: Array,
    none: int,
    weights: Array,
    patterns: int,
    channels: int,
    floor: float,
    found: Array,
) -> None:
    """Disparities to fractions of a pixel, their variances, and how well the patterns agree.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        left: (H, W, K) colours.
        right: (H, W, K) coefficients of splines along rows.
        disparities: (H, W) int32 whole ones.
        none: The number that marks a pixel without a match.
        weights: (2r + 1,) of the window's rows and columns; they sum to 1.
        patterns: T.
        channels: C.
        floor: Sum of squares of noise.
        found: (3, H, W) disparity, variance, agreement; nothing is written where there is none.
    """
    for top in range(begin, end, STRIP):
        _shift_strip(top, left, right, disparities, none, weights, patterns, channels, floor, found)
