"""From cost volumes to surfaces, compiled.

Work is split into rows or paths that write to separate places, so the number of threads never
changes a bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import path_start

Array = NDArray[Any]

_FAR = np.float32(1e30)
_STEP = np.float32(1 / math.sqrt(12.0))  # of the primal-dual scheme, whose operator's norm is less
_TINY = np.float32(1e-12)  # less is 0: processors are slow with numbers below 1e-38
ROOMS, AHEAD = 11, 8  # maps that the scheme needs, and the place of the extrapolated surface

# Costs.


@compiled()
def _likeness(image: Array, y: int, x: int, j: int, i: int, tone: float) -> Any:
    """From 1 for the same colour to 0; 1/e where channels differ by `tone` grey levels."""
    apart = np.float32(0)
    for c in range(image.shape[0]):
        apart += abs(image[c, j, i] - image[c, y, x])
    return np.float32(math.exp(-apart / (image.shape[0] * tone)))


@compiled()
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
                weight = _likeness(image, y, x, j, i, tone)
                weights += weight
                costs = volume[j, i]
                for d in range(disparities):
                    total[d] += weight * costs[d]
        factor = scale[y, x] / weights
        for d in range(disparities):
            out[y, x, d] = factor * total[d]


@banded("out", cost=50)
def aggregate(
    begin: int,
    end: int,
    volume: Array,
    image: Array,
    radius: int,
    tone: float,
    scale: Array,
    out: Array,
) -> None:
    """Means over square windows of pixels that look like the middle one, times `scale` (H, W)."""
    for y in range(begin, end):
        _aggregate_row(y, volume, image, radius, tone, scale, out)


# Semi-global matching.


@compiled()
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
            jump = max(large * _likeness(image, y, x, y + dy, x + dx, tone), least)
        x += dx
        y += dy


@banded("paths", cost=2)
def follow_paths(
    begin: int,
    end: int,
    paths: int,
    volume: Array,
    image: Array,
    dx: int,
    dy: int,
    how: Array,
    total: Array,
) -> None:
    """Semi-global matching along one of eight directions; adds to `total`.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        paths: The number of paths, from `path_count`.
        volume: (H, W, D) costs.
        image: (C, H, W).
        dx: Direction to the right, -1, 0 or 1.
        dy: Direction down.
        how: Penalty of a change by one disparity, of larger changes, the smallest share of it that
            edges of the picture leave, and the grey levels at which they divide it by e.
        total: (H, W, D).
    """
    height, width = volume.shape[:2]
    for p in range(begin, end):
        x, y = path_start(p, height, width, dx, dy)
        _follow(x, y, dx, dy, volume, image, how, total)


@compiled()
def _minimum(costs: Array, place: int) -> Any:
    """The minimum beside a place, between disparities, and how sharp it is.

    Sums of absolute differences have the form of a V: two lines of opposite slopes meet there.
    """
    last = costs.size - 1
    best = place
    for d in range(max(place - 1, 0), min(place + 1, last) + 1):
        if costs[d] < costs[best]:
            best = d
    if 0 < best < last:
        before, after = costs[best - 1] - costs[best], costs[best + 1] - costs[best]
        if min(before, after) >= 0 and before + after > 0:
            return best + np.float32(0.5) * (before - after) / max(before, after), before + after
    return np.float32(best), np.float32(0)


@banded("found", cost=2)
def minima(
    begin: int, end: int, volume: Array, place: Array, found: Array, sharpness: Array
) -> None:
    """Minima between disparities.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        volume: (H, W, D) costs.
        place: (H, W) index of a disparity next to the minimum; negative: the lowest cost.
        found: (H, W) the minimum's place, a fraction.
        sharpness: (H, W) second difference of the costs; 0 where there is no minimum.
    """
    for y in range(begin, end):
        for x in range(volume.shape[1]):
            first = place[y, x]
            if first < 0:
                first = volume[y, x].argmin()
            found[y, x], sharpness[y, x] = _minimum(volume[y, x], first)


# Disparities.


@compiled()
def _median_row(
    y: int, values: Array, trust: Array, image: Array, radius: int, tone: float, out: Array
) -> None:
    height, width = values.shape
    found = np.zeros((2 * radius + 1) ** 2, np.float32)
    weights = np.zeros((2 * radius + 1) ** 2, np.float32)
    for x in range(width):
        count, half = 0, np.float32(0)
        for j in range(max(y - radius, 0), min(y + radius + 1, height)):
            for i in range(max(x - radius, 0), min(x + radius + 1, width)):
                weight = trust[j, i] * _likeness(image, y, x, j, i, tone)
                half += np.float32(0.5) * weight
                k = count
                while k > 0 and found[k - 1] > values[j, i]:
                    found[k], weights[k] = found[k - 1], weights[k - 1]
                    k -= 1
                found[k], weights[k] = values[j, i], weight
                count += 1
        k = 0
        while k < count - 1 and weights[k] < half:
            half -= weights[k]
            k += 1
        out[y, x] = found[k]


@banded("out", cost=1000)
def weighted_median(
    begin: int,
    end: int,
    values: Array,
    trust: Array,
    image: Array,
    radius: int,
    tone: float,
    out: Array,
) -> None:
    """Medians over square windows, weighted by trust (H, W) and likeness to the middle pixel."""
    for y in range(begin, end):
        _median_row(y, values, trust, image, radius, tone, out)


@compiled(inline="always")
def _dual(value: Any, ahead: Any, bound: Any) -> Any:
    """A step of a dual variable along a difference, kept within its bound."""
    new = min(max(value + _STEP * ahead, -bound), bound)
    return new if abs(new) > _TINY else np.float32(0)


@compiled()
def _dual_row(y: int, links: Array, first: float, second: float, rooms: Array) -> None:
    height, width = links.shape[1:]
    ahead, slope_x, slope_y = rooms[8], rooms[9], rooms[10]
    for x in range(width - 1):
        link = links[0, y, x]
        step = ahead[y, x + 1] - ahead[y, x] - slope_x[y, x]
        rooms[0, y, x] = _dual(rooms[0, y, x], step, first * link)
        step = slope_x[y, x + 1] - slope_x[y, x]
        rooms[2, y, x] = _dual(rooms[2, y, x], step, second * link)
        step = slope_y[y, x + 1] - slope_y[y, x]
        rooms[3, y, x] = _dual(rooms[3, y, x], step, second * link)
    if y + 1 < height:
        for x in range(width):
            link = links[1, y, x]
            step = ahead[y + 1, x] - ahead[y, x] - slope_y[y, x]
            rooms[1, y, x] = _dual(rooms[1, y, x], step, first * link)
            step = slope_x[y + 1, x] - slope_x[y, x]
            rooms[4, y, x] = _dual(rooms[4, y, x], step, second * link)
            step = slope_y[y + 1, x] - slope_y[y, x]
            rooms[5, y, x] = _dual(rooms[5, y, x], step, second * link)


@compiled(inline="always")
def _divergence(across: Array, down: Array, y: int, x: int) -> Any:
    # Links at the right and at the lower border are 0, so wrapping around adds nothing.
    return across[y, x] - across[y, x - 1] + down[y, x] - down[y - 1, x]


@compiled()
def _primal_row(y: int, target: Array, weight: Array, rooms: Array, out: Array) -> None:
    for x in range(out.shape[1]):
        data = _STEP * weight[y, x]
        flow = _divergence(rooms[0], rooms[1], y, x)
        new = (out[y, x] + _STEP * flow + data * target[y, x]) / (np.float32(1) + data)
        rooms[8, y, x] = new + new - out[y, x]
        out[y, x] = new
    for k in range(2):
        for x in range(out.shape[1]):
            flow = rooms[k, y, x] + _divergence(rooms[2 + k], rooms[4 + k], y, x)
            new = rooms[6 + k, y, x] + _STEP * flow
            new = new if abs(new) > _TINY else np.float32(0)
            rooms[9 + k, y, x] = new + new - rooms[6 + k, y, x]
            rooms[6 + k, y, x] = new


@banded("out")
def _dual_step(
    begin: int, end: int, links: Array, first: float, second: float, rooms: Array, out: Array
) -> None:
    for y in range(begin, end):
        _dual_row(y, links, np.float32(first), np.float32(second), rooms)


@banded("out")
def _primal_step(
    begin: int, end: int, target: Array, weight: Array, rooms: Array, out: Array
) -> None:
    for y in range(begin, end):
        _primal_row(y, target, weight, rooms, out)


def smooth_surface(
    target: Array,
    weight: Array,
    links: Array,
    first: float,
    second: float,
    rounds: int,
    rooms: Array,
    out: Array,
) -> None:
    """Second-order total generalised variation: piecewise slanted planes near a target.

    Minimises sum weight (u - target)^2 / 2 + first sum links |grad u - v| + second sum links
    |grad v| over u and v, by primal-dual steps (Chambolle & Pock 2011).

    Args:
        target: (H, W).
        weight: (H, W), 0 where the target says nothing.
        links: (2, H, W) how much a pixel belongs together with the next one to the right, below;
            0 at the right and at the lower border.
        first: Factor of the first sum of links.
        second: Factor of the second.
        rounds: Number of steps.
        rooms: Space for (11, H, W): the dual variables of u along x and y, of v's parts along x,
            and along y; v; then u and v, extrapolated. All 0 except u, which is `out`.
        out: (H, W) the start, then u.
    """
    for _ in range(rounds):
        _dual_step(links, float(first), float(second), rooms, out)
        _primal_step(target, weight, rooms, out)
