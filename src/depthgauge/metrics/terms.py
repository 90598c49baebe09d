"""Terms: what is summed over the pixels. A pixel metric is a formula over the means of terms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

KINDS = {
    "abs": 0,
    "square": 1,
    "signed": 2,
    "over": 3,
    "over_both": 4,
    "relative": 5,
    "relative_square": 6,
    "log_square": 7,
    "log": 8,
    "log10": 9,
    "beyond": 10,
}
"""The kernel's number of each term; from `relative` on, a term needs the estimate itself."""


SMALLEST = float(np.finfo(np.float32).tiny)
"""A depth, and whatever a logarithm is taken of, is at least this; else it is missing."""


@dataclass(frozen=True, slots=True)
class Term:
    """One value a pixel, of its error e, estimate x and truth g (for flow: lengths)."""

    name: str
    first: float = 0.0
    second: float = 0.0
    worst: float | None = None
    """What a missing pixel contributes where the protocol counts it as bad; None: it cannot."""

    @property
    def kind(self) -> int:
        """The kernel's number of this term."""
        return KINDS[self.name]

    @property
    def positive(self) -> bool:
        """Whether it has no value where the estimate is not positive (a logarithm or a factor)."""
        return self.name in ("log_square", "log", "log10", "beyond")


ABS = Term("abs")
"""|e|"""
ANGLE = Term("abs", worst=180.0)
"""|e| of normals: the angle in degrees, of which 180 is the worst"""
SQUARE = Term("square")
"""e^2"""
SIGNED = Term("signed")
"""e = x - g"""
RELATIVE = Term("relative")
"""|e| / |g|, 0 where e is 0"""
RELATIVE_SQUARE = Term("relative_square")
"""e^2 / |g|, 0 where e is 0"""
LOG_SQUARE = Term("log_square")
"""(ln x - ln g)^2"""
LOG = Term("log")
"""ln x - ln g"""
LOG10 = Term("log10")
"""|log10 x - log10 g|"""


def over(threshold: float) -> Term:
    """1 where not |e| <= threshold, compared in float32 as the maps are."""
    return Term("over", threshold, worst=1.0)


def over_both(threshold: float, share: float) -> Term:
    """1 where |e| > threshold and |e| > share * |g|."""
    return Term("over_both", threshold, share, worst=1.0)


def beyond(ratio: float) -> Term:
    """1 where not max(x / g, g / x) < ratio."""
    return Term("beyond", ratio, worst=1.0)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a pixel metric is made: the terms to sum, and the number that their means give."""

    terms: tuple[Term, ...]
    combine: Callable[..., float]
    """From the terms' means to the score."""
    shown: Term | None = None
    """What an error map shows; the first term unless said otherwise."""
    factor: float | None = 1.0
    """combine(m) = factor * m where the score is a plain mean; None where it is no ratio."""
    from_counts: bool = False
    """`combine` takes the numbers of estimated and of missing pixels instead of means."""
    flipped: bool = False
    """The term counts failures and the score counts successes."""


RULES = ("linear", "floor", "floor_float32")
"""How the place of a quantile among n sorted errors is found."""


@dataclass(frozen=True, slots=True)
class Order:
    """How an order statistic is made: which quantile of |e|, and by which index rule."""

    percent: float
    rule: str = "linear"

    def indices(self, n: int) -> tuple[int, int, float]:
        """Two places in the sorted errors and the weight of the second."""
        if self.rule == "linear":
            place = (n - 1) * self.percent / 100.0
            low = min(int(place), n - 1)
            return low, min(low + 1, n - 1), place - low
        if self.rule == "floor":
            low = int(n * self.percent / 100.0)
        else:
            low = int(np.float32(n) * np.float32(self.percent / 100.0))
        low = min(low, n - 1)
        return low, low, 0.0

    def between(self, low: float, high: float, n: int) -> float:
        """The value from the errors at both places."""
        return low + (high - low) * self.indices(n)[2]


def mean(term: Term, factor: float = 1.0) -> Recipe:
    """The mean of a term, times a factor."""
    return Recipe((term,), lambda m: factor * m, factor=factor)


def root_mean(term: Term, shown: Term | None = None) -> Recipe:
    """The root of the mean of a term."""
    return Recipe((term,), math.sqrt, shown, factor=None)


def percent_without(term: Term) -> Recipe:
    """Percentage of pixels at which a term that is 0 or 1 is 0."""
    return Recipe((term,), lambda m: 100.0 * (1.0 - m), factor=100.0, flipped=True)
