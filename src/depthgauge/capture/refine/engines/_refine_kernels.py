"""Each pixel of the large map from the small map's pixels around it, never across a jump.

Rows do not depend on each other, so the number of threads does not change a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.capture.refine.engines._candidate_kernels import (
    CONFIDENCE,
    DISTANCE,
    SCALE,
    VALUE,
    VARIANCE,
    choose,
    flood,
    heaviest,
    joined,
    mode,
    weigh,
)

Array = NDArray[Any]

_DOWN, _RIGHT = (0, 1, 0, -1), (1, 0, -1, 0)  # to the four neighbours
_WITHIN = 1e-4  # a corner of smaller weight does not count in an interpolation


@banded("rough", cost=10)
def find_rough(
    begin: int, end: int, disparity: Array, jump: float, rough: Array, stair: Array
) -> None:
    """Marks missing pixels and those at a jump, and those in the middle of a stair of jumps."""
    height, width = disparity.shape
    for y in range(begin, end):
        for x in range(width):
            here = disparity[y, x]
            if not np.isfinite(here):
                rough[y, x] = 1
                continue
            for k in range(4):
                v, u = y + _DOWN[k], x + _RIGHT[k]
                inside = 0 <= v < height and 0 <= u < width
                if inside and not joined(disparity, y, x, v, u, jump):
                    rough[y, x] = 1
            if not rough[y, x]:
                continue
            if 0 < x < width - 1:
                stair[y, x] |= _climbs(disparity[y, x - 1], here, disparity[y, x + 1], jump)
            if 0 < y < height - 1:
                stair[y, x] |= _climbs(disparity[y - 1, x], here, disparity[y + 1, x], jump)


@compiled()
def _climbs(before: float, here: float, after: float, jump: float) -> bool:
    """Whether two jumps continue in one direction: a pixel that mixes two surfaces."""
    up, on = here - before, after - here
    return (up > jump and on > jump) or (up < -jump and on < -jump)


@banded("out", axis=1, cost=100)
def enlarge(
    begin: int,
    end: int,
    disparity: Array,
    variance: Array,
    confidence: Array,
    trust: Array,
    small_guide: Array,
    guide: Array,
    busy: Array,
    numbers: Array,
    out: Array,
) -> None:
    """Fills `out` (4, H, W): disparity, variance, confidence, density share of the chosen mode.

    The last is NaN where there was only one candidate.

    All values stay in pixels of the small map.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        disparity: (h, w), NaN where missing.
        variance: (h, w), NaN where unknown.
        confidence: (h, w).
        trust: (h, w), weight of each pixel's value.
        small_guide: (h, w, C).
        guide: (H, W, C).
        busy: (h, w), 0 where no jump and no missing pixel is within the radius.
        numbers: jump, radius, colour sigma, least scale of a mode, farthest filled distance.
        out: All NaN.
    """
    height, width = guide.shape[:2]
    h, w = disparity.shape
    maps = (disparity, variance, confidence, trust)
    jump, radius = numbers[0], int(numbers[1])
    size = 2 * radius + 1
    for row in range(begin, end):
        label = np.zeros((size, size), np.int32)
        weight = np.zeros((size, size), np.float64)
        queue = np.zeros(size * size, np.int32)
        totals = np.zeros(size * size + 1, np.float64)
        modes = np.zeros((2, 5), np.float64)
        picked = np.zeros(3, np.float64)
        sy = (row + 0.5) * h / height - 0.5
        top = min(max(int(np.floor(sy)), 0), h - 2)
        cy = min(max(int(np.floor(sy + 0.5)), 0), h - 1)
        for x in range(width):
            sx = (x + 0.5) * w / width - 0.5
            left = min(max(int(np.floor(sx)), 0), w - 2)
            cx = min(max(int(np.floor(sx + 0.5)), 0), w - 1)
            if not busy[cy, cx]:
                _interpolate(disparity, variance, confidence, top, left, sy, sx, picked)
                out[0, row, x], out[1, row, x], out[2, row, x] = picked[0], picked[1], picked[2]
                continue
            if not np.isfinite(disparity[cy, cx]) and numbers[4] <= 0.0:
                continue
            flood(disparity, cy, cx, radius, jump, label, queue)
            weigh(trust, small_guide, guide[row, x], sy, sx, cy, cx, numbers[2], label, weight)
            first, second = heaviest(label, weight, totals)
            if first == 0:
                continue
            for k in range(2):
                number = first if k == 0 else second
                if number > 0:
                    mode(maps, sy, sx, cy, cx, number, label, jump, modes[k])
            share = 1.0
            if second > 0:
                share = totals[first] / (totals[first] + totals[second])
            best, certainty = choose(modes, share, numbers[3], second > 0)
            number = first if best == 0 else second
            if _covers(label, number, top, left, sy, sx, cy, cx):
                _interpolate(disparity, variance, confidence, top, left, sy, sx, picked)
            else:
                chosen = modes[best]
                picked[0] = chosen[VALUE]
                picked[1] = chosen[VARIANCE] + chosen[SCALE] ** 2
                # What is mixed in the measured pixel remains, whichever surface is chosen.
                picked[2] = min(chosen[CONFIDENCE] * certainty, _own(confidence[cy, cx]))
                if not np.isfinite(disparity[cy, cx]):
                    if chosen[DISTANCE] > numbers[4]:
                        continue
                    # Not measured: a surface may bend by a quarter of a pixel per pixel.
                    picked[1] += (0.25 * (1.0 + chosen[DISTANCE])) ** 2
                    picked[2] *= 0.5
            out[0, row, x], out[1, row, x], out[2, row, x] = picked[0], picked[1], picked[2]
            if second > 0:
                out[3, row, x] = certainty


@compiled()
def _interpolate(
    disparity: Array,
    variance: Array,
    confidence: Array,
    top: int,
    left: int,
    sy: float,
    sx: float,
    picked: Array,
) -> None:
    """Bilinear; at the border it is extrapolated linearly, so that planes stay planes."""
    picked[:] = 0.0
    for k in range(4):
        v, u = top + k // 2, left + k % 2
        share = (1.0 - abs(sy - v)) if _between(sy, top) else _beyond(sy, top, v)
        share *= (1.0 - abs(sx - u)) if _between(sx, left) else _beyond(sx, left, u)
        if abs(share) > _WITHIN:
            picked[0] += share * disparity[v, u]
            picked[1] += abs(share) * variance[v, u]
            picked[2] += share * confidence[v, u]
    picked[2] = min(max(picked[2], 0.0), 1.0)


@compiled()
def _own(confidence: float) -> float:
    return float(confidence) if np.isfinite(confidence) else 1.0


@compiled()
def _between(s: float, first: int) -> bool:
    return first <= s <= first + 1


@compiled()
def _beyond(s: float, first: int, at: int) -> float:
    """The share of one of two pixels in a position outside them, on the line through both."""
    return (first + 1 - s) if at == first else (s - first)


@compiled()
def _covers(
    label: Array, number: int, top: int, left: int, sy: float, sx: float, cy: int, cx: int
) -> bool:
    """Whether all pixels of an interpolation belong to one surface."""
    radius = label.shape[0] // 2
    for k in range(4):
        v, u = top + k // 2, left + k % 2
        share = (1.0 - abs(sy - v)) if _between(sy, top) else _beyond(sy, top, v)
        share *= (1.0 - abs(sx - u)) if _between(sx, left) else _beyond(sx, left, u)
        if abs(share) > _WITHIN and label[v - cy + radius, u - cx + radius] != number:
            return False
    return True
