"""Gloss: a plane from matt to mirror."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import Ghost, Plane, Thing
from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints

_LEVEL, _TILT_DEG = 0.2, 15.0
_ROUGH_PX = 6.0
"""How much a nearly matt plane blurs what is reflected in it."""
_ROOM_M = 3.0
"""How far behind the cameras the reflected room ends."""


@dataclass(frozen=True, slots=True)
class Gloss(Scene):
    """A tilted plane in which the wall behind the cameras is reflected, more and more."""

    mirror: Axis = field(default=Axis(0.0, 0.9, 10))
    """Share of the light that is reflected, from left to right; the reflection gets sharper too,
    and at 1 nothing of the plane itself is visible."""

    name: ClassVar[str] = "gloss"
    optics: ClassVar[Optics] = Optics(12.0, 10.0)

    def __post_init__(self) -> None:
        self.mirror.within("the mirror of 'gloss', a share of the light,", 0, 1)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """From the reflected wall to the plane's near border."""
        plane, wall = _plane(grid), _reflected(_plane(grid), grid)
        half = grid.size_px / 2
        edges = [p.level + sign * p.slope_y * half for p in (plane, wall) for sign in (-1, 1)]
        return min(edges), max(edges)

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The plane, and the wall's mirror image behind it."""
        plane = _plane(grid)
        start, rise = self.mirror.start, self.mirror.rise
        wall = Ghost(
            _reflected(plane, grid),
            tones("#071c2c", "#2f7fa0", "#e2fbff"),
            weight=(start, rise),
            blur_px=(_ROUGH_PX * (1 - start), -_ROUGH_PX * rise),
        )
        return [Thing(plane, Paint(tones("#4c1420", "#b04a52", "#ffc0a8")), (wall,))]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Bins from left to right, 1 the most matt."""
        return {"gloss_bins": seen.over_all(self.mirror.bins(seen.right))}

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Mirror in the middles of bins."""
        return {"gloss_bins": self.mirror.middles()}


def _plane(grid: Grid) -> Plane:
    """Tilted backwards: its normal in space is (slope_x f, slope_y f, level + offset)."""
    slope = math.tan(math.radians(_TILT_DEG)) * (_LEVEL + grid.offset_px) / grid.focal_px
    return Plane(_LEVEL, 0.0, slope)


def _reflected(mirror: Plane, grid: Grid) -> Plane:
    """The mirror image of the wall z = -room, as straight rays meet it.

    In space the mirror is n . p = c, so the image of the wall is (e_z - 2 n_z n) . p = -room -
    2 c n_z; a plane a . p = b in space has d = f b / b' (a_z + a_x x / f + a_y y / f) - offset.
    """
    focal = grid.focal_px
    normal = (mirror.slope_x * focal, mirror.slope_y * focal, mirror.level + grid.offset_px)
    length = math.hypot(*normal)
    x, y, z = (part / length for part in normal)
    distance = focal * grid.baseline_m / length
    a_x, a_y, a_z = -2 * z * x, -2 * z * y, 1 - 2 * z * z
    scale = focal * grid.baseline_m / (-_ROOM_M - 2 * distance * z)
    return Plane(scale * a_z - grid.offset_px, scale * a_x / focal, scale * a_y / focal)
