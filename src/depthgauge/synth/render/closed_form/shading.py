"""View-independent light: a lamp, and a sky that is partly hidden in corners.

The lamp is a few directions, one for each of the four samples of a pixel, so a pixel's mean has a
soft shadow at the cost of a hard one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from depthgauge.synth.render.closed_form.rays import enter, pick
from depthgauge.synth.render.closed_form.windows import EVERYWHERE, Positions, Window
from depthgauge.synth.scene.frame import Array, Triple, Vector, dot, facing, project, unit
from depthgauge.synth.scene.model import Body, ShapeScene
from depthgauge.synth.scene.shape import Shape, corners
from depthgauge.synth.scene.texture import Colour

_LAMP: Colour = (0.86, 0.80, 0.70)
_SKY: Colour = (0.46, 0.49, 0.54)
_LAMP_DEG = 1.4
"""Half of the lamp's angular size."""
_CORNER_M = 0.32
"""Distance at which neighbours begin to hide the sky."""
_CORNER_DEPTH = 0.62
"""Share of the sky that is hidden where two things touch."""


def lamps(scene: ShapeScene) -> tuple[Triple, ...]:
    """Directions to the lamp, around its middle."""
    x, y, z = facing((0.0, 0.0, 0.0), scene.to_light).axes
    wide = math.tan(math.radians(_LAMP_DEG))
    found = []
    for a, b in ((1, 0.3), (-0.3, 1), (-1, -0.3), (0.3, -1)):
        parts = (c + wide * (a * d + b * e) for c, d, e in zip(z, x, y, strict=True))
        found.append(unit(tuple(parts)))  # type: ignore[arg-type]  # three coordinates
    return tuple(found)


def shade(things: Sequence[Body], index: int, at: Vector, lamp: Triple) -> Vector:
    """The colours of points on one thing, lit from one direction of the lamp."""
    thing = things[index]
    others = [other for i, other in enumerate(things) if i != index]
    local = thing.shape.frame.point_inside(at)
    normal = thing.shape.frame.direction_outside(thing.shape.normal(local))
    direct = _from_lamp(others, at, normal, lamp)
    around = (0.65 - 0.35 * normal[1]) * _from_sky(others, at)
    red, green, blue = (
        tone * (a * direct + b * around)
        for tone, a, b in zip(thing.paint.colour(local), _LAMP, _SKY, strict=True)
    )
    return red, green, blue


def _from_lamp(others: Sequence[Body], at: Vector, normal: Vector, lamp: Triple) -> Array:
    """How much of the lamp's light arrives: Lambert's cosine, or nothing in a shadow."""
    strength: Array = np.maximum(project(normal, lamp), 0)
    if not strength.any():
        return strength
    across, down, _ = facing((0.0, 0.0, 0.0), lamp).axes
    # A shape can only shade points that the lamp sees at the same place.
    seen = Positions(project(at, across), project(at, down))
    x, y, z = (np.full(1, part, at[0].dtype) for part in lamp)
    for other in others:
        behind = seen.within(_window(other.shape, lamp)) if other.shape.casts else None
        if behind is not None:
            strength[behind] *= np.isinf(enter(other.shape, pick(at, behind), (x, y, z)))
    return strength


def _from_sky(others: Sequence[Body], at: Vector) -> Array:
    """How much of the sky is open: less and less towards a neighbour."""
    share = np.ones_like(at[0])
    places = Positions(at[0], at[2])
    for other in others:
        near = None if other.thin else places.within(_surroundings(other.shape))
        if near is not None:
            away = other.shape.distance(other.shape.frame.point_inside(pick(at, near)))
            close = np.maximum(1 - away * (1 / _CORNER_M), 0)
            share[near] *= 1 - _CORNER_DEPTH * (close * close)
    return share


@lru_cache(maxsize=256)
def _surroundings(shape: Shape) -> Window:
    """Where on the ground, along x and z, a shape hides some of the sky."""
    if not shape.casts:
        return EVERYWHERE
    return Window.around(
        (x + a, z + b)
        for x, _, z in corners(shape)
        for a, b in itertools.product((-_CORNER_M, _CORNER_M), repeat=2)
    )


@lru_cache(maxsize=1024)
def _window(shape: Shape, lamp: Triple) -> Window:
    """Where the lamp sees a shape."""
    across, down, _ = facing((0.0, 0.0, 0.0), lamp).axes
    return Window.around((dot(c, across), dot(c, down)) for c in corners(shape))
