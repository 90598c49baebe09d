"""A pixel's two candidates: the surfaces of a window, their weights, planes and densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled
from depthgauge.geometry._shared_kernels import inverse_where_wide

Array = NDArray[Any]

VALUE, SCALE, VARIANCE, CONFIDENCE, DISTANCE = 0, 1, 2, 3, 4
"""Places in the table of a candidate's numbers."""
_DOWN = (0, 1, 0, -1, 1, 1, -1, -1)
_RIGHT = (1, 0, -1, 0, 1, -1, 1, -1)
_STEEPEST = 1.5  # px per px; no surface that both views see is steeper
_SPREAD = 0.15  # px^2; two columns of pixels have a variance of 1/4, less where one weighs more
_NEAR = 0.6  # px: weights fall by e within it, so that a bar of one column outweighs both sides


@compiled()
def joined(disparity: Array, y: int, x: int, v: int, u: int, jump: float) -> bool:
    """Whether two neighbours are on one surface: no jump, or a slope that continues at both ends.

    False if one is missing.
    """
    change = disparity[v, u] - disparity[y, x]
    if abs(change) <= jump:
        return True
    if not abs(change) <= _STEEPEST:
        return False
    h, w = disparity.shape
    agreed = 0
    for k in range(2):
        # From the pixel before to the first, and from the second to the pixel after.
        b, a = (2 * y - v, 2 * x - u) if k == 0 else (2 * v - y, 2 * u - x)
        if not (0 <= b < h and 0 <= a < w) or not np.isfinite(disparity[b, a]):
            continue
        on = disparity[y, x] - disparity[b, a] if k == 0 else disparity[b, a] - disparity[v, u]
        if not abs(on - change) <= 0.5 * jump:
            return False
        agreed += 1
    return agreed > 0


@compiled()
def flood(
    disparity: Array, cy: int, cx: int, radius: int, jump: float, label: Array, queue: Array
) -> None:
    """Numbers the surfaces of a window, 1 ...: pixels connected without a jump."""
    h, w = disparity.shape
    size = 2 * radius + 1
    label[:] = 0
    found = 0
    for start in range(size * size):
        y, x = cy + start // size - radius, cx + start % size - radius
        if not (0 <= y < h and 0 <= x < w) or label[start // size, start % size] > 0:
            continue
        if not np.isfinite(disparity[y, x]):
            continue
        found += 1
        label[start // size, start % size] = found
        queue[0] = start
        n, done = 1, 0
        while done < n:
            j, i = queue[done] // size, queue[done] % size
            done += 1
            for k in range(8):
                b, a = j + _DOWN[k], i + _RIGHT[k]
                if not (0 <= b < size and 0 <= a < size) or label[b, a] > 0:
                    continue
                v, u = cy + b - radius, cx + a - radius
                if not (0 <= v < h and 0 <= u < w):
                    continue
                if joined(disparity, cy + j - radius, cx + i - radius, v, u, jump):
                    label[b, a] = found
                    queue[n] = b * size + a
                    n += 1


@compiled()
def weigh(
    trust: Array,
    small_guide: Array,
    colour: Array,
    sy: float,
    sx: float,
    cy: int,
    cx: int,
    sigma: float,
    label: Array,
    weight: Array,
) -> None:
    """The weight of each pixel of the window: highest for near, similar and trusted ones."""
    size = label.shape[0]
    radius = size // 2
    for j in range(size):
        for i in range(size):
            weight[j, i] = 0.0
            if label[j, i] == 0:
                continue
            v, u = cy + j - radius, cx + i - radius
            away = np.sqrt((v - sy) ** 2 + (u - sx) ** 2)
            unlike = 0.0
            for c in range(colour.size):
                unlike += (colour[c] - small_guide[v, u, c]) ** 2
            # Beyond some contrast a colour is just different: it does not exclude anything.
            unlike = min(unlike / (2.0 * sigma * sigma * colour.size), 8.0)
            weight[j, i] = trust[v, u] * np.exp(-away / _NEAR - unlike)


@compiled()
def heaviest(label: Array, weight: Array, totals: Array) -> tuple[int, int]:
    """The two surfaces with the largest sums of weights; 0 for none."""
    totals[:] = 0.0
    size, found = label.shape[0], 0
    for j in range(size):
        for i in range(size):
            totals[label[j, i]] += weight[j, i]
            found = max(found, label[j, i])
    first, second = 0, 0
    for number in range(1, found + 1):
        if first == 0 or totals[number] > totals[first]:
            first, second = number, first
        elif second == 0 or totals[number] > totals[second]:
            second = number
    return first, second


@compiled()
def mode(
    maps: tuple[Array, Array, Array, Array],
    sy: float,
    sx: float,
    cy: int,
    cx: int,
    number: int,
    label: Array,
    jump: float,
    found: Array,
) -> None:
    """The plane through one surface of the window at (sy, sx), and the distance to its pixels."""
    disparity, variance, confidence, trust = maps
    size = label.shape[0]
    radius = size // 2
    n, mx, my, mean = 0.0, 0.0, 0.0, 0.0
    low, high, nearest = np.inf, -np.inf, np.inf
    for j in range(size):
        for i in range(size):
            if label[j, i] != number:
                continue
            v, u = cy + j - radius, cx + i - radius
            share = _near(trust[v, u], v - sy, u - sx, radius)
            n += share
            mx += share * (u - sx)
            my += share * (v - sy)
            mean += share * disparity[v, u]
            low, high = min(low, disparity[v, u]), max(high, disparity[v, u])
            nearest = min(nearest, (v - sy) ** 2 + (u - sx) ** 2)
    mx, my, mean = mx / n, my / n, mean / n
    xx, xy, yy, xd, yd = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(size):
        for i in range(size):
            if label[j, i] == number:
                v, u = cy + j - radius, cx + i - radius
                share = _near(trust[v, u], v - sy, u - sx, radius) / n
                dx, dy, dd = u - sx - mx, v - sy - my, disparity[v, u] - mean
                xx += share * dx * dx
                xy += share * dx * dy
                yy += share * dy * dy
                xd += share * dx * dd
                yd += share * dy * dd
    a, b, d = inverse_where_wide(xx, xy, yy, _SPREAD)
    gx, gy = a * xd + b * yd, b * xd + d * yd
    off, spread, sure = 0.0, 0.0, 0.0
    for j in range(size):
        for i in range(size):
            if label[j, i] == number:
                v, u = cy + j - radius, cx + i - radius
                share = _near(trust[v, u], v - sy, u - sx, radius) / n
                plane = mean + gx * (u - sx - mx) + gy * (v - sy - my)
                off += share * abs(disparity[v, u] - plane)
                spread += share * variance[v, u]
                sure += share * confidence[v, u]
    # A plane farther than a jump from all measurements was extrapolated too far.
    found[VALUE] = min(max(mean - gx * mx - gy * my, low - jump), high + jump)
    found[SCALE], found[VARIANCE], found[CONFIDENCE] = off, spread, sure
    found[DISTANCE] = np.sqrt(nearest)


@compiled()
def _near(trust: float, dy: float, dx: float, radius: int) -> float:
    """Weights of a fit: flatter than those of the choice, or noise would tilt the plane."""
    return float(trust * np.exp(-2.0 * (dy * dy + dx * dx) / (radius * radius)))


@compiled()
def choose(modes: Array, share: float, least: float, both: bool) -> tuple[int, float]:
    """The mode at which the mixture of two Laplacians is denser, and that mode's share of it."""
    if not both:
        return 0, 1.0
    b1, b2 = max(modes[0, SCALE], least), max(modes[1, SCALE], least)
    apart = abs(modes[0, VALUE] - modes[1, VALUE])
    high1, high2 = share / (2.0 * b1), (1.0 - share) / (2.0 * b2)
    density1 = high1 + high2 * np.exp(-apart / b2)
    density2 = high2 + high1 * np.exp(-apart / b1)
    total = density1 + density2
    return (0, density1 / total) if density1 >= density2 else (1, density2 / total)
