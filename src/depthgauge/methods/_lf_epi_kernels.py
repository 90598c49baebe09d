"""Slopes in epipolar-plane images, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from depthgauge._compiled import compiled
from depthgauge.methods._lf_kernels import STRIP
from depthgauge.methods._lf_spline_kernels import FAST, shifted

Array = NDArray[Any]

EDGE, CORE = np.float32(3 / 16), np.float32(10 / 16)  # Scharr's taps
HALF = np.float32(0.5)


@compiled(fastmath=FAST)
def _add_products(along: Array, across: Array, weight: float, sums: Array) -> None:
    ss, sx, xx = sums[0], sums[1], sums[2]
    for x in range(1, along.size - 1):
        a = EDGE * (along[x - 1] + along[x + 1]) + CORE * along[x]
        b = HALF * (across[x + 1] - across[x - 1])
        ss[x] += weight * a * a
        sx[x] += weight * a * b
        xx[x] += weight * b * b


@compiled(fastmath=FAST)
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
                    along[x] = HALF * (after[x] - before[x])
                    across[x] = EDGE * (before[x] + after[x]) + CORE * here[x]
                if v <= middle:
                    _add_products(along, across, reach[v], out[0, :, top + j])
                if v >= middle:
                    _add_products(along, across, reach[v], out[1, :, top + j])


@compiled(parallel=True)
def slope_tensors(
    coefficients: Array, middle: int, shear: float, pad: int, reach: Array, out: Array
) -> None:
    """Products of derivatives along a line of views and along x, at the middle view.

    The views are sheared first, so that points of one disparity stand still. Each derivative is
    smoothed across its direction by the same three taps.

    Args:
        coefficients: (N, C, H, W) splines of a line of views.
        middle: Index of the centre view.
        shear: That disparity, in px a step.
        pad: Px that the farthest shift leads out of the picture, and three more.
        reach: (N,) weight of each view.
        out: (2, 3, H, W) along views squared, mixed, along x squared; of the views up to the
            middle one, and of those from there on.
    """
    height = coefficients.shape[2]
    for s in prange((height + STRIP - 1) // STRIP):
        _tensor_strip(np.int64(s) * STRIP, coefficients, middle, shear, pad, reach, out)


@compiled(parallel=True)
def better_slopes(
    tensor: Array, shear: float, most: float, floor: Array, disparity: Array, confidence: Array
) -> None:
    """Takes over the slopes that are more certain than what was found so far.

    Args:
        tensor: (3, H, W) as `slope_tensors` gives it, smoothed.
        shear: The disparity that was taken out.
        most: Largest slope that is believed.
        floor: (H, W) squared contrast at which certainty is halved.
        disparity: (H, W) found so far.
        confidence: (H, W) 0..1 of that.
    """
    for y in prange(disparity.shape[0]):
        for x in range(disparity.shape[1]):
            ss, sx, xx = tensor[0, y, x], tensor[1, y, x], tensor[2, y, x]
            if xx > 0:
                slope = sx / xx
                # What the slope does not explain of the change from view to view.
                left = max(ss - slope * sx, np.float32(0))
                certain = xx / (xx + floor[y, x] + np.float32(4) * left)
                if abs(slope) <= most and certain > confidence[y, x]:
                    disparity[y, x] = shear + slope
                    confidence[y, x] = certain
