"""From the views of a light field to costs and slopes, compiled.

Pictures are planes (channel, row, column), a cost volume is (row, column, disparity). Work is split
into strips of rows that write to separate places, so the number of threads does not change a bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._spline_kernels import GAIN, mirrored, spline_filter, spline_taps

Array = NDArray[Any]

STRIP = 16  # rows whose views stay in the second-level cache
_NO_GAIN = np.float32(1)
_EDGE, _CORE, _HALF = np.float32(3 / 16), np.float32(10 / 16), np.float32(0.5)  # Scharr's taps

# Interpolation.


@banded("planes")
def spline_coefficients(begin: int, end: int, planes: Array) -> None:
    """Turns (N, H, W) pictures into coefficients of the cubic B-splines through their pixels."""
    for p in range(begin, end):
        for top in range(0, planes.shape[1], STRIP):  # rows side by side, as each needs itself
            spline_filter(planes[p, top : top + STRIP].T, _NO_GAIN)
        spline_filter(planes[p], GAIN * GAIN)  # of both axes, in one multiplication


@compiled()
def _taps(t: float) -> Any:
    """Weights of four neighbouring coefficients at a fraction t of a pixel."""
    first, second, third, last = spline_taps(t)
    return np.float32(first), np.float32(second), np.float32(third), np.float32(last)


@compiled()
def shifted(
    coefficients: Array, right: float, down: float, top: int, rows: int, line: Array, out: Array
) -> None:
    """Rows of a picture, each pixel read at a shifted place; beyond its borders it is mirrored.

    Args:
        coefficients: (H, W) spline.
        right: Shift to the right in px.
        down: Shift down in px.
        top: First row.
        rows: Number of rows.
        line: Space for a row plus, on both sides, the shift and three more pixels.
        out: (rows, W).
    """
    height, width = coefficients.shape
    pad = (line.size - width) // 2
    whole_x, whole_y = math.floor(right), math.floor(down)
    a0, a1, a2, a3 = _taps(down - whole_y)
    b0, b1, b2, b3 = _taps(right - whole_x)
    for j in range(rows):
        y = top + j + whole_y
        r0 = coefficients[mirrored(y - 1, height)]
        r1 = coefficients[mirrored(y, height)]
        r2 = coefficients[mirrored(y + 1, height)]
        r3 = coefficients[mirrored(y + 2, height)]
        for x in range(width):
            line[pad + x] = a0 * r0[x] + a1 * r1[x] + a2 * r2[x] + a3 * r3[x]
        for x in range(pad):
            line[pad - 1 - x] = line[pad + min(x + 1, width - 1)]
            line[pad + width + x] = line[pad + max(width - 2 - x, 0)]
        source = line[pad + whole_x - 1 : pad + whole_x + width + 2]
        row = out[j]
        for x in range(width):
            row[x] = b0 * source[x] + b1 * source[x + 1] + b2 * source[x + 2] + b3 * source[x + 3]


# The cost volume.


@compiled()
def _differences(delta: Array, centre: Array, top: int, rows: int, grey: Array) -> None:
    """Subtracts the centre view from a shifted one; `grey` gets the mean over the channels."""
    channels, height, width = centre.shape
    share = np.float32(1) / np.float32(channels)
    for j in range(rows):
        mean = grey[j]
        for x in range(width):
            mean[x + 1] = 0
        for c in range(channels):
            row, middle = delta[c, j], centre[c, mirrored(top + j, height)]
            for x in range(width):
                row[x] -= middle[x]
                mean[x + 1] += share * row[x]
        mean[0], mean[width + 1] = mean[1], mean[width]


@compiled()
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


@compiled()
def _add(total: Array, more: Array) -> None:
    for x in range(total.size):
        total[x] += more[x]


@compiled()
def _best_part(
    sums: Array, j: int, parts: Array, factors: Array, doubt: Array, part: Array, best: Array
) -> None:
    """The smallest mean over a part of the views; the first part is all of them."""
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


@compiled()
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


@banded("out", step=STRIP, cost=200)
def sweep(
    begin: int,
    end: int,
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
    """How much the views differ from the centre view, for every pixel and disparity.

    Costs of views are summed in bins, and bins form parts of the light field; the part that
    agrees best counts.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        coefficients: (V, C, H, W) splines of the views.
        centre: (C, H, W) the centre view.
        steps: (V, 2) of the views to the right and down.
        bins: (V, 2) of each view; negative: none. Views without a first bin are left out.
        parts: (P, B) which bins make up a part; the first part is all views.
        factors: (P,) of the sums of costs in a part.
        disparities: (D,) px per step.
        pad: Px by which the farthest shift leaves the picture, plus three.
        doubt: (H, W) by how much another part must be better than all views.
        how: Largest difference of colour that counts, of gradients, and the gradients' share.
        out: (H, W, D).
    """
    for top in range(begin, end, STRIP):
        _sweep_strip(
            top,
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


# Slopes.


@compiled()
def _add_products(along: Array, across: Array, weight: float, sums: Array) -> None:
    ss, sx, xx = sums[0], sums[1], sums[2]
    for x in range(1, along.size - 1):
        a = _EDGE * (along[x - 1] + along[x + 1]) + _CORE * along[x]
        b = _HALF * (across[x + 1] - across[x - 1])
        ss[x] += weight * a * a
        sx[x] += weight * a * b
        xx[x] += weight * b * b


@compiled()
def _tensor_strip(
    top: int, coefficients: Array, middle: int, shear: float, pad: int, reach: Array, out: Array
) -> None:
    views, channels, height, width = coefficients.shape
    rows = min(STRIP, height - top)
    line = np.zeros(width + 2 * pad, np.float32)
    stack = np.zeros((views, STRIP, width), np.float32)
    along = np.zeros(width, np.float32)
    across = np.zeros(width, np.float32)
    out[:, :, top : top + rows] = 0
    for c in range(channels):
        for v in range(views):
            right = -shear * (v - middle)
            shifted(coefficients[v, c], right, 0.0, top, rows, line, stack[v])
        for v in range(1, views - 1):
            for j in range(rows):
                before, here, after = stack[v - 1, j], stack[v, j], stack[v + 1, j]
                for x in range(width):
                    along[x] = _HALF * (after[x] - before[x])
                    across[x] = _EDGE * (before[x] + after[x]) + _CORE * here[x]
                if v <= middle:
                    _add_products(along, across, reach[v], out[0, :, top + j])
                if v >= middle:
                    _add_products(along, across, reach[v], out[1, :, top + j])


@banded("out", axis=2, step=STRIP, cost=20)
def slope_tensors(
    begin: int,
    end: int,
    coefficients: Array,
    middle: int,
    shear: float,
    pad: int,
    reach: Array,
    out: Array,
) -> None:
    """Products of derivatives along a line of views and along x, at the middle view.

    The views are sheared first, so that points of one disparity stand still. Each derivative is
    smoothed across its direction by the same three taps.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        coefficients: (N, C, H, W) splines of a line of views.
        middle: Index of the centre view.
        shear: That disparity, in px per step.
        pad: Px by which the farthest shift leaves the picture, plus three.
        reach: (N,) weight of each view.
        out: (2, 3, H, W) along views squared, mixed, along x squared; of the views up to the
            middle one, and of those from there on.
    """
    for top in range(begin, end, STRIP):
        _tensor_strip(top, coefficients, middle, shear, pad, reach, out)


@banded("disparity")
def better_slopes(
    begin: int,
    end: int,
    tensor: Array,
    shear: float,
    most: float,
    floor: Array,
    disparity: Array,
    confidence: Array,
) -> None:
    """Takes the slopes that are more certain than those found so far.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        tensor: (3, H, W) as `slope_tensors` gives it, smoothed.
        shear: The disparity that was removed.
        most: Largest slope that is accepted.
        floor: (H, W) squared contrast at which certainty is halved.
        disparity: (H, W) found so far.
        confidence: (H, W) 0..1 of that.
    """
    for y in range(begin, end):
        for x in range(disparity.shape[1]):
            ss, sx, xx = tensor[0, y, x], tensor[1, y, x], tensor[2, y, x]
            if xx > 0:
                slope = sx / xx
                # The part of the change from view to view that the slope does not explain.
                left = max(ss - slope * sx, np.float32(0))
                certain = xx / (xx + floor[y, x] + np.float32(4) * left)
                if abs(slope) <= most and certain > confidence[y, x]:
                    disparity[y, x] = shear + slope
                    confidence[y, x] = certain
