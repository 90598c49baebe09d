"""Bounding rectangles that select the rays or points that a shape can affect."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene.frame import Array


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of positions: slopes of rays, or places as the lamp sees them."""

    low: tuple[float, float]
    high: tuple[float, float]

    @classmethod
    def around(cls, positions: Iterable[tuple[float, float]]) -> Window:
        """The smallest window around some positions, with a margin for single precision."""
        x, y = zip(*positions, strict=True)
        room = 1e-5 * (1 + max(map(abs, x + y)))
        return cls((min(x) - room, min(y) - room), (max(x) + room, max(y) + room))


EVERYWHERE = Window((-math.inf, -math.inf), (math.inf, math.inf))


@dataclass(slots=True)
class Positions:
    """Many positions with their bounding rectangle, which decides most windows."""

    x: Array
    y: Array
    _low: tuple[float, float] = field(init=False)
    _high: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self._low = float(self.x.min()), float(self.y.min())
        self._high = float(self.x.max()), float(self.y.max())

    def within(self, window: Window) -> NDArray[np.intp] | slice | None:
        """The index of the positions in a window; None if there are none."""
        if self._apart(window):
            return None
        inside = [
            (values >= low) & (values <= high)
            for values, own_low, own_high, low, high in zip(
                (self.x, self.y), self._low, self._high, window.low, window.high, strict=True
            )
            if own_low < low or own_high > high
        ]
        if not inside:
            return slice(None)
        found = np.flatnonzero(inside[0] & inside[-1])
        return found if found.size else None

    def _apart(self, window: Window) -> bool:
        (left, top), (right, bottom) = self._low, self._high
        return (
            right < window.low[0]
            or window.high[0] < left
            or bottom < window.low[1]
            or window.high[1] < top
        )
