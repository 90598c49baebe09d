"""Backgammon: thin peaks and narrow gaps in front of slanted planes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified import _records as records
from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Pattern, Plane, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import RIM_PX, Region, Scene, VisiblePoints, across

PEAKS = 12
"""Half of the first one belongs to the left rim, which is all foreground."""
REACH_PX = 10.0
"""How far from an edge, along the row, fattening and thinning are measured."""
_FOREGROUND = (0.30, 0.55)
"""At the upper and at the lower border."""
_BACKGROUND = (-1.60, -0.60)
"""In the middle row, at the left and at the right border."""
_VALLEY = 0.15
"""How much nearer the background is at the upper and the lower border."""


@dataclass(frozen=True, slots=True)
class Backgammon(Scene):
    """Peaks of a plane get thinner towards the top, the gaps between them towards the bottom.

    The step of disparity between them grows from right to left.
    """

    gap: Axis = field(default=Axis(0.95, 0.05, 15))
    """Width of the gaps as a share of the distance between peaks, from top to bottom; the bins are
    bands across the image."""

    name: ClassVar[str] = "backgammon"
    optics: ClassVar[Optics] = Optics(30.0, 8.300000190734863)

    def __post_init__(self) -> None:
        self.gap.within("the gap of 'backgammon', a share of the distance between peaks,", 0, 1)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """From the background's far corner to the foreground's near border."""
        return _BACKGROUND[0], _FOREGROUND[1]

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The foreground, and two planes, of which the nearer one is seen: a valley."""
        level, slope_x = across(grid, *_BACKGROUND)
        slope_y = 2 * _VALLEY / grid.size_px
        front, rise = across(grid, *_FOREGROUND)
        comb = Pattern(records.COMB, self._comb(grid.size_px))
        near, left, right = self.paints()
        return [
            Thing(Plane(front, 0.0, rise, comb), near),
            Thing(Plane(level, slope_x, -slope_y), left),
            Thing(Plane(level, slope_x, slope_y), right),
        ]

    def paints(self) -> tuple[Paint, Paint, Paint]:
        """Of the foreground and of both planes behind it."""
        return (
            Paint(tones("#3c3c3c", "#8c8c8a", "#e2e2dc")),
            Paint(tones("#4e0f0c", "#ad372c", "#f28c74")),
            Paint(tones("#0b1d48", "#2b5ba6", "#86b6f0")),
        )

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Foreground and background near each other, and bands from top to bottom."""
        front = seen.surface == 0
        outside = self._outside_px(seen)
        return {
            "foreground": front,
            "background": ~front,
            "foreground_thinning": front & (outside >= -REACH_PX),
            "foreground_fattening": ~front & (outside <= REACH_PX),
            "vertical_bins": seen.over_all(self.gap.bins(seen.down)),
        }

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Gaps in the middles of bands."""
        return {"vertical_bins": self.gap.middles()}

    def _comb(self, size_px: int) -> tuple[float, ...]:
        """First peak, pitch, number, width at the upper border, its growth per px, that border."""
        pitch = (size_px - 2 * RIM_PX) / (PEAKS - 0.5)
        width, growth = pitch * (1 - self.gap.start), -pitch * self.gap.rise / size_px
        return RIM_PX - size_px / 2, pitch, PEAKS, width, growth, -size_px / 2

    def _outside_px(self, seen: VisiblePoints) -> np.ndarray:
        """Distance from the foreground along the row; negative inside it."""
        first, pitch, count, width, growth, top = self._comb(seen.size_px)
        nearest = np.clip(np.floor((seen.x - first) / pitch + 0.5), 0, count - 1)
        aside = np.where(seen.x < first, seen.x - first, np.abs(seen.x - first - nearest * pitch))
        return aside - (width + growth * (seen.y - top)) / 2
