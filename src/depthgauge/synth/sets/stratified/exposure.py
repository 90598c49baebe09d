"""Exposure: views that are darker than others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Profile, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Flaws, Region, Scene, VisiblePoints, folds

_SCREEN = (-0.7, 0.7)


@dataclass(frozen=True, slots=True)
class Exposure(Scene):
    """A folded screen, seen by cameras whose gains differ more and more from left to right."""

    stops: Axis = field(default=Axis(0.0, 2.0, 10))
    """How much darker views are, in stops (1 halves the light), from left to right: the right image
    of a pair by all of it, views of a grid by random shares, the centre view not at all."""

    name: ClassVar[str] = "exposure"
    optics: ClassVar[Optics] = Optics(30.0, 10.0)

    def __post_init__(self) -> None:
        self.stops.within("the stops of 'exposure'", 0, 8)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Smallest and largest disparity of the screen."""
        return _SCREEN

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The screen, whose folds run along the difficulty."""
        sand = tones("#4a2c10", "#b88a54", "#fff2d6")
        return [Thing(Profile(folds(grid, *_SCREEN, count=6), grid, along_y=True), Paint(sand))]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from left to right, 1 with the least difference."""
        return {"exposure_bins": seen.over_all(self.stops.bins(seen.right))}

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Stops in the middles of bins."""
        return {"exposure_bins": self.stops.middles()}

    def flaws(self, size_px: int) -> Flaws:
        """Gains."""
        return Flaws(stops=self.stops)
