"""Stripes: texture and contrast at occlusions."""

from __future__ import annotations

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
from depthgauge.synth.sets.stratified._scene import RIM_PX, Region, Scene, VisiblePoints

_FOREGROUND, _BACKGROUND = 0.45, -0.15
REACH_PX = 3.0
"""How far from a stripe's edge the views of a 9x9 grid occlude: 4 steps of 0.6 px, and a margin."""
_WALL_PX = 2.5
"""The same with hardly a margin: how far the bins of the wall are from stripes."""


@dataclass(frozen=True, slots=True)
class Stripes(Scene):
    """Dark and bright stripes in front of a grey wall; the bright ones hardly differ from it."""

    stripe_texture: Axis = field(default=Axis(1.0, 0.03, 15))
    """Contrast of the stripes' texture, from top to bottom."""
    background_texture: Axis = field(default=Axis(1.0, 0.03, 18))
    """Contrast of the wall's texture, from right to left. The number is that of the bands between
    stripes: there is one fewer stripe."""

    name: ClassVar[str] = "stripes"
    optics: ClassVar[Optics] = Optics(30.0, 10.0)
    sensor_noise: ClassVar[float] = 5.0

    def __post_init__(self) -> None:
        for axis in ("stripe", "background"):
            self_axis: Axis = getattr(self, f"{axis}_texture")
            self_axis.within(f"the {axis} texture of 'stripes', a contrast,", 0, 1)
        if not 3 <= self.background_texture.count <= 31:
            raise Misuse(
                "'stripes' has 3 to 31 bands of background, and one fewer stripe; "
                f"found the background texture {self.background_texture}"
            )

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Smallest and largest disparity of the wall and of the stripes."""
        return _BACKGROUND, _FOREGROUND

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The wall, the dark stripes, the bright stripes."""
        first, unit = self._layout(grid.size_px)
        numbers = (first, 2 * unit, self.background_texture.count - 1, unit / 2)
        dark, bright = (
            Plane(_FOREGROUND, pattern=Pattern(records.STRIPES, (*numbers, odd))) for odd in (0, 1)
        )
        behind, on = self.background_texture, self.stripe_texture
        falling = (on.start, 0.0, on.rise)
        return [
            Thing(
                Plane(_BACKGROUND),
                Paint(
                    tones("#383838", "#808080", "#c8c8c8"), contrast=(behind.end, -behind.rise, 0.0)
                ),
            ),
            Thing(dark, Paint(tones("#000000", "#343434", "#707070"), contrast=falling)),
            Thing(bright, Paint(tones("#444444", "#8c8c8c", "#d4d4d4"), contrast=falling)),
        ]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Occlusions at dark and at bright stripes, low texture away from them, and bins.

        Bins of the wall are two neighbouring bands each, one to the left of a dark stripe and one
        to the left of a bright one, without what a stripe hides from some view.
        """
        stripe, edge = self._nearest(seen)
        near = np.broadcast_to(edge <= REACH_PX, seen.surface.shape)
        dark = np.broadcast_to(stripe % 2 == 0, seen.surface.shape)
        behind = seen.surface == 0
        plain = np.where(behind, 1 - seen.right, seen.down) >= 0.5
        bands = self._bands(seen)
        inside = np.abs(seen.x) <= seen.size_px / 2 - RIM_PX
        wall = behind & (edge > _WALL_PX) & inside
        return {
            "high_contrast": near & dark,
            "low_contrast": near & ~dark,
            "low_texture": ~near & plain,
            "dark_stripes": seen.surface == 1,
            "bright_stripes": seen.surface == 2,
            "background": behind,
            "background_bins": np.where(behind, bands, np.uint8(0)),
            "wall_bins": np.where(wall, (bands + 1) // 2, np.uint8(0)),
            "horizontal_bins": seen.over_all(self.stripe_texture.bins(seen.down)),
        }

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Contrasts in the middles of bins."""
        bands = self._contrasts()
        twos = [bands[k : k + 2].mean() for k in range(0, len(bands), 2)]
        return {
            "wall_bins": np.array(twos),
            "background_bins": bands,
            "horizontal_bins": self.stripe_texture.middles(),
        }

    def _contrasts(self) -> NDArray[np.float64]:
        """Contrast of the wall in the middles of its bands, counted from the right."""
        count, axis = self.background_texture.count, self.background_texture
        first, unit = self._layout(FULL_SIZE_PX)
        last = count - 1
        middles = first + 2 * unit * (np.arange(last, -1, -1) - 0.5)
        share = np.clip(0.5 - middles / FULL_SIZE_PX, 0, 1)
        return axis.start + axis.rise * share

    def _layout(self, size_px: int) -> tuple[float, float]:
        """The middle of the first stripe, and the width of a stripe."""
        unit = (size_px - 2 * RIM_PX) / (2 * self.background_texture.count - 1)
        return RIM_PX - size_px / 2 + 1.5 * unit, unit

    def _nearest(self, seen: VisiblePoints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The stripe that is nearest, and how far its edge is, inside or outside."""
        first, unit = self._layout(seen.size_px)
        last = self.background_texture.count - 2
        stripe = np.clip(np.floor((seen.x - first) / (2 * unit) + 0.5), 0, last)
        aside = np.abs(seen.x - first - 2 * unit * stripe)
        return stripe, np.abs(aside - unit / 2)

    def _bands(self, seen: VisiblePoints) -> NDArray[np.uint8]:
        """The wall between stripes, counted from the right, where it has most texture."""
        first, unit = self._layout(seen.size_px)
        count = self.background_texture.count
        from_left = np.clip(np.floor((seen.x - first) / (2 * unit) + 1), 0, count - 1)
        return (count - from_left).astype(np.uint8)
