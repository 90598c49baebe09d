"""Glass: a pane in front of a wall, from frosted to clear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Ghost, Plane, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints, across

_PANE, _WALL = (0.4, 0.6), -0.5
_FROST_PX = 8.0
"""How much a frosted pane blurs what is behind it."""
_THROUGH = (0.35, 0.84)
"""Share of the light that comes from the wall, through a frosted and through a clear pane."""
_REFLECTED, _ROOM_M = 0.05, 4.0
"""Share of the light that a pane reflects, and how far behind the cameras the room ends."""


@dataclass(frozen=True, slots=True)
class Glass(Scene):
    """A pane of glass whose surface is the truth, no matter what is seen through it.

    Even where it is clear, there is some dust on it, and a faint reflection.
    """

    clarity: Axis = field(default=Axis(0.0, 1.0, 10))
    """From 0 (frosted) to 1 (clear), from left to right: what comes through gets sharper and
    brighter, and what is on the pane gets fainter."""

    name: ClassVar[str] = "glass"
    optics: ClassVar[Optics] = Optics(12.0, 10.0)

    def __post_init__(self) -> None:
        self.clarity.within("the clarity of 'glass'", 0, 1)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """From the reflected room, behind the wall, to the pane."""
        return self._room_px(grid), _PANE[1]

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The pane; the wall and the reflected room are seen through it and in it."""
        start, rise = self.clarity.start, self.clarity.rise
        more = _THROUGH[1] - _THROUGH[0]
        wall = Ghost(
            Plane(_WALL),
            tones("#2c130a", "#96552e", "#f6cf9a"),
            weight=(_THROUGH[0] + more * start, more * rise),
            blur_px=(_FROST_PX * (1 - start), -_FROST_PX * rise),
        )
        room = Ghost(
            Plane(self._room_px(grid)),
            tones("#000000", "#3c5a78", "#e6f4ff"),
            weight=(_REFLECTED, 0.0),
        )
        level, slope_y = across(grid, *_PANE)
        ice = tones("#46626e", "#a9c6d2", "#ffffff")
        return [Thing(Plane(level, 0.0, slope_y), Paint(ice), (wall, room))]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from left to right, 1 the most frosted."""
        return {"glass_bins": seen.over_all(self.clarity.bins(seen.right))}

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Clarity in the middles of bins."""
        return {"glass_bins": self.clarity.middles()}

    def _room_px(self, grid: Grid) -> float:
        """The mirror image of the room's wall: as far behind the pane as the wall is in front."""
        return grid.disparity_px(2 * grid.depth_m(sum(_PANE) / 2) + _ROOM_M)
