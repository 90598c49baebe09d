"""How the numbers that a file or an array stores become values: their scale, and marks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from depthgauge.errors import Misuse, UnknownScale
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map

_MOST_PLAIN = 255
"""Whole numbers up to this may well be metres."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the caller says about the stored numbers of a map."""

    scale: float | None = None
    """Value = stored number * scale, in place of what the file says; None: as the file says."""
    invalid: tuple[float, ...] = ()
    """Stored numbers that mean missing."""

    @property
    def per_unit(self) -> float | None:
        """Stored numbers per unit, as `read_map` has it: 256 for a scale of 1/256."""
        return None if self.scale is None else 1 / self.scale


def parse_scale(given: float | str | None, what: str = "scale") -> float | None:
    """A positive number, or a text such as `1/256`; None stays None.

    Raises:
        Misuse: It is neither; `what` names it in the sentence.

    >>> parse_scale("1/256"), parse_scale(0.001)
    (0.00390625, 0.001)
    """
    if given is None:
        return None
    try:
        found = float(Fraction(given)) if isinstance(given, str) else float(given)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        found = math.nan
    if not 1e-30 <= found <= 1e30:
        raise Misuse(f"{what} is {given!r}; it must be a positive number, such as 0.001 or 1/256.")
    return found


def parse_invalid(given: float | str | Iterable[float | str], what: str) -> tuple[float, ...]:
    """Numbers that mean missing: one, or several.

    Raises:
        Misuse: One of them is no finite number; `what` names it in the sentence.

    >>> parse_invalid("0,-1", "invalid"), parse_invalid(0, "invalid")
    ((0.0, -1.0), (0.0,))
    """
    if isinstance(given, str):
        listed: list[float | str] = [part for part in given.split(",") if part.strip()]
    elif isinstance(given, Iterable):
        listed = list(given)
    else:
        listed = [given]
    try:
        found = tuple(float(value) for value in listed)
    except (ValueError, TypeError):
        found = (math.nan,)
    if not all(math.isfinite(value) for value in found):
        raise Misuse(f"{what} is {given!r}; it must be numbers, such as 0 or 0,-1.")
    return tuple(dict.fromkeys(found))


def without_marks(values: Map, invalid: Sequence[float]) -> Map:
    """The values with NaN for stored numbers that mean missing; a pixel's channels together."""
    for mark in invalid:
        marked = values == np.float32(mark)
        if marked.ndim == 3:
            marked = np.repeat(marked.all(axis=2, keepdims=True), values.shape[2], axis=2)
        if marked.any():
            values = np.where(marked, np.float32(np.nan), values)
    return values


def require_unit(what: str, quantity: str | None, *, plain: bool = False) -> None:
    """Refuses whole numbers of a quantity that people store in several units.

    Args:
        what: The file, or which map of a call.
        quantity: What they are taken for; None where nobody says.
        plain: Whether they may also be values as they are.

    Raises:
        UnknownScale: The quantity has several.
    """
    choices = QUANTITIES[str(quantity)].code_scales if quantity in QUANTITIES else ()
    if len(choices) > 1:
        as_it_is = ((1.0, "values as they are"),) if plain else ()
        raise UnknownScale(what, str(quantity), (*choices, *as_it_is))


def check_unit(what: str, values: Any, quantity: str | None) -> None:
    """Does so for an array of integers that are too large to be values as they are."""
    if values.dtype.kind in "iu" and values.size and values.max() > _MOST_PLAIN:
        require_unit(what, quantity, plain=True)
