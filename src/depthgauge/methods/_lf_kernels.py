"""Cost volumes of light fields, compiled: their making, smoothing and minima.

Pictures are planes (channel, row, column), a cost volume is (row, column, disparity). Work is split
into rows, strips of rows or paths that write to places of their own, so the number of threads never
changes a bit. Loops are in functions of their own: those compile much faster than parallel ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from depthgauge._compiled import compiled
from depthgauge.methods._lf_spline_kernels import FAST, shifted

Array = NDArray[Any]

STRIP = 16  # rows whose views stay in the second-level cache
_FAR = np.float32(1e30)

# The cost volume.


@compiled(fastmath=FAST)
def _differences(delta: Array, centre: Array, top: int, rows: int, grey: Array) -> None:
    """Subtracts the centre view from a shifted one; `grey` gets the mean over the channels."""
    channels, height, width = centre.shape
    share = np.float32(1) / np.float32(channels)
    for j in range(rows):
        mean = grey[j]
        for x in range(width):
            mean[x + 1] = 0
        for c in range(channels):
            row, middle = delta[c, j], centre[c, min(max(top + j, 0), height - 1)]
            for x in range(width):
                row[x] -= middle[x]
                mean[x + 1] += share * row[x]
        mean[0], mean[width + 1] = mean[1], mean[width]


@compiled(fastmath=FAST)
def _row_cost(delta: Array, grey: Array, j: int, how: Array, cost: Array) -> None:
    """Truncated differences of colour and of gradient in row j of a strip."""
    channels, _, width = delta.shape
    share = np.float32(1) / np.float32(channels)
    most_colour, most_gradient, part = how[0], how[1], how[2]
    for x in range(width):
        cost[x] = 0
    for c in range(channels):
        row = delta[c, j]
        for x in range(width):
            cost[x] += share * abs(row[x])
    above, here, below = grey[j - 1], grey[j], grey[j + 1]
    for x in range(width):
        slope = abs(here[x + 2] - here[x]) + abs(below[x + 1] - above[x + 1])
        colour = min(cost[x], most_colour)
        gradient = min(np.float32(0.5) * slope, most_gradient)
        cost[x] = colour + part * (gradient - colour)


@compiled(fastmath=FAST)
def _add(total: Array, more: Array) -> None:
    for x in range(total.size):
        total[x] += more[x]


@compiled(fastmath=FAST)
def _best_part(
    sums: Array, j: int, parts: Array, factors: Array, doubt: Array, part: Array, best: Array
) -> None:
    """The least mean over a part of the views; the first part is all of them."""
    for p in range(len(parts)):
        part.fill(0)
        for b in range(parts.shape[1]):
            if parts[p, b]:
                _add(part, sums[b, j])
        factor = factors[p]
        if p == 0:
            for x in range(best.size):
                best[x] = factor * part[x]
        else:
            for x in range(best.size):
                best[x] = min(best[x], factor * part[x] + doubt[x])


@compiled(fastmath=FAST)
def _sweep_strip(
    top: int,
    coefficients: Array,
    centre: Array,
    steps: Array,
    bins: Array,
    parts: Array,
    factors: Array,
    disparities: Array,
    pad: int,
    doubt: Array,
    how: Array,
    out: Array,
) -> None:
    views, channels, height, width = coefficients.shape
    rows = min(STRIP, height - top)
    line = np.zeros(width + 2 * pad, np.float32)
    delta = np.zeros((channels, STRIP + 2, width), np.float32)
    grey = np.zeros((STRIP + 2, width + 2), np.float32)
    cost = np.zeros(width, np.float32)
    best = np.zeros(width, np.float32)
    sums = np.zeros((parts.shape[1], STRIP, width), np.float32)
    for d in range(disparities.size):
        sums.fill(0)
        for v in range(views):
            if bins[v, 0] < 0:
                continue
            right = -np.float64(disparities[d] * steps[v, 0])
            down = -np.float64(disparities[d] * steps[v, 1])
            for c in range(channels):
                shifted(coefficients[v, c], right, down, top - 1, rows + 2, line, delta[c])
            _differences(delta, centre, top - 1, rows + 2, grey)
            for j in range(rows):
                _row_cost(delta, grey, j + 1, how, cost)
                for b in bins[v]:
                    if b >= 0:
                        _add(sums[b, j], cost)
        for j in range(rows):
            _best_part(sums, j, parts, factors, doubt[top + j], cost, best)
            for x in range(width):
                out[top + j, x, d] = best[x]


@compiled(parallel=True)
def sweep(
    coefficients: Array,
    centre: Array,
    steps: Array,
    bins: Array,
    parts: Array,
    factors: Array,
    disparities: Array,
    pad: int,
    doubt: Array,
    how: Array,
    out: Array,
) -> None:
    """How little the views agree with the centre view, for every pixel and disparity.

    Costs of views are summed up in bins, and bins make up parts of the light field: the part that
    agrees best counts.

    Args:
        coefficients: (V, C, H, W) splines of the views.
        centre: (C, H, W) the centre view.
        steps: (V, 2) of the views to the right and down.
        bins: (V, 2) of each view; negative: none. Views without a first bin are left out.
        parts: (P, B) which bins make up a part; the first part is all views.
        factors: (P,) of the sums of costs in a part.
        disparities: (D,) px a step.
        pad: Px that the farthest shift leads out of the picture, and three more.
        doubt: (H, W) by how much another part must be better than all views.
        how: Largest difference of colour that counts, of gradients, and the gradients' share.
        out: (H, W, D).
    """
    height = coefficients.shape[2]
    for s in prange((height + STRIP - 1) // STRIP):
        _sweep_strip(
            np.int64(s) * STRIP,
            coefficients,
            centre,
            steps,
            bins,
            parts,
            factors,
            disparities,
            pad,
            doubt,
            how,
            out,
        )


@compiled(fastmath=FAST)
def likeness(image: Array, y: int, x: int, j: int, i: int, tone: float) -> Any:
    """From 1 for the same colour to 0; 1/e where channels differ by `tone` grey levels."""
    apart = np.float32(0)
    for c in range(image.shape[0]):
        apart += abs(image[c, j, i] - image[c, y, x])
    return np.float32(math.exp(-apart / (image.shape[0] * tone)))


@compiled(fastmath=FAST)
def _aggregate_row(
    y: int, volume: Array, image: Array, radius: int, tone: float, scale: Array, out: Array
) -> None:
    height, width, disparities = volume.shape
    total = np.zeros(disparities, np.float32)
    for x in range(width):
        total.fill(0)
        weights = np.float32(0)
        for j in range(max(y - radius, 0), min(y + radius + 1, height)):
            for i in range(max(x - radius, 0), min(x + radius + 1, width)):
                weight = likeness(image, y, x, j, i, tone)
                weights += weight
                costs = volume[j, i]
                for d in range(disparities):
                    total[d] += weight * costs[d]
        factor = scale[y, x] / weights
        for d in range(disparities):
            out[y, x, d] = factor * total[d]


@compiled(parallel=True)
def aggregate(
    volume: Array, image: Array, radius: int, tone: float, scale: Array, out: Array
) -> None:
    """Means over square windows of pixels that look like the middle one, times `scale` (H, W)."""
    for y in prange(volume.shape[0]):
        _aggregate_row(np.int64(y), volume, image, radius, tone, scale, out)


# Semi-global matching.


@compiled(fastmath=FAST)
def _follow(
    x: int, y: int, dx: int, dy: int, volume: Array, image: Array, how: Array, total: Array
) -> None:
    height, width, disparities = volume.shape
    small, large, least, tone = how[0], how[1], how[2], how[3]
    before = np.zeros(disparities + 2, np.float32)
    now = np.zeros(disparities + 2, np.float32)
    before[0] = before[disparities + 1] = now[0] = now[disparities + 1] = _FAR
    lowest, jump = np.float32(0), large
    while 0 <= x < width and 0 <= y < height:
        costs, sums = volume[y, x], total[y, x]
        limit = lowest + jump
        found = _FAR
        for d in range(disparities):
            step = min(before[d], before[d + 2]) + small
            value = costs[d] + min(min(before[d + 1], limit), step) - lowest
            now[d + 1] = value
            sums[d] += value
            found = min(found, value)
        lowest = found
        before, now = now, before
        if 0 <= x + dx < width and 0 <= y + dy < height:
            jump = max(large * likeness(image, y, x, y + dy, x + dx, tone), least)
        x += dx
        y += dy


@compiled(parallel=True)
def follow_paths(volume: Array, image: Array, dx: int, dy: int, how: Array, total: Array) -> None:
    """Semi-global matching along one of eight directions; adds to `total`.

    Args:
        volume: (H, W, D) costs.
        image: (C, H, W).
        dx: Direction to the right, -1, 0 or 1.
        dy: Direction down.
        how: Penalty of a change by one disparity, of larger changes, the least that edges of the
            picture leave of that, and the grey levels at which they divide it by e.
        total: (H, W, D).
    """
    height, width = volume.shape[:2]
    first_x, first_y = (0 if dx >= 0 else width - 1), (0 if dy >= 0 else height - 1)
    from_row = width if dy != 0 else 0
    paths = from_row + (height if dx != 0 else 0)
    for p in prange(paths):
        k = np.int64(p)
        if k < from_row:
            _follow(k, first_y, dx, dy, volume, image, how, total)
        elif dy == 0 or k - from_row != first_y:  # the corner's path began in the row
            _follow(first_x, k - from_row, dx, dy, volume, image, how, total)


@compiled()
def _parabola(costs: Array, place: int) -> Any:
    """Vertex of the parabola through the lowest cost next to a place, and its curvature."""
    last = costs.size - 1
    best = place
    for d in range(max(place - 1, 0), min(place + 1, last) + 1):
        if costs[d] < costs[best]:
            best = d
    if 0 < best < last:
        before, after = costs[best - 1] - costs[best], costs[best + 1] - costs[best]
        if before >= 0 and after >= 0 and before + after > 0:
            return best + np.float32(0.5) * (before - after) / (before + after), before + after
    return np.float32(best), np.float32(0)


@compiled(parallel=True)
def parabolas(volume: Array, place: Array, vertex: Array, curvature: Array) -> None:
    """Minima between disparities.

    Args:
        volume: (H, W, D) costs.
        place: (H, W) index of a disparity next to the minimum; negative: the lowest cost.
        vertex: (H, W) the minimum's place, a fraction.
        curvature: (H, W) second difference of the costs; 0 where there is no minimum.
    """
    for y in prange(volume.shape[0]):
        for x in range(volume.shape[1]):
            first = place[y, x]
            if first < 0:
                first = volume[y, x].argmin()
            vertex[y, x], curvature[y, x] = _parabola(volume[y, x], first)
