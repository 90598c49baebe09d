"""Some pixels of an estimate and its truth side by side, and how well they fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge._once import cached_property
from depthgauge.quantities import QUANTITIES, Quantity
from depthgauge.types import Map, Mask

MOST_PIXELS = 4096
ENOUGH_PIXELS = 64
"""Fewer with both truth and estimate tell nothing."""
CLEARLY = 5.0
"""How many times smaller the error of another reading must be."""
_UPPER = 0.8
FITS = 0.1
_MOSTLY_FITS = 0.5
"""An estimate fits as it is where its median error, and that which 80 % of the pixels do not
exceed, are at most these shares of the truth's spread."""
_EXPLAINS = 0.5
"""Another reading must be closer than this share of the spread, or a constant would do."""
_EXACT = 1e-3
"""Of the typical value: an error that is always small enough."""
_SMALLER = 0.7

Values = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What else is known about two maps."""

    quantity_said: bool = True
    """False where it was guessed from the number of channels."""
    align: Literal["none", "median", "scale", "scale_shift"] = "none"
    space: str | None = None
    """In which an alignment is fitted; None: the quantity's own."""
    mask: Mask | None = None
    """Pixels outside do not count."""
    items: Mapping[str, Any] = field(default_factory=dict)
    """What else the sample has; a `rig` makes inverse readings exact."""
    scales: Mapping[str, float] = field(default_factory=dict)
    """What stored numbers were multiplied by, of `estimate` and `truth`; a side is left out where
    nobody could say another scale."""
    low: float = -math.inf
    high: float = math.inf
    """Estimates outside low..high count as missing."""


@lru_cache(maxsize=64)
def sample_places(height: int, width: int) -> NDArray[np.intp]:
    """At most 4,096 pixels of a map, spread evenly, as indices into its rows one after another."""
    n = height * width
    if n <= MOST_PIXELS:
        return np.arange(n)
    golden = (math.sqrt(5) - 1) / 2  # its multiples fill rows and columns without a pattern
    spread = np.arange(1, MOST_PIXELS + 1) * golden % 1.0
    return np.sort((spread * n).astype(np.intp))


def can_judge(declared: Quantity, estimate: Map, truth: Map) -> bool:
    """Whether readings of this quantity are known, and the two maps are of one size."""
    judged = declared.space is not None or declared.error == "length"
    return judged and estimate.shape == truth.shape and declared.main.axes[0] == "y"


def values_at(values: Map, places: NDArray[np.intp]) -> Values:
    """The values of some pixels: (n,), or (n, C)."""
    if values.ndim == 2:
        return values.ravel()[places]
    return values.reshape(-1, values.shape[2])[places]


def only_where(flags: NDArray[np.bool_], values: Values) -> Values:
    """The values of some of the pixels; the others are missing."""
    kept = flags if values.ndim == 1 else flags[:, None]
    return np.where(kept, values, np.float32(np.nan))


def median(values: NDArray[Any]) -> float:
    """The middle value; the upper one of two."""
    middle = values.size // 2
    return float(np.partition(values, middle)[middle])


def _length(difference: Values) -> Values:
    return np.abs(difference) if difference.ndim == 1 else np.hypot(*difference.T)


def compare_pixels(
    estimate: Map, truth: Map, quantity: str, about: Circumstances
) -> Comparison | None:
    """Some pixels of two maps side by side; None where nothing can be told of them."""
    declared = QUANTITIES[quantity]
    if not can_judge(declared, estimate, truth):
        return None
    places = sample_places(*truth.shape[:2])
    pixels = Comparison(values_at(estimate, places), values_at(truth, places), about, declared)
    return pixels if pixels.count >= ENOUGH_PIXELS else None


class ErrorSize(NamedTuple):
    """How large the errors of some pixels are."""

    median: float
    upper: float
    """Which 80 % of the pixels do not exceed; some mistakes spare half of a map."""


_NO_PIXELS = ErrorSize(math.inf, math.inf)


class Comparison:
    """The pixels that are looked at, in the space in which an alignment is fitted."""

    def __init__(self, e: Values, t: Values, about: Circumstances, declared: Quantity) -> None:
        self.about, self.declared = about, declared
        self.kind = about.align
        self.inverse = self.kind != "none" and about.space not in (None, declared.own_space)
        self.sampled = e, t
        self.e, self.t, self._error = self._pair(e)
        self.count = len(self.t)

    def _pair(self, e: Values) -> tuple[Values, Values, Values]:
        """Another estimate beside the truth where both are known, and the error of each pixel."""
        t = self.sampled[1]
        if self.inverse:
            e, t = inverted(e), inverted(t)
        with np.errstate(invalid="ignore", over="ignore"):
            known = np.isfinite(e - t)
        if known.ndim == 2:
            known = known.all(axis=1)
        if not known.all():
            e, t = e[known], t[known]
        return e, t, _length(aligned(e, t, self.kind) - t) if len(t) else t

    @cached_property
    def spread(self) -> float:
        """How far the truth's values are from their mean, on average."""
        return float(_length(self.t - self.t.mean(axis=0)).mean())

    @cached_property
    def varies(self) -> bool:
        """Whether the estimate has more than one value: a constant fits in many readings."""
        return bool((self.e != self.e[:1]).any())

    @cached_property
    def typical(self) -> float:
        """The truth's size."""
        return float(_length(self.t).mean())

    @cached_property
    def present(self) -> ErrorSize:
        """The errors of the estimate as it is read."""
        return _size_of(self._error) if self.count >= ENOUGH_PIXELS else _NO_PIXELS

    @cached_property
    def fits(self) -> bool:
        """Whether the estimate fits as it is, so that no other reading need be tried."""
        # Of errors with this mean, the median and the upper one are small enough: no need to sort.
        if self.count >= ENOUGH_PIXELS and float(self._error.mean()) <= FITS * self.spread:
            return True
        exact = _EXACT * self.typical
        fits = self.present.median <= max(FITS * self.spread, exact)
        return fits and self.present.upper <= max(_MOSTLY_FITS * self.spread, exact)

    def errors_of(self, e: Values) -> ErrorSize:
        """The errors of another reading of the estimate; infinite where it has too few pixels."""
        _, t, error = self._pair(e)
        enough = len(t) >= max(ENOUGH_PIXELS, self.count // 2)
        return _size_of(error) if enough else _NO_PIXELS

    def errors_against(self, other: Comparison) -> ErrorSize:
        """The errors of this estimate against another truth."""
        return Comparison(self.sampled[0], other.sampled[1], self.about, self.declared).present

    def is_beaten_by(self, errors: ErrorSize, other: Comparison | None = None) -> bool:
        """Whether these errors, of a reading or against another truth, are clearly smaller."""
        fitted = other or self
        close = max(_EXPLAINS * fitted.spread, _EXACT * fitted.typical)
        here = self.present
        return errors.median <= min(here.median / CLEARLY, close) or (
            errors.upper <= min(here.upper / CLEARLY, close)
            and errors.median <= _SMALLER * here.median
        )

    def ratio(self) -> float:
        """How many times the truth the estimate is; NaN where that has no meaning."""
        squares = (self.t * self.t).reshape(self.count, -1).sum(axis=1)
        used = squares > 0
        if np.count_nonzero(used) < ENOUGH_PIXELS:
            return math.nan
        products = (self.e * self.t).reshape(self.count, -1).sum(axis=1)
        return median(products[used] / squares[used])


def _size_of(error: Values) -> ErrorSize:
    middle, upper = error.size // 2, int(_UPPER * error.size)
    parts = np.partition(error, (middle, upper))
    return ErrorSize(float(parts[middle]), float(parts[upper]))


def inverted(values: Values) -> Values:
    """1 / x; missing where x is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, 1 / values, np.float32(np.nan)).astype(np.float32)


def aligned(e: Values, t: Values, kind: str) -> Values:
    """An estimate brought to the truth, roughly as the alignment of that kind does it."""
    if kind == "none":
        return e
    if kind == "scale_shift":
        centred = e - e.mean()
        squares = float((centred * centred).sum())
        slope = float((centred * (t - t.mean())).sum()) / squares if squares > 0 else 0.0
        return np.asarray(slope * centred + t.mean(), np.float32)
    middle = median(e)
    # Not with its sign turned: where values must be positive, such estimates are missing.
    return e if middle == 0 else np.asarray(e * abs(median(t) / middle), np.float32)
