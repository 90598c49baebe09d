"""Distances between distributions of values: a numba kernel behind `structure/histograms`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def earth_movers(first: Array, second: Array, out: Array) -> None:
    """The area between the two distribution functions of sorted values into `out[0]`.

    One walk over both: between two neighbouring values, each function is constant.
    """
    n, m = first.size, second.size
    i, j = 0, 0
    total, before = 0.0, min(first[0], second[0])
    while i < n and j < m:
        value = first[i] if first[i] <= second[j] else second[j]
        total += abs(i / n - j / m) * (value - before)
        before = value
        while i < n and first[i] == value:
            i += 1
        while j < m and second[j] == value:
            j += 1
    while i < n:
        total += (1.0 - i / n) * (first[i] - before)
        before = first[i]
        i += 1
    while j < m:
        total += (1.0 - j / m) * (second[j] - before)
        before = second[j]
        j += 1
    out[0] = total
