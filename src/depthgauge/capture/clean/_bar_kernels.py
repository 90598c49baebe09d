"""Compiled loop over the neighbourhoods of labels: what they say about a label's error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]

_SAME_PX = 1.0
"""Pixels that differ by less are on one surface."""


@banded("out", cost=60, axis=1)
def neighbourhoods(
    begin: int,
    end: int,
    disparity: Array,
    log_variance: Array,
    bends: Array,
    radius: int,
    out: Array,
) -> None:
    """Fills four maps from the window of each known pixel.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        disparity: float32 (H, W), NaN where missing.
        log_variance: float32 (H, W), NaN where unknown.
        bends: float32 (H, W).
        radius: Radius of the window.
        out: float32 (4, H, W). Means of `log_variance` and of `bends` over the window's pixels of
            the same surface; greatest minus least disparity of 3x3 pixels; the place of the value
            between the least and the greatest of the window, 0..1, 0.5 where they are equal.
    """
    height, width = disparity.shape
    for y in range(begin, end):
        for x in range(width):
            here = disparity[y, x]
            if not np.isfinite(here):
                continue
            count, counted, total, bent = 0, 0, 0.0, 0.0
            low, high, near_low, near_high = here, here, here, here
            for v in range(max(0, y - radius), min(height, y + radius + 1)):
                for u in range(max(0, x - radius), min(width, x + radius + 1)):
                    there = disparity[v, u]
                    if not np.isfinite(there):
                        continue
                    low, high = min(low, there), max(high, there)
                    if abs(v - y) <= 1 and abs(u - x) <= 1:
                        near_low, near_high = min(near_low, there), max(near_high, there)
                    if abs(there - here) <= _SAME_PX:
                        count += 1
                        bent += bends[v, u]
                        value = log_variance[v, u]
                        if np.isfinite(value):
                            counted += 1
                            total += value
            out[0, y, x] = total / counted if counted else np.nan
            out[1, y, x] = bent / count
            out[2, y, x] = near_high - near_low
            out[3, y, x] = (here - low) / (high - low) if high > low else 0.5
