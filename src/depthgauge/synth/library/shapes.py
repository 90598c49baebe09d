"""Bodies and textures for scenes of shapes: floors, walls, boxes, balls, columns, bars."""

from __future__ import annotations

import math

from depthgauge.synth.scene.frame import Frame, Triple, facing, turned
from depthgauge.synth.scene.model import Body
from depthgauge.synth.scene.shape import Box, Cylinder, Ellipsoid, Plane
from depthgauge.synth.scene.texture import Agate, Marble, Mottled, Paint, Wood, colour, waves

FOCAL_PX = 480.0
"""Focal length of the images for which widths of bars are given in pixels."""


def floor(paint: Paint) -> Body:
    """The ground, an infinite plane."""
    return Body(Plane(facing((0.0, 0.0, 0.0), (0.0, -1.0, 0.0))), paint)


def wall(at_m: tuple[float, float], yaw_deg: float, paint: Paint) -> Body:
    """An infinite wall through (x, z); at 0 degrees it faces the cameras, at 90 the right."""
    turn = math.radians(yaw_deg)
    return Body(
        Plane(facing((at_m[0], 0.0, at_m[1]), (math.sin(turn), 0.0, -math.cos(turn)))), paint
    )


def box(
    at_m: tuple[float, float],
    size_m: Triple,
    paint: Paint,
    *,
    yaw_deg: float = 0.0,
    up_m: float = 0.0,
) -> Body:
    """A box (width, height, depth) that stands on the floor at (x, z), or `up_m` above it."""
    width, height, depth = size_m
    frame = turned((at_m[0], -up_m - height / 2, at_m[1]), yaw_deg=yaw_deg)
    return Body(Box(frame, (width / 2, height / 2, depth / 2)), paint)


def ball(
    at_m: tuple[float, float],
    radii_m: Triple,
    paint: Paint,
    *,
    yaw_deg: float = 0.0,
    roll_deg: float = 0.0,
    up_m: float = 0.0,
) -> Body:
    """An ellipsoid that rests on the floor at (x, z), or `up_m` above it."""
    turn = math.radians(roll_deg)
    height = math.hypot(radii_m[0] * math.sin(turn), radii_m[1] * math.cos(turn))
    centre = (at_m[0], -up_m - height, at_m[1])
    return Body(Ellipsoid(turned(centre, yaw_deg=yaw_deg, roll_deg=roll_deg), radii_m), paint)


def column(
    at_m: tuple[float, float], radius_m: float, height_m: float, paint: Paint, *, up_m: float = 0.0
) -> Body:
    """An upright cylinder."""
    frame = turned((at_m[0], -up_m - height_m / 2, at_m[1]))
    return Body(Cylinder(frame, radius_m, height_m / 2), paint)


def roll(
    at_m: tuple[float, float],
    radius_m: float,
    length_m: float,
    paint: Paint,
    *,
    yaw_deg: float = 0.0,
) -> Body:
    """A cylinder that lies on the floor; at 0 degrees across the view."""
    frame = turned((at_m[0], -radius_m, at_m[1]), yaw_deg=yaw_deg, roll_deg=90.0)
    return Body(Cylinder(frame, radius_m, length_m / 2), paint)


def panel(
    centre_m: Triple,
    normal: Triple,
    half_m: tuple[float, float],
    paint: Paint,
    *,
    round: bool = False,
) -> Body:
    """A rectangle or a disc without thickness."""
    return Body(Plane(facing(centre_m, normal), half_m, round), paint)


def bar(start_m: Triple, end_m: Triple, width_px: float, paint: Paint) -> Body:
    """A thin rod between two points; its width is given for images 480 pixels wide."""
    (ax, ay, az), (bx, by, bz) = start_m, end_m
    middle = ((ax + bx) / 2, (ay + by) / 2, (az + bz) / 2)
    side, (x, y, z), axis = facing(middle, (bx - ax, by - ay, bz - az)).axes
    radius = width_px / 2 * middle[2] / FOCAL_PX
    # A cylinder's axis is its y, but `facing` makes it the frame's z.
    shape = Cylinder(
        Frame(middle, (side, axis, (-x, -y, -z))), radius, math.dist(start_m, end_m) / 2
    )
    return Body(shape, paint, thin=True)


def stone(codes: str, seed: int, shortest_m: float, octaves: int = 4) -> Mottled:
    """Clouds of three colours, given as `#dark #middle #light`."""
    return Mottled(_three(codes), waves(seed, shortest_m, octaves))


def agate(codes: str, seed: int, shortest_m: float) -> Agate:
    """Winding bands of three colours, given as `#dark #middle #light`."""
    course = waves(seed + 1000, 10 * shortest_m, 2, fall=0.6)
    return Agate(_three(codes), course, waves(seed, shortest_m, 2))


def marble(codes: str, seed: int, shortest_m: float) -> Marble:
    """Stone with veins, given as `#dark #light #vein`."""
    veins = waves(seed + 1000, 4 * shortest_m, 2, fall=0.6)
    return Marble(_three(codes), waves(seed, shortest_m, 3), veins)


def wood(codes: str, seed: int, shortest_m: float, board_m: float) -> Wood:
    """Boards of three tones, given as `#dark #middle #light`."""
    return Wood(_three(codes), board_m, waves(seed, shortest_m, 3))


def _three(codes: str) -> tuple[Triple, Triple, Triple]:
    first, second, third = (colour(code) for code in codes.split())
    return first, second, third
