"""Tables whose cells are coloured by how bad a value is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.engine.scoring.pool import rank_key


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with the strength of its colour."""

    text: str
    heat: str = "0"
    """0 (good) to 1 (bad)."""
    mark: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class HeatTable:
    """A table of numbers."""

    title: str
    corner: str
    heads: Sequence[str]
    sort: str
    rows: Sequence[tuple[str, Sequence[Cell]]]
    kind: str = ""
    """`chance`: colours of likelihood instead of badness."""


def heat_of(values: Sequence[Sequence[float]], better: str) -> list[list[float]]:
    """How bad each value is: 0 for the best of the table, 1 from the worst twentieth on.

    >>> heat_of([[1.0, 2.0], [3.0, float("nan")]], "lower")
    [[0.0, 0.5], [1.0, 0.0]]
    """
    keys = sorted(rank_key(v, better) for row in values for v in row if math.isfinite(v))
    if not keys:
        return [[0.0 for _ in row] for row in values]
    low, high = keys[0], keys[min(len(keys) - 1, math.ceil(0.95 * (len(keys) - 1)))]
    reach = (high - low) or 1.0

    def strength(value: float) -> float:
        if math.isnan(value):
            return 0.0
        return min(1.0, max(0.0, (rank_key(value, better) - low) / reach))

    return [[strength(value) for value in row] for row in values]
