"""Slant: a folded screen whose folds get steeper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Profile, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints

_VALLEYS = -0.4
STEEPEST = 0.245
"""A steeper face would be seen edge-on from four steps aside, the outermost view of a 9x9 grid."""
_PAIR = 2.0
"""How much wider the folds of a pair are than those of a light field, and so how much less steep:
the right image is twice as far away as the outermost views."""
_FOLD_PX = 14.0
"""About the width of a fold, at every size of the image."""


@dataclass(frozen=True, slots=True)
class Slant(Scene):
    """A folded screen without discontinuities, textured everywhere; a bin has folds of one slope.

    Seen from the side, the faces of the steepest folds shrink to a few percent of their width.
    """

    gradient: Axis = field(default=Axis(0.0, 0.24, 10))
    """Gradient of the disparity along x, in px per px, from left to right; one level for each bin,
    whose folds rise and fall by it. In a pair it is half of that for each of its eight steps."""

    name: ClassVar[str] = "slant"
    optics: ClassVar[Optics] = Optics(100.0, 10.0)
    sensor_noise: ClassVar[float] = 5.0

    def __post_init__(self) -> None:
        self.gradient.within("the gradient of 'slant', in px per px,", 0, STEEPEST)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """From the valleys to the highest ridge."""
        steepest = max(self.gradient.start, self.gradient.end)
        fold_px = grid.size_px / self.gradient.count / self._folds(grid.size_px)
        return _VALLEYS, _VALLEYS + steepest * fold_px / 2

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The screen."""
        half, wider = grid.size_px / 2, _PAIR if steps > 1 else 1.0
        count = self._folds(grid.size_px, wider)
        fold = grid.size_px / self.gradient.count / count
        corners, left = [(-2 * half, _VALLEYS)], -half
        for gradient in self.gradient.levels():
            ridge = _VALLEYS + float(gradient) / wider * fold / 2
            for _ in range(count):
                corners += [(left, _VALLEYS), (left + fold / 2, ridge)]
                left += fold
        corners += [(half, _VALLEYS), (2 * half, _VALLEYS)]
        paper = tones("#1f3a36", "#6f9c86", "#f4f0cc")
        return [Thing(Profile(corners, grid), Paint(paper))]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from left to right, 1 the flattest."""
        return {"slant_bins": seen.over_all(self.gradient.bins(seen.right))}

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Gradients of the folds."""
        return {"slant_bins": self.gradient.levels()}

    def _folds(self, size_px: int, wider: float = 1.0) -> int:
        """Folds of a bin."""
        return max(round(size_px / self.gradient.count / (wider * _FOLD_PX)), 1)
