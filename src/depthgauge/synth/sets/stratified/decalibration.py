"""Decalibration: views that are shifted against each other along y."""

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
class Decalibration(Scene):
    """A folded screen, seen by cameras with offsets that grow from top to bottom."""

    offset: Axis = field(default=Axis(0.0, 2.0, 10))
    """Offset of views along y in px, from top to bottom: the right image of a pair by all
    of it, views of a grid by random shares from -1 to 1, the centre view not at all."""

    name: ClassVar[str] = "decalibration"
    optics: ClassVar[Optics] = Optics(30.0, 10.0)

    def __post_init__(self) -> None:
        self.offset.within("the offset of 'decalibration', in px,", 0, 20)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Smallest and largest disparity of the screen."""
        return _SCREEN

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The screen, whose folds run along the difficulty."""
        moss = tones("#22301a", "#7c8c4e", "#f4f4c0")
        return [Thing(Profile(folds(grid, *_SCREEN, count=6), grid), Paint(moss))]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from top to bottom, 1 the best calibrated."""
        return {"decalibration_bins": seen.over_all(self.offset.bins(seen.down))}

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Offsets in the middles of bins."""
        return {"decalibration_bins": self.offset.middles()}

    def flaws(self, size_px: int) -> Flaws:
        """Offsets along y."""
        return Flaws(offset_px=self.offset)
