"""Dots: tiny objects under the impact of noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.synth.sets.stratified import _records as records
from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import FULL_SIZE_PX, Grid, Optics
from depthgauge.synth.sets.stratified._model import Pattern, Plane, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import (
    RIM_PX,
    Flaws,
    Region,
    Scene,
    VisiblePoints,
    relative,
)

_FOREGROUND, _BACKGROUND = 0.75, -0.55
_MARGIN = 0.04
"""The margin of a cell that belongs to no box, as a share of its width."""
_MOST_CELLS = 30


@dataclass(frozen=True, slots=True)
class Dots(Scene):
    """Cells that differ only in their noise, each with two columns of growing dots."""

    noise: Axis = field(default=Axis(0.0, 0.2, 15))
    """Variance of Gaussian noise, of intensities 0..1, from the upper left cell in reading order;
    one level for each cell."""
    diameter: Axis = field(default=Axis(2.0, 24.0, 10))
    """Diameter of the dots, smallest first, in px of an image of 512; each is larger by the same
    factor."""

    name: ClassVar[str] = "dots"
    optics: ClassVar[Optics] = Optics(200.0, 42.5)

    def __post_init__(self) -> None:
        self.noise.within("the noise of 'dots', a variance of intensities 0..1,", 0, 1)
        self.diameter.within("the diameter of 'dots', in px of 512,", 0.5, 100)
        if self.noise.count > _MOST_CELLS:
            raise Misuse(f"'dots' has 1 to {_MOST_CELLS} cells; found the noise {self.noise}")
        if self.diameter.count < 2 or self.diameter.rise <= 0:
            raise Misuse(
                "the diameter of 'dots' grows from the first of two dots or more; "
                f"found {self.diameter}"
            )
        if min(gap for _, gap in self._columns(FULL_SIZE_PX)) < 2:
            raise Misuse(f"these dots do not fit into their cells; found {self.diameter}")

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Smallest and largest disparity of the wall and of the dots."""
        return _BACKGROUND, _FOREGROUND

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The wall, and a plane that consists only of dots."""
        wide, high = self._cell_px(grid.size_px)
        start = RIM_PX - grid.size_px / 2
        numbers = (start, start, wide, high, self._cells()[0], self.noise.count)
        dots = Pattern(records.DOTS, numbers, self._dots(grid.size_px))
        wall = tones("#4a4d52", "#7e8388", "#c4c9cc")
        yellow = tones("#a06a08", "#f0b428", "#fff2a8")
        return [
            Thing(Plane(_BACKGROUND), Paint(wall)),
            Thing(Plane(_FOREGROUND, pattern=dots), Paint(yellow)),
        ]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Background, dots by their size (1: the smallest), and the cells' insides."""
        dot = seen.surface == 1
        return {
            "background": ~dot,
            "dots_by_size": np.where(dot, seen.part, np.uint8(0)),
            "boxes": self._boxes(seen),
        }

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Noise of cells."""
        return {"boxes": self.noise.levels()}

    def flaws(self, size_px: int) -> Flaws:
        """Noise, everywhere in a cell and in the rim beside it."""
        middles = np.arange(size_px, dtype=np.float64) + 0.5 - size_px / 2
        column, row = self._places(middles, middles, size_px)
        cell = row[:, np.newaxis] * self._cells()[0] + column
        variance = self.noise.levels()[np.minimum(cell, self.noise.count - 1)]
        return Flaws(noise=np.sqrt(variance))

    def _cells(self) -> tuple[int, int]:
        """Columns and rows, about five to three."""
        columns = max(round(math.sqrt(self.noise.count * 5 / 3)), 1)
        return columns, -(-self.noise.count // columns)

    def _cell_px(self, size_px: int) -> tuple[float, float]:
        columns, rows = self._cells()
        return (size_px - 2 * RIM_PX) / columns, (size_px - 2 * RIM_PX) / rows

    def _diameters(self, size_px: int) -> NDArray[np.float64]:
        return np.geomspace(
            relative(self.diameter.start, size_px),
            relative(self.diameter.end, size_px),
            self.diameter.count,
        )

    def _columns(self, size_px: int) -> list[tuple[NDArray[np.float64], float]]:
        """For both columns, the diameters from top to bottom and the space between dots."""
        high = self._cell_px(size_px)[1]
        columns = (self._diameters(size_px)[first::2] for first in (0, 1))
        return [(column, (high - column.sum()) / (column.size + 1)) for column in columns]

    def _dots(self, size_px: int) -> list[tuple[float, float, float]]:
        """Middle and radius of the dots of a cell, smallest first."""
        wide = self._cell_px(size_px)[0]
        found = []
        for at, (diameters, gap) in zip((0.3, 0.68), self._columns(size_px), strict=True):
            down = np.cumsum(diameters + gap) - diameters / 2
            found += [
                (at * wide, float(y), float(d) / 2) for y, d in zip(down, diameters, strict=True)
            ]
        return sorted(found, key=lambda dot: dot[2])

    def _places(
        self, x: NDArray[np.float64], y: NDArray[np.float64], size_px: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells' columns and rows at places; the rim belongs to the nearest."""
        start = RIM_PX - size_px / 2
        column, row = (
            np.clip(np.floor((at - start) / length), 0, count - 1).astype(np.int64)
            for at, length, count in zip((x, y), self._cell_px(size_px), self._cells(), strict=True)
        )
        return column, row

    def _boxes(self, seen: VisiblePoints) -> NDArray[np.uint8]:
        wide, high = self._cell_px(seen.size_px)
        start, margin = RIM_PX - seen.size_px / 2, _MARGIN * wide
        column, row = self._places(seen.x, seen.y, seen.size_px)
        cell = row * self._cells()[0] + column
        in_x = np.abs(seen.x - start - (column + 0.5) * wide) <= wide / 2 - margin
        in_y = np.abs(seen.y - start - (row + 0.5) * high) <= high / 2 - margin
        inside = in_x & in_y & (cell < self.noise.count)
        return np.where(inside, cell + 1, 0).astype(np.uint8)
