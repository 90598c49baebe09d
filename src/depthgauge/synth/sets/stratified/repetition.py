"""Repetition: a texture of which a smaller and smaller share is unique."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Plane, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints, across

_PLANE = (0.4, 0.6)
_LIMITS = (-2.4, 3.4)
LEAST_UNIQUE = 0.001


@dataclass(frozen=True, slots=True)
class Repetition(Scene):
    """A slanted plane with a regular pattern under a texture that does not repeat.

    The pattern fits at three disparities of the range; only the texture tells which one is right.
    """

    unique: Axis = field(default=Axis(1.0, 0.002, 10))
    """Share of the texture that does not repeat, from top to bottom; one level for each bin, each
    smaller by the same factor."""
    period: Axis = field(default=Axis(0.42, 0.42, 1))
    """Period of the pattern, as a multiple of the disparity range's width, from top to bottom; one
    level for each bin, each different by the same factor, or one for all."""

    name: ClassVar[str] = "repetition"
    optics: ClassVar[Optics] = Optics(30.0, 10.0)
    sensor_noise: ClassVar[float] = 5.0

    def __post_init__(self) -> None:
        self.period.within("the period of 'repetition', in widths of the range,", 0.3, 100)
        self.unique.within("the unique share of 'repetition', of the texture,", LEAST_UNIQUE, 1)
        if self.period.count not in (1, self.unique.count):
            raise Misuse(
                "'repetition' has one period, or one for each unique share; found the periods "
                f"{self.period} and the shares {self.unique}"
            )

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Wider than the plane, so that it includes other places of the pattern."""
        return _LIMITS

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The plane."""
        low, high = self.disparity_range(grid)
        shares = self.unique.shrinking()
        periods = steps * (high - low) * np.broadcast_to(self.period.shrinking(), shares.shape)
        cloth = Paint(
            tones("#141c3a", "#6a78a4", "#fff4e0"),
            repeats=list(zip(periods.tolist(), shares.tolist(), strict=True)),
        )
        level, slope_x = across(grid, *_PLANE)
        return [Thing(Plane(level, slope_x), cloth)]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from top to bottom, 1 with the most unique texture."""
        return {"repetition_bins": seen.over_all(self.unique.bins(seen.down))}

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Unique shares of bands."""
        return {"repetition_bins": self.unique.shrinking()}
