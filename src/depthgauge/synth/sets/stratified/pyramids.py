"""Pyramids: planar and non-planar, convex and concave surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from depthgauge.synth.sets.stratified import _records as records
from depthgauge.synth.sets.stratified._grid import Grid, Optics
from depthgauge.synth.sets.stratified._model import HalfBall, Pattern, Plane, Pyramid, Thing
from depthgauge.synth.sets.stratified._paint import Paint, brightness, tones
from depthgauge.synth.sets.stratified._scene import Region, Scene, VisiblePoints

_LIMITS = (-1.55, 1.05)
_AMBIENT = 0.4


@dataclass(frozen=True, slots=True)
class Pyramids(Scene):
    """A half ball and a pyramid that stick out of a plane, and two that go into it.

    All have the same height, so the half balls are true ones. It has no axis, because a half ball
    contains every slope.
    """

    name: ClassVar[str] = "pyramids"
    optics: ClassVar[Optics] = Optics(350.0, 31.5, focal_mm=200.0)

    def limits_px(self, grid: Grid) -> tuple[float, float]:
        """Smallest and largest disparity of the tips."""
        return _LIMITS

    def things(self, grid: Grid, steps: float) -> list[Thing]:
        """The plane with its openings, half balls on the left, pyramids on the right."""
        far, near = (grid.depth_m(limit) for limit in _LIMITS)
        base = grid.disparity_px((near + far) / 2)
        quarter, radius = grid.size_px / 4, (far - near) / 2
        ball = HalfBall(grid, (-quarter, -quarter), radius, base)
        bowl = HalfBall(grid, (-quarter, quarter), radius, base, inward=True)
        half = ball.radius_px
        pyramid = Pyramid((quarter, -quarter), half, base, _LIMITS[1])
        pit = Pyramid((quarter, quarter), half, base, _LIMITS[0])
        holes = Pattern(records.HOLES, (*bowl.middle_px, half, *pit.middle_px, half))
        stone = tones("#5a5348", "#b0a48e", "#fff6e2")
        green = tones("#1c4a30", "#4fa070", "#c4f2ca")
        violet = tones("#3c2860", "#8c6cc0", "#e2ccff")
        return [
            Thing(
                Plane(base, pattern=holes),
                Paint(stone, faces=(brightness(grid, _AMBIENT, base),) * 5),
            ),
            Thing(ball, Paint(green, ambient=_AMBIENT)),
            Thing(bowl, Paint(violet, ambient=_AMBIENT)),
            Thing(pyramid, Paint(green, faces=_faces(grid, pyramid))),
            Thing(pit, Paint(violet, faces=_faces(grid, pit))),
        ]

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Which pixel is on what."""
        return {
            "plane": seen.surface == 0,
            "sphere_out": seen.surface == 1,
            "sphere_in": seen.surface == 2,
            "pyramids": (seen.surface == 3) | (seen.surface == 4),
        }


def _faces(grid: Grid, pyramid: Pyramid) -> tuple[float, ...]:
    """Brightness of the right, left, lower and upper face."""
    rise = (pyramid.base - pyramid.tip) / pyramid.half_px
    found = []
    for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        slope = sign * rise
        level = pyramid.tip - slope * pyramid.middle_px[axis]
        slopes = (slope, 0.0) if axis == 0 else (0.0, slope)
        found.append(brightness(grid, _AMBIENT, level, *slopes))
    return (*found, 1.0)
