"""Terms: what is summed over the pixels. A pixel metric is a formula over the means of terms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import nearest
from depthgauge.errors import BadDeclaration


class Kind(IntEnum):
    """The terms that the kernel knows; from `RELATIVE` on, a term needs the estimate itself.

    Each has a case in `kernels.terms.term`, which fails to load if one is missing.
    """

    ABS = 0
    SQUARE = 1
    SIGNED = 2
    OVER = 3
    OVER_BOTH = 4
    RELATIVE = 5
    RELATIVE_SQUARE = 6
    LOG_SQUARE = 7
    LOG = 8
    LOG10 = 9
    BEYOND = 10


class ErrorKind(IntEnum):
    """How two values of a pixel are compared; each quantity declares one."""

    DIFFERENCE = 0
    """One number: e = estimate - truth."""
    LENGTH = 1
    """A vector: e is the length of the difference."""
    ANGLE = 2
    """A direction: e is the angle in degrees."""
    CHANNELS = 3
    """Several numbers side by side: e is the mean of their absolute differences."""


ErrorName = Literal["difference", "length", "angle", "channels"]
PixelFunction = Callable[..., Any]
"""`function(error, estimate, truth, *params)` gives one number per pixel. The error is float32
(n,), estimate and truth are (n,) or (n, channels); all of them are finite."""
WeightFunction = Callable[..., NDArray[Any]]
"""Takes the metric's needs by keyword and gives the weight of every pixel, (H, W)."""

LARGEST = float(np.finfo(np.float32).max)
"""The largest value of a map; an estimate beyond it is missing."""
SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest valid depth, and the smallest argument of a logarithm; less is missing."""


@dataclass(frozen=True, slots=True)
class Term:
    """One value per pixel, from its error e, estimate x and truth g (for flow: lengths)."""

    name: str
    """One of `Kind`, or any name if there is a `function`."""
    params: tuple[float, ...] = ()
    worst: float | None = None
    """What a missing pixel contributes if the protocol counts it as bad; None: it cannot."""
    positive: bool = False
    """Whether it has no value if the estimate is not positive (a logarithm or a ratio)."""
    function: PixelFunction | None = None
    """The function of a term that the kernel does not know."""

    def __post_init__(self) -> None:
        known = [kind.name.lower() for kind in Kind]
        if self.function is None and self.name not in known:
            raise BadDeclaration(
                f"no term '{self.name}'. {nearest(self.name, known)} Known: {', '.join(known)}. "
                "Give your own term a function: own(name, function)."
            )

    @property
    def kind(self) -> Kind:
        """The kernel's number of this term.

        Raises:
            BadDeclaration: It is computed by a function.
        """
        if self.function is not None:
            raise BadDeclaration(f"term '{self.name}' is computed by a function, not the kernel.")
        return Kind[self.name.upper()]


ABS = Term("abs")
"""|e|"""
ANGLE = Term("abs", worst=180.0)
"""|e| of normals: the angle in degrees; 180 is the worst"""
SQUARE = Term("square")
"""e^2"""
SIGNED = Term("signed")
"""e = x - g"""
RELATIVE = Term("relative")
"""|e| / |g|, 0 where e is 0"""
RELATIVE_SQUARE = Term("relative_square")
"""e^2 / |g|, 0 where e is 0"""
LOG_SQUARE = Term("log_square", positive=True)
"""(ln x - ln g)^2"""
LOG = Term("log", positive=True)
"""ln x - ln g"""
LOG10 = Term("log10", positive=True)
"""|log10 x - log10 g|"""


def over(threshold: float) -> Term:
    """1 where not |e| <= threshold, compared in float32 as the maps are."""
    return Term("over", (threshold,), worst=1.0)


def over_both(threshold: float, share: float) -> Term:
    """1 where |e| > threshold and |e| > share * |g|."""
    return Term("over_both", (threshold, share), worst=1.0)


def beyond(ratio: float) -> Term:
    """1 where not max(x / g, g / x) < ratio."""
    return Term("beyond", (ratio,), worst=1.0, positive=True)


def own(
    name: str,
    function: PixelFunction,
    *params: float,
    worst: float | None = None,
    positive: bool = False,
) -> Term:
    """A term computed by your own function, in the same pass as all others.

    Args:
        name: The name used in messages.
        function: `function(error, estimate, truth, *params)`, in NumPy or compiled by numba; it is
            called with the pixels of one tile that have an estimate and lie in a region. Define it
            at the top of a module: a term is summed once, no matter how many metrics use it, and
            two terms are equal if their names, functions and numbers are equal.
        params: Its numbers.
        worst: What a missing pixel contributes if the protocol counts it as bad.
        positive: Whether estimates that are not positive are missing.
    """
    return Term(name, params, worst, positive, function)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a pixel metric is computed: the terms to sum, and the number that their means give."""

    terms: tuple[Term, ...]
    combine: Callable[..., float]
    """From the terms' means to the score."""
    shown: Term | None = None
    """What an error map shows; the first term by default."""
    factor: float | None = 1.0
    """combine(m) = factor * m if the score is a plain mean; None if it is not a ratio."""
    from_counts: bool = False
    """`combine` takes the numbers of estimated and of missing pixels instead of means."""
    flipped: bool = False
    """The term counts failures and the score counts successes."""
    weight: str | WeightFunction | None = None
    """Weights of the pixels, which are not negative: the name of a map among the metric's `needs`,
    or a function of what it needs. Then means are weighted, and a missing pixel costs its weight;
    `count` and `missing` stay numbers of pixels."""


RULES = ("linear", "floor", "floor_float32")
"""How the place of a quantile among n sorted errors is found."""


@dataclass(frozen=True, slots=True)
class Order:
    """How an order statistic is computed: which quantile of |e|, and by which index rule."""

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


def mean(term: Term, factor: float = 1.0, weight: str | WeightFunction | None = None) -> Recipe:
    """The mean of a term, times a factor; a weighted mean if there are weights."""
    return Recipe((term,), lambda m: factor * m, factor=factor, weight=weight)


def root_mean(term: Term, shown: Term | None = None) -> Recipe:
    """The root of the mean of a term."""
    return Recipe((term,), math.sqrt, shown, factor=None)


def percent_without(term: Term) -> Recipe:
    """Percentage of pixels at which a term that is 0 or 1 is 0."""
    return Recipe((term,), lambda m: 100.0 * (1.0 - m), factor=100.0, flipped=True)
