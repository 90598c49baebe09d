"""Loops of the enlargement of a reconstruction, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def enlarge(
    labels: Array,
    wanted: Array,
    small_labels: Array,
    values: Array,
    first_row: int,
    whole_height: int,
    out: Array,
) -> int:
    """Bilinear values of a small map, each taken from pixels of its own surface only.

    Args:
        labels: (h, W): surfaces of a band of the large picture, 0 outside.
        wanted: For each of those numbers, the number of the same surface in the small picture.
        small_labels: (H', W'): surfaces of the small picture.
        values: (H', W', C), finite where there is a surface.
        first_row: Row of the large picture in which the band begins.
        whole_height: Height of the large picture.
        out: (h, W, C), filled; NaN outside.

    Returns:
        The number of pixels for which no pixel of their surface was near; they stay NaN.
    """
    height, width = labels.shape
    small_height, small_width = small_labels.shape
    channels = values.shape[2]
    lost = 0
    for y in range(height):
        at_y = (first_row + y + 0.5) * small_height / whole_height - 0.5
        for x in range(width):
            for c in range(channels):
                out[y, x, c] = np.nan
            number = labels[y, x]
            if number == 0:
                continue
            at_x = (x + 0.5) * small_width / width - 0.5
            for reach in (1, 2, 4):
                total = 0.0
                low_y, low_x = int(np.floor(at_y)) - reach + 1, int(np.floor(at_x)) - reach + 1
                for qy in range(max(0, low_y), min(small_height, low_y + 2 * reach)):
                    for qx in range(max(0, low_x), min(small_width, low_x + 2 * reach)):
                        if small_labels[qy, qx] != wanted[number]:
                            continue
                        weight = max(1e-9, reach - abs(at_y - qy)) * max(
                            1e-9, reach - abs(at_x - qx)
                        )
                        if total == 0.0:
                            for c in range(channels):
                                out[y, x, c] = 0.0
                        total += weight
                        for c in range(channels):
                            out[y, x, c] += weight * values[qy, qx, c]
                if total > 0.0:
                    for c in range(channels):
                        out[y, x, c] /= total
                    break
            else:
                lost += 1
    return lost
