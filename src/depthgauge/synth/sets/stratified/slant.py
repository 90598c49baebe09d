"""Slant: a folded screen whose folds get steeper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Profile, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints

_VALLEYS = -0.4
STEEPEST = 0.1
"""A steeper face would be seen edge-on from eight steps aside."""


@dataclass(frozen=True, slots=True)
class Slant(Scene):
    """A screen in which each fold is a bin, without discontinuities and textured everywhere."""

    gradient: Axis = field(default=Axis(0.0, 0.05, 10))
    """Gradient of the disparity along x, in px per px, from left to right; one level for each fold,
    whose left half rises by it and whose right half falls."""

    name: ClassVar[str] = "slant"
    optics: ClassVar[Optics] = Optics(100.0, 10.0)

    def __post_init__(self) -> None:
        self.gradient.within("the gradient of 'slant', in px per px,", 0, STEEPEST)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """From the valleys to the highest ridge."""
        steepest = max(self.gradient.start, self.gradient.end)
        return _VALLEYS, _VALLEYS + steepest * grid.size_px / self.gradient.count / 2

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The screen."""
        half, width = grid.size_px / 2, grid.size_px / self.gradient.count
        corners = [(-2 * half, _VALLEYS)]
        for k, gradient in enumerate(self.gradient.levels()):
            left = -half + k * width
            ridge = _VALLEYS + float(gradient) * width / 2
            corners += [(left, _VALLEYS), (left + width / 2, ridge)]
        corners += [(half, _VALLEYS), (2 * half, _VALLEYS)]
        paper = tones("#1f3a36", "#6f9c86", "#f4f0cc")
        return [Thing(Profile(corners, grid), Paint(paper))]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from left to right, one for each fold, 1 the flattest."""
        return {"slant_bins": seen.over_all(self.gradient.bins(seen.right))}
