"""Values that may be marks for missing pixels: exactly 0, -1, or the largest, suspiciously often.

A mark is told by its company: where the estimate has a mark, the truth has ordinary values, and the
other way round. The sky of a scene has disparity 0 in both, and a saturated map goes up to its
largest value without a gap: these are values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Note

FEWEST = 16
SHARE = 0.005
"""A rarer value is not a mark that could change a score much."""
MOST_SHARE = 0.99
_WORSE = 5.0
"""How many times larger the median error is at marks than elsewhere."""
_GAP = 1.5
_WIDE_GAP = 10.0
"""How many times the next value a largest value is that stands for something else: a number that
programs use as a mark, or any number. A thin object in front of all others has a gap too."""
_CODES = (32767.0, 65534.0, 65535.0)
_USUAL = (255.0, 999.0, 1023.0, 4095.0, 9999.0, 10000.0, 99999.0, 100000.0, *_CODES)
"""Largest numbers of integer types and round numbers that programs write for nothing."""

Values = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that is probably no value."""

    side: str
    """`estimate` or `truth`."""
    value: float
    pixels: Flags
    """Which of the pixels that were looked at have it."""
    share: float
    """Of the map's known pixels."""

    def note(self, scale: float | None) -> Note:
        """The sentence about it.

        Args:
            scale: The factor of the stored numbers; None if no other could be given.
        """
        arguments = {} if scale is None else {f"{self.side}_invalid": f"{self.value / scale:g}"}
        # Rounded, so that many maps of one kind give one text.
        many = f"About {round(10 * self.share)}0 %" if self.share >= 0.05 else "A few percent"
        largest = self.value > 0
        what = f"its largest value, {self.value:g}" if largest else f"exactly {self.value:g}"
        other = "truth" if self.side == "estimate" else "estimate"
        return Note(
            "holes",
            f"{many} of the {self.side} is {what}, where the {other} has other values: is it a "
            "mark for missing pixels that is scored as a value?",
            "" if arguments else f"Mark the missing pixels of the {self.side} with NaN.",
            arguments,
            {"share": self.share, "value": self.value},
        )


def find_marks(e: Values, t: Values, *, positive: bool) -> list[Mark]:
    """Values of an estimate or a truth that look like marks for missing pixels.

    Args:
        e: Estimates of some pixels.
        t: Their truths.
        positive: Whether values of 0 and below are missing anyway.
    """
    found = []
    for side, values, other in (("estimate", e, t), ("truth", t, e)):
        for value, here in _candidates(values, positive=positive):
            if _is_mark(value, here, values, other):
                share = np.count_nonzero(here) / np.count_nonzero(np.isfinite(values))
                found.append(Mark(side, value, here, float(share)))
    return found


def _candidates(values: Values, *, positive: bool) -> Iterator[tuple[float, Flags]]:
    fewest = max(FEWEST, int(SHARE * values.size))
    least, largest = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    marks = [mark for mark in (0.0, -1.0) if least <= mark <= largest and not positive]
    if largest > 0:
        marks.append(largest)
    for mark in marks:
        here = values == np.float32(mark)
        if fewest <= np.count_nonzero(here) <= MOST_SHARE * values.size:
            yield mark, here


def _is_mark(mark: float, here: Flags, values: Values, other: Values) -> bool:
    rest = values[~here & np.isfinite(values)]
    if rest.size < FEWEST:
        return False
    if mark == -1:
        return bool(rest.min() >= 0)
    gap = _GAP if _is_usual(mark) else _WIDE_GAP
    if mark > 0 and mark < gap * float(rest.max()):
        return False
    return _disagrees(mark, here, values, other)


def _is_usual(mark: float) -> bool:
    """Whether it is a number that programs write for nothing, or a code that was divided."""
    divided = [code / scale for code in _CODES for scale in (64, 256, 1000, 5000)]
    return any(abs(mark - number) <= 1e-5 * number for number in (*_USUAL, *divided))


def _disagrees(mark: float, here: Flags, values: Values, other: Values) -> bool:
    """Whether the other map has ordinary values where this one has the mark."""
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(values - other)
    both = np.isfinite(error)
    at_mark, elsewhere = error[both & here], error[both & ~here]
    if at_mark.size < FEWEST or elsewhere.size < FEWEST:
        return False
    usual = np.abs(values[both & ~here] - np.float32(mark))
    typical = float(np.median(at_mark))
    return typical >= _WORSE * float(np.median(elsewhere)) and typical >= 0.5 * float(
        np.quantile(usual, 0.25)
    )
