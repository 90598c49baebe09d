"""Makes scores of different units and scales comparable.

The cost of a value is d / (d + m): d is its distance from perfect (or from good enough, if the
profile says what that is) and m is the median distance over the methods. It is 0 for a perfect
value, 1/2 for the median method, 2/3 for one twice as far from perfect, and never above 1. If most
methods are nearly perfect, m is at least 5 percentage points, or what is good enough, or half of
the largest d: half a percent is little, even if all others are perfect. So units cancel, factors
count (which ranks would ignore), and one method that fails completely cannot outweigh everything
else (as it would in a mean of scores divided by their median or their maximum).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

_PERCENT = 5.0
"""Percentage points from perfect below which methods are nearly perfect."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the values of one score are measured against."""

    perfect: float
    """What is good enough, if the profile says so; else 0 for errors, 100 % if a higher percentage
    is better, otherwise the best method's value."""
    reach: float
    """The distance from perfect that costs 1/2: the median one, unless that is very small."""
    median: float
    """The median value; of absolute values if `better` is `zero`."""
    better: str

    def cost(self, value: float) -> float:
        """0 perfect, 1/2 the median, 1 the worst possible; NaN if there is no value."""
        distance = self.distance(value)
        if math.isnan(distance):
            return math.nan
        if math.isinf(distance):
            return 1.0
        return distance / (distance + self.reach) if distance else 0.0

    @property
    def median_cost(self) -> float:
        """The cost of the median method: 1/2, or less if it is nearly perfect."""
        return self.cost(self.median)

    def distance(self, value: float) -> float:
        """The distance of a value from perfect; 0 for better values."""
        return _distance(value, self.perfect, self.better)


def make_scale(
    values: Mapping[str, float], better: str, unit: str, enough: float | None = None
) -> Scale:
    """The scale of one score, from the values of all methods that have one.

    Args:
        values: Value of every method, NaN if it has none.
        better: `lower`, `higher` or `zero`.
        unit: Unit of the score.
        enough: The value that is good enough.

    >>> scale = make_scale({"a": 1.0, "b": 2.0, "c": 6.0}, "lower", "px")
    >>> scale.median, scale.cost(2.0), scale.cost(6.0)
    (2.0, 0.5, 0.75)
    >>> make_scale({"a": 90.0, "b": 80.0, "c": 85.0}, "higher", "%")
    Scale(perfect=100.0, reach=15.0, median=85.0, better='higher')
    """
    known = [value for value in values.values() if not math.isnan(value)]
    if not known:
        return Scale(0.0, math.nan, math.nan, better)
    finite = [value for value in known if math.isfinite(value)]
    perfect = _perfect(finite, better, unit) if enough is None else enough
    distances = [_distance(value, perfect, better) for value in known]
    shown = [abs(value) for value in known] if better == "zero" else known
    least = _least(distances, unit, enough)
    reach = max(statistics.median(distances), least)
    return Scale(perfect, reach, statistics.median(shown), better)


def _least(distances: list[float], unit: str, enough: float | None) -> float:
    """The smallest distance from perfect that may cost 1/2."""
    if unit == "%":
        return _PERCENT
    if enough is not None:
        return abs(enough)
    finite = [distance for distance in distances if math.isfinite(distance)]
    return max(finite, default=0.0) / 2 if statistics.median(distances) == 0 else 0.0


def _perfect(known: list[float], better: str, unit: str) -> float:
    """As in the report's radar chart."""
    if better == "higher":
        top = max(known, default=0.0)
        return 100.0 if unit == "%" and top <= 100 else top
    lowest = min(known, default=0.0)
    return lowest if better == "lower" and lowest < 0 else 0.0


def _distance(value: float, perfect: float, better: str) -> float:
    beyond = {"lower": value - perfect, "higher": perfect - value, "zero": abs(value) - perfect}
    return math.nan if math.isnan(value) else max(0.0, beyond[better])
