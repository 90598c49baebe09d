"""A difficulty axis: the range of a property, and its number of bins or cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse

MOST = 100
"""Most bins of an axis: numbers fit into eight bits, and bins into an image."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A property that goes from `start` to `end` across the image.

    >>> Axis.of("0:0.2:15")
    Axis(start=0.0, end=0.2, count=15)
    """

    start: float
    """The value in the first bin."""
    end: float
    """The value in the last bin, where a scene is hardest."""
    count: int
    """Number of bins, or of cells that each have one level."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise Misuse(f"an axis goes from a number to a number; found {self}")
        if not 1 <= self.count <= MOST:
            raise Misuse(f"an axis has 1 to {MOST} bins; found {self.count} in '{self}'")

    @classmethod
    def of(cls, given: Any) -> Axis:
        """An axis from `START:END:NUMBER`, from three numbers, or an axis itself.

        Raises:
            Misuse: It is something else.
        """
        if isinstance(given, Axis):
            return given
        parts = given.split(":") if isinstance(given, str) else given
        try:
            start, end, count = parts
            return cls(float(start), float(end), int(count))
        except (TypeError, ValueError) as e:
            if isinstance(e, Misuse):
                raise
            raise Misuse(
                f"an axis is START:END:NUMBER, such as 0:0.2:15; found '{given}'"
            ) from None

    def __str__(self) -> str:
        return f"{self.start:g}:{self.end:g}:{self.count}"

    @property
    def rise(self) -> float:
        """The end minus the start."""
        return self.end - self.start

    def levels(self) -> NDArray[np.float64]:
        """One level for each cell, the first the start and the last the end."""
        return np.linspace(self.start, self.end, self.count)

    def shrinking(self) -> NDArray[np.float64]:
        """One level for each cell, each different by the same factor."""
        return np.geomspace(self.start, self.end, self.count)

    def middles(self) -> NDArray[np.float64]:
        """The level in the middle of each bin, for a property that changes continuously."""
        return self.start + self.rise * (np.arange(self.count) + 0.5) / self.count

    def bins(self, share: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The bin, counted from 1, at shares 0..1 of the way from start to end."""
        found = np.floor(share * self.count).astype(np.int64)
        return (1 + np.clip(found, 0, self.count - 1)).astype(np.uint8)

    def within(self, name: str, low: float, high: float) -> None:
        """Rejects an axis that exceeds the limits.

        Raises:
            Misuse: The axis exceeds them.
        """
        if not (low <= min(self.start, self.end) and max(self.start, self.end) <= high):
            raise Misuse(f"{name} must be from {low:g} to {high:g}; found {self}")
