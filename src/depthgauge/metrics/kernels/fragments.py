"""Connected components within labelled areas, by union-find in two passes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled
from depthgauge.geometry._shared_kernels import root

Array = NDArray[Any]


@compiled()
def components(labels: Array, inside: Array, out: Array) -> int:
    """Numbers the 8-connected pixels of one label that are inside, 1..n; returns n.

    `out` is int32 and all zeros. Numbers follow reading order.
    """
    height, width = labels.shape
    parents = np.zeros(1 + np.sum(inside), np.int32)  # at most every pixel is its own component
    n = 0
    for y in range(height):
        for x in range(width):
            label = labels[y, x]
            if label == 0 or not inside[y, x]:
                continue
            mine = 0
            # The neighbours that were seen before: left, and the three above.
            for k in range(4):
                v, u = (y, x - 1) if k == 0 else (y - 1, x + k - 2)
                if v < 0 or u < 0 or u >= width or labels[v, u] != label or out[v, u] == 0:
                    continue
                other = root(parents, out[v, u])
                if mine == 0:
                    mine = other
                elif other != mine:
                    low, high = min(mine, other), max(mine, other)
                    parents[high] = low
                    mine = low
            if mine == 0:
                n += 1
                parents[n] = n
                mine = n
            out[y, x] = mine
    numbers = np.zeros(n + 1, np.int32)
    found = 0
    for i in range(1, n + 1):
        if parents[i] == i:
            found += 1
            numbers[i] = found
    for y in range(height):
        for x in range(width):
            if out[y, x]:
                out[y, x] = numbers[root(parents, out[y, x])]
    return found
