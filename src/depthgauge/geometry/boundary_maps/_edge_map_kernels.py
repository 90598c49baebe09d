"""Non-maximum suppression of maps of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]


@compiled()
def _between(values: Array, x: float, y: float) -> Any:
    """A map's value between pixels; beyond the border, that of the border."""
    height, width = values.shape
    x = min(max(x, 0.0), max(width - 1.001, 0.0))
    y = min(max(y, 0.0), max(height - 1.001, 0.0))
    left, top = int(x), int(y)
    right, bottom = min(left + 1, width - 1), min(top + 1, height - 1)
    across, down = np.float32(x - left), np.float32(y - top)
    back, up = np.float32(1) - across, np.float32(1) - down
    return (
        values[top, left] * back * up
        + values[top, right] * across * up
        + values[bottom, left] * back * down
        + values[bottom, right] * across * down
    )


@banded("kept", cost=20)
def suppress(
    begin: int, end: int, values: Array, across: Array, reach: int, margin: float, kept: Array
) -> None:
    """Keeps pixels that no pixel across the edge exceeds by more than the margin.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        values: (H, W) float32.
        across: (H, W) float32, the direction across the edge, radians from x towards y.
        reach: Distance in px to both sides.
        margin: Factor on the pixel's own value.
        kept: (H, W) zeros; becomes the value where it is kept.
    """
    width = values.shape[1]
    for y in range(begin, end):
        for x in range(width):
            own = values[y, x]
            if own == 0:
                continue
            raised = own * np.float32(margin)
            cosine, sine = np.cos(across[y, x]), np.sin(across[y, x])
            largest = True
            for d in range(-reach, reach + 1):
                if d != 0 and raised < _between(values, x + d * cosine, y + d * sine):
                    largest = False
                    break
            if largest:
                kept[y, x] = own
