"""Pixels that estimated and true planes share: the numba kernel behind `planes.py`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def count_shared(estimate: Array, columns: Array, shared: Array, scores: Array) -> None:
    """Counts the pixels of each instance on each true plane, and its highest confidence.

    Args:
        estimate: (H, W, N), above 0 at the pixels of an instance.
        columns: (H, W) the true plane of each pixel, -1 outside the region.
        shared: (N, planes), filled.
        scores: (N,), filled.
    """
    for y in range(columns.shape[0]):
        for x in range(columns.shape[1]):
            column = columns[y, x]
            if column < 0:
                continue
            for k in range(estimate.shape[2]):
                value = estimate[y, x, k]
                if value > 0:
                    shared[k, column] += 1
                    scores[k] = max(scores[k], value)
