"""What a pixel's match in the other view says, and the size of its patch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import root

Array = NDArray[Any]

AGREES, UNMATCHED, NEARER, FARTHER = 0, 1, 2, 3


@banded("verdict", cost=10)
def match(
    begin: int,
    end: int,
    disparity: Array,
    other: Array,
    sign: int,
    threshold: float,
    verdict: Array,
) -> None:
    """Compares with the other view at x + sign * d: the one of two pixels that agrees more.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        disparity: (H, W), NaN where missing.
        other: (H, W) of the other view.
        sign: -1 from left to right, 1 from right to left.
        threshold: Smaller differences count as agreement.
        verdict: uint8 (H, W), filled where there is a disparity.
    """
    width = disparity.shape[1]
    for row in range(begin, end):
        for x in range(width):
            d = disparity[row, x]
            if not np.isfinite(d):
                continue
            at = x + sign * np.float64(d)
            verdict[row, x] = UNMATCHED
            if not -0.5 <= at <= width - 0.5:
                continue
            best = np.inf
            for k in range(2):
                u = int(np.floor(at)) + k
                if 0 <= u < width and abs(other[row, u] - d) < abs(best):
                    best = other[row, u] - d
            if np.isfinite(best):
                verdict[row, x] = AGREES
                if best > threshold:
                    verdict[row, x] = NEARER
                elif best < -threshold:
                    verdict[row, x] = FARTHER


@compiled()
def patch_sizes(disparity: Array, difference: float, parents: Array, sizes: Array) -> None:
    """The number of pixels that steps of at most `difference` lead to from each pixel.

    Args:
        disparity: (H, W), NaN where missing.
        difference: Between 4-neighbours of one patch.
        parents: int32 (H * W), 0, 1, 2 ...
        sizes: int32 (H * W), zeros.
    """
    height, width = disparity.shape
    for y in range(height):
        for x in range(width):
            here, i = disparity[y, x], y * width + x
            if x > 0 and abs(disparity[y, x - 1] - here) <= difference:
                a, b = root(parents, i - 1), root(parents, i)
                parents[max(a, b)] = min(a, b)
            if y > 0 and abs(disparity[y - 1, x] - here) <= difference:
                a, b = root(parents, i - width), root(parents, i)
                parents[max(a, b)] = min(a, b)
    for i in range(height * width):
        sizes[root(parents, i)] += 1
    for i in range(height * width - 1, -1, -1):
        sizes[i] = sizes[root(parents, i)]
