"""The interface of stratified scenes, and helpers that several share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import FULL_SIZE_PX, Grid, Optics
from depthgauge.synth.sets.stratified._model import Thing
from depthgauge.types import Mask

REVISION = 2
"""Raised whenever the generator may give other bytes."""
RIM_PX = 16
"""One more than the 15 px border that evaluators leave out; at every size, since the public toolkit
reads disparities at fixed columns of it."""
_NOTHING = Axis(0.0, 0.0, 1)
Region = Mask | NDArray[np.uint8]
"""A mask, or a map with the number of the bin, cell or size, 0 for none."""


@dataclass(frozen=True, slots=True)
class VisiblePoints:
    """What the centre view sees at the middles of pixels, or of smaller ones."""

    surface: NDArray[np.uint8]
    """Which thing of the scene."""
    part: NDArray[np.uint8]
    """Which part of it."""
    x: NDArray[np.float64]
    """(1, W) px of the image to the right of its middle."""
    y: NDArray[np.float64]
    """(H, 1) px of the image below its middle."""
    size_px: int
    """Size of the whole image."""

    @property
    def right(self) -> NDArray[np.float64]:
        """(1, W) share of the way from the left border to the right one."""
        return self.x / self.size_px + 0.5

    @property
    def down(self) -> NDArray[np.float64]:
        """(H, 1) share of the way from the upper border to the lower one."""
        return self.y / self.size_px + 0.5

    def over_all(self, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A row or a column of numbers, repeated for the whole map."""
        return np.ascontiguousarray(np.broadcast_to(values, self.surface.shape))


@dataclass(frozen=True, slots=True)
class View:
    """A camera of the grid with its flaws."""

    right: float = 0.0
    """Steps to the right of the centre view."""
    down: float = 0.0
    """Steps below it."""
    shift_px: float = 0.0
    """Shift of its image to the left, in addition to that of the focus plane."""
    offset_px: tuple[float, float] = (0.0, 0.0)
    """How far it is off along y at the upper border, and how much more at the lower one."""
    stops: tuple[float, float] = (0.0, 0.0)
    """Its gain at the left border, and how much more at the right one."""

    def numbers(self) -> NDArray[np.float64]:
        """As the kernels read it."""
        return np.array([self.right, self.down, self.shift_px])


@dataclass(frozen=True, slots=True)
class Flaws:
    """Flaws of the cameras, which grow across the image."""

    offset_px: Axis | None = None
    """Views are shifted along y by up to this, from the upper border to the lower one."""
    stops: Axis | None = None
    """Views are darker by up to this, from the left border to the right one."""
    noise: NDArray[np.float64] | None = None
    """Standard deviation (H, W) of the images' noise, where intensities are 0..1."""

    def view(
        self, right: float, down: float, off: float, darker: float, shift_px: float = 0.0
    ) -> View:
        """A camera of the grid.

        Args:
            right: Steps to the right of the centre.
            down: Steps below it.
            off: Its share of the vertical offset, -1 to 1.
            darker: Its share of the difference in gain, 0 to 1.
            shift_px: How far its image is shifted.
        """
        offset, stops = self.offset_px or _NOTHING, self.stops or _NOTHING
        return View(
            right,
            down,
            shift_px,
            (off * offset.start, off * offset.rise),
            (-darker * stops.start, -darker * stops.rise),
        )


class Scene(ABC):
    """One challenge that grows across the image. Scenes are frozen dataclasses of their axes."""

    name: ClassVar[str]
    optics: ClassVar[Optics]
    sensor_noise: ClassVar[float] = 0.0
    """Standard deviation of the sensors' noise in grey levels, unless another one is asked for."""

    @abstractmethod
    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """The smallest and the largest disparity that a method should consider."""

    @abstractmethod
    def things(self, grid: Grid, steps: float) -> Sequence[Thing]:
        """The surfaces.

        Args:
            grid: The cameras.
            steps: Baselines between the views that are matched: 1 in a light field.
        """

    @abstractmethod
    def regions(self, seen: VisiblePoints) -> Mapping[str, Region]:
        """Masks and numbered regions by the names that they have in the benchmark's files."""

    def levels(self) -> Mapping[str, NDArray[np.float64]]:
        """The property in each bin, from the first on, by the name of the numbered region."""
        return {}

    def flaws(self, size_px: int) -> Flaws:
        """Flaws of the cameras."""
        return Flaws()

    def seed(self, seed: int) -> tuple[int, ...]:
        """A seed that differs between scenes, so that no two look alike."""
        return seed, *self.name.encode()

    def disparity_range(self, grid: Grid) -> tuple[float, float]:
        """The limits in tenths with a margin, by the rule of the benchmark's own generator."""
        low, high = self.limits_px(grid)
        return round(math.floor(low * 10) / 10 - 0.1, 1), round(math.ceil(high * 10) / 10 + 0.1, 1)


def relative(length_px: float, size_px: int) -> float:
    """A length that is given for images of 512 px, in px of another size."""
    return length_px * size_px / FULL_SIZE_PX


def across(grid: Grid, first: float, last: float) -> tuple[float, float]:
    """Level in the middle and slope of a disparity that goes from border to border."""
    return (first + last) / 2, (last - first) / grid.size_px


def folds(grid: Grid, low: float, high: float, count: int) -> list[tuple[float, float]]:
    """Corners of a screen with `count` equal folds, beyond the borders too."""
    width = grid.size_px / count
    first, last = -2 - count // 2, count - count // 2 + 2
    return [(k * width, high if k % 2 else low) for k in range(first, last + 1)]
