"""Cleaning and smoothing of disparity maps, guided by a picture, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from depthgauge._compiled import compiled
from depthgauge.methods._lf_kernels import likeness
from depthgauge.methods._lf_spline_kernels import FAST

Array = NDArray[Any]

STEP = np.float32(1 / math.sqrt(12.0))  # of the primal-dual scheme: its operator's norm is below 12
TINY = np.float32(1e-12)  # less is 0: processors are slow with numbers below 1e-38
ROOMS, AHEAD = 11, 8  # maps that the scheme needs, and the place of the extrapolated surface


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
                weight = trust[j, i] * likeness(image, y, x, j, i, tone)
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


@compiled(parallel=True)
def weighted_median(
    values: Array, trust: Array, image: Array, radius: int, tone: float, out: Array
) -> None:
    """Medians over square windows, weighted by trust (H, W) and likeness to the middle pixel."""
    for y in prange(values.shape[0]):
        _median_row(np.int64(y), values, trust, image, radius, tone, out)


@compiled(fastmath=FAST, inline="always")
def _dual(value: Any, ahead: Any, bound: Any) -> Any:
    """A step of a dual variable along a difference, kept within its bound."""
    new = min(max(value + STEP * ahead, -bound), bound)
    return new if abs(new) > TINY else np.float32(0)


@compiled(fastmath=FAST)
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


@compiled(fastmath=FAST, inline="always")
def _divergence(across: Array, down: Array, y: int, x: int) -> Any:
    # Links at the right and at the lower border are 0, so wrapping around adds nothing.
    return across[y, x] - across[y, x - 1] + down[y, x] - down[y - 1, x]


@compiled(fastmath=FAST)
def _primal_row(y: int, target: Array, weight: Array, rooms: Array, out: Array) -> None:
    for x in range(out.shape[1]):
        data = STEP * weight[y, x]
        flow = _divergence(rooms[0], rooms[1], y, x)
        new = (out[y, x] + STEP * flow + data * target[y, x]) / (np.float32(1) + data)
        rooms[8, y, x] = new + new - out[y, x]
        out[y, x] = new
    for k in range(2):
        for x in range(out.shape[1]):
            flow = rooms[k, y, x] + _divergence(rooms[2 + k], rooms[4 + k], y, x)
            new = rooms[6 + k, y, x] + STEP * flow
            new = new if abs(new) > TINY else np.float32(0)
            rooms[9 + k, y, x] = new + new - rooms[6 + k, y, x]
            rooms[6 + k, y, x] = new


@compiled(parallel=True)
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
        rooms: Room for (11, H, W): the dual variables of u along x and y, of v's parts along x, and
            along y; v; then u and v, extrapolated. All 0 but for u, which is `out`.
        out: (H, W) where to start from, then u.
    """
    height = len(target)
    for _ in range(rounds):
        for y in prange(height):
            _dual_row(np.int64(y), links, np.float32(first), np.float32(second), rooms)
        for y in prange(height):
            _primal_row(np.int64(y), target, weight, rooms, out)
