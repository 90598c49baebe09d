"""Repetition: a pattern that repeats at shorter and shorter distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Plane, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints, across

_PLANE = (-1.0, 1.0)
_LIMITS = (-1.9, 1.9)
_UNIQUE = 0.15
"""Share of the texture that does not repeat, by which the right place can be recognised."""


@dataclass(frozen=True, slots=True)
class Repetition(Scene):
    """A slanted plane with a regular pattern; if its period is less than the width of the disparity
    range, several disparities fit nearly as well.
    """

    period: Axis = field(default=Axis(3.0, 0.6, 10))
    """Period of the pattern, as a multiple of the disparity range's width, from left to right; one
    level for each bin, each shorter by the same factor."""

    name: ClassVar[str] = "repetition"
    optics: ClassVar[Optics] = Optics(30.0, 10.0)

    def __post_init__(self) -> None:
        self.period.within("the period of 'repetition', in widths of the range,", 0.5, 100)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Wider than the plane, so that it includes other places of the pattern."""
        return _LIMITS

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The plane."""
        low, high = self.disparity_range(grid)
        axis = self.period
        periods = steps * (high - low) * np.geomspace(axis.start, axis.end, axis.count)
        level, slope_y = across(grid, *_PLANE)
        cloth = Paint(
            tones("#141c3a", "#6a78a4", "#fff4e0"),
            periods_px=[float(period) for period in periods],
            unique=_UNIQUE,
        )
        return [Thing(Plane(level, 0.0, slope_y), cloth)]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from left to right, 1 with the longest period."""
        return {"repetition_bins": seen.over_all(self.period.bins(seen.right))}
