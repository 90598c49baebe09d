"""Shapes that a ray meets in closed form: planes and discs, boxes, ellipsoids, cylinders, bowls.

Every shape is described in its own frame. `enter` gives the step along a ray at which it first
meets the shape, or infinity. Directions have length one along the optical axis, so the step is
the depth. A ray is inside a solid over an interval of steps; the intersection of two solids (a
cylinder is a tube and a slab) is where their intervals overlap.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from depthgauge.synth.scene.frame import Array, Frame, Triple, Vector, dot
from depthgauge.types import Mask

_ON_FACE = 1e-4
"""Points within this share of the half size from a flat face count as on it."""


class Shape(Protocol):
    """What ray casting, texturing and shading need from a shape."""

    def __hash__(self) -> int: ...

    @property
    def frame(self) -> Frame:
        """Its own coordinates, to which the texture is attached."""
        ...

    @property
    def extent_m(self) -> Triple:
        """Half the size of its bounding box along the frame's axes."""
        ...

    @property
    def casts(self) -> bool:
        """Whether it casts a shadow."""
        ...

    def enter(self, origin: Vector, direction: Vector) -> Array:
        """Step at which each ray of the world first meets the shape; infinity if never."""
        ...

    def normal(self, local: Vector) -> Vector:
        """Unit normal, in the shape's frame, at points of its surface in that frame."""
        ...

    def curved(self, local: Vector) -> Mask:
        """Where its surface is not flat."""
        ...

    def distance(self, local: Vector) -> Array:
        """Distance of points outside, in the shape's frame; accurate enough for shading."""
        ...


@dataclass(frozen=True, slots=True)
class Plane:
    """The plane z = 0 of the frame: infinite, a rectangle, or (with `round`) a disc or ellipse."""

    frame: Frame
    half_m: tuple[float, float] = (math.inf, math.inf)
    round: bool = False

    @property
    def extent_m(self) -> Triple:
        """Without thickness."""
        return (*self.half_m, 0.0)

    @property
    def casts(self) -> bool:
        """Only a finite one; infinite walls let the light in."""
        return math.isfinite(max(self.half_m))

    def enter(self, origin: Vector, direction: Vector) -> Array:
        """Where the ray goes through the plane, from either side."""
        start, way = self.frame.point_inside(origin), self.frame.direction_inside(direction)
        step = -start[2] / way[2]
        met = step > 0
        if self.casts:
            a = np.abs(start[0] + step * way[0]) / self.half_m[0]
            b = np.abs(start[1] + step * way[1]) / self.half_m[1]
            met &= (a * a + b * b <= 1) if self.round else (np.maximum(a, b) <= 1)
        return np.where(met, step, np.inf)

    def normal(self, local: Vector) -> Vector:
        """The frame's z."""
        nothing = np.zeros_like(local[0])
        return nothing, nothing, np.ones_like(local[0])

    def curved(self, local: Vector) -> Mask:
        """Nowhere."""
        return np.zeros(local[0].shape, bool)

    def distance(self, local: Vector) -> Array:
        """To the infinite plane, or to the flat box around a finite one."""
        return _beyond(local, (*self.half_m, 0.0)) if self.casts else np.abs(local[2])


@dataclass(frozen=True, slots=True)
class Box:
    """A box around the frame's centre."""

    frame: Frame
    half_m: Triple

    @property
    def extent_m(self) -> Triple:
        """The box itself."""
        return self.half_m

    @property
    def casts(self) -> bool:
        """Always."""
        return True

    def enter(self, origin: Vector, direction: Vector) -> Array:
        """Where the ray is inside three slabs."""
        start, way = self.frame.point_inside(origin), self.frame.direction_inside(direction)
        slabs = [_slab(s, w, h) for s, w, h in zip(start, way, self.half_m, strict=True)]
        near = np.maximum(np.maximum(slabs[0][0], slabs[1][0]), slabs[2][0])
        far = np.minimum(np.minimum(slabs[0][1], slabs[1][1]), slabs[2][1])
        return _met(near, far)

    def normal(self, local: Vector) -> Vector:
        """The normal of the nearest face."""
        x, y, z = (np.abs(p) / h for p, h in zip(local, self.half_m, strict=True))
        on_x = (x >= y) & (x >= z)
        on_y = ~on_x & (y >= z)
        faces = (on_x, on_y, ~on_x & ~on_y)
        a, b, c = (np.where(face, np.sign(p), 0) for p, face in zip(local, faces, strict=True))
        return a, b, c

    def curved(self, local: Vector) -> Mask:
        """Nowhere."""
        return np.zeros(local[0].shape, bool)

    def distance(self, local: Vector) -> Array:
        """To the box."""
        return _beyond(local, self.half_m)


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """A ball stretched along the frame's axes."""

    frame: Frame
    radii_m: Triple

    @property
    def extent_m(self) -> Triple:
        """Its radii."""
        return self.radii_m

    @property
    def casts(self) -> bool:
        """Always."""
        return True

    def enter(self, origin: Vector, direction: Vector) -> Array:
        """The nearer root of |start + step * way| = 1, in units of the radii."""
        start = self._scaled(self.frame.point_inside(origin))
        way = self._scaled(self.frame.direction_inside(direction))
        middle, half = _round_stretch(start, way)
        return _met(middle - half, middle + half)

    def normal(self, local: Vector) -> Vector:
        """The gradient of the ellipsoid's equation."""
        slope = self._scaled(self._scaled(local))
        length = np.sqrt(dot(slope, slope))
        return slope[0] / length, slope[1] / length, slope[2] / length

    def curved(self, local: Vector) -> Mask:
        """Everywhere."""
        return np.ones(local[0].shape, bool)

    def distance(self, local: Vector) -> Array:
        """Exact for a ball; for an ellipsoid, the value of its equation over its slope."""
        scaled = self._scaled(local)
        value, slope = dot(scaled, scaled), self._scaled(scaled)
        level = np.sqrt(value)
        apart: Array = level * (level - 1) / np.sqrt(dot(slope, slope))
        return apart

    def _scaled(self, vector: Vector) -> Vector:
        x, y, z = (v / r for v, r in zip(vector, self.radii_m, strict=True))
        return x, y, z


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A solid cylinder around the frame's y, with flat ends."""

    frame: Frame
    radius_m: float
    half_m: float

    @property
    def extent_m(self) -> Triple:
        """Its radius, half its length, its radius."""
        return self.radius_m, self.half_m, self.radius_m

    @property
    def casts(self) -> bool:
        """Always."""
        return True

    def enter(self, origin: Vector, direction: Vector) -> Array:
        """Where the ray is inside both the tube and the slab between the ends."""
        start, way = self.frame.point_inside(origin), self.frame.direction_inside(direction)
        across = self.radius_m
        middle, half = _round_stretch(
            (start[0] / across, start[2] / across), (way[0] / across, way[2] / across)
        )
        top, bottom = _slab(start[1], way[1], self.half_m)
        return _met(np.maximum(middle - half, top), np.minimum(middle + half, bottom))

    def normal(self, local: Vector) -> Vector:
        """Away from the axis on the side, along it on the ends."""
        x, y, z = local
        side = self.curved(local)
        return (
            np.where(side, x / self.radius_m, 0),
            np.where(side, 0, np.sign(y)),
            np.where(side, z / self.radius_m, 0),
        )

    def curved(self, local: Vector) -> Mask:
        """On its side."""
        return np.less(np.abs(local[1]), self.half_m * (1 - _ON_FACE))

    def distance(self, local: Vector) -> Array:
        """To the cylinder."""
        x, y, z = local
        off = np.sqrt(x * x + z * z)
        return _beyond((off, y, np.zeros_like(y)), (self.radius_m, self.half_m, 0.0))


@dataclass(frozen=True, slots=True)
class Bowl:
    """One side of the half ball below the frame's y = 0 (y is down); a bowl is both sides."""

    frame: Frame
    radius_m: float
    inside: bool

    @property
    def extent_m(self) -> Triple:
        """Extent of the whole ball."""
        return self.radius_m, self.radius_m, self.radius_m

    @property
    def casts(self) -> bool:
        """Always."""
        return True

    def enter(self, origin: Vector, direction: Vector) -> Array:
        """Rays meet the outside where they enter the ball, and the inside where they leave it."""
        start = self._scaled(self.frame.point_inside(origin))
        way = self._scaled(self.frame.direction_inside(direction))
        middle, half = _round_stretch(start, way)
        step = middle + half if self.inside else middle - half
        met = (start[1] + step * way[1] >= 0) & (step > 0)
        return np.where(met, step, np.inf)

    def normal(self, local: Vector) -> Vector:
        """Out of the ball, or into it on the inside."""
        sign = (-1 if self.inside else 1) / self.radius_m
        return local[0] * sign, local[1] * sign, local[2] * sign

    def curved(self, local: Vector) -> Mask:
        """Everywhere."""
        return np.ones(local[0].shape, bool)

    def distance(self, local: Vector) -> Array:
        """To the shell; points above it are as far as from the rim's disc."""
        x, y, z = local
        away: Array = np.abs(np.sqrt(x * x + y * y + z * z) - self.radius_m)
        return np.where(y < 0, np.maximum(away, -y), away)

    def _scaled(self, vector: Vector) -> Vector:
        x, y, z = (v / self.radius_m for v in vector)
        return x, y, z


def corners(shape: Shape) -> list[Triple]:
    """The corners of a shape's bounding box, in world coordinates."""
    found = []
    for signs in itertools.product((-1, 1), repeat=3):
        aside = [sign * part for sign, part in zip(signs, shape.extent_m, strict=True)]
        x, y, z = (
            centre + sum(a * axis[i] for a, axis in zip(aside, shape.frame.axes, strict=True))
            for i, centre in enumerate(shape.frame.centre)
        )
        found.append((x, y, z))
    return found


def _beyond(local: Vector, half: Triple) -> Array:
    """Distance to a box."""
    x, y, z = (np.maximum(np.abs(p) - h, 0) for p, h in zip(local, half, strict=True))
    away: Array = np.sqrt(x * x + y * y + z * z)
    return away


def _slab(start: Array, way: Array, half: float) -> tuple[Array, Array]:
    """The steps between which a ray lies from -half to half; NaN for a ray within a face."""
    one, other = (-half - start) / way, (half - start) / way
    return np.minimum(one, other), np.maximum(one, other)


def _round_stretch(start: tuple[Array, ...], way: tuple[Array, ...]) -> tuple[Array, Array]:
    """Middle and half length of the interval within distance one of the origin.

    It is computed from the nearest point: b^2 - 4ac loses half of its digits for a small, distant
    ball.
    """
    speed = sum(w * w for w in way)
    still = speed == 0  # parallel to a cylinder's axis: always inside, or never
    speed = np.where(still, 1, speed)
    middle = -sum(s * w for s, w in zip(start, way, strict=True)) / speed
    nearest = sum((s + middle * w) ** 2 for s, w in zip(start, way, strict=True))
    half = np.sqrt((1 - nearest) / speed)  # NaN where the ray misses
    return middle, np.where(still & (nearest <= 1), np.inf, half)


def _met(near: Array, far: Array) -> Array:
    """The near end of an interval in front of the ray; NaN fails both comparisons."""
    return np.where((near <= far) & (near > 0), near, np.inf)
