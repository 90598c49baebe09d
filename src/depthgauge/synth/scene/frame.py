"""Vectors and coordinate frames; x right, y down, z forward, in metres.

A vector is three arrays, because NumPy is much faster on those than on (N, 3). Only sums, products,
quotients and roots are used: they give the same bits on every machine, and a BLAS does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Vector: TypeAlias = tuple[Array, Array, Array]
Triple: TypeAlias = tuple[float, float, float]


def dot(a: Vector | Triple, b: Vector | Triple) -> Any:
    """The scalar product; a number for two triples, else an array."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def project(vector: Vector, axis: Triple) -> Array:
    """The scalar product with a constant; zeros, which most axes have, are skipped."""
    parts = [(v, a) for v, a in zip(vector, axis, strict=True) if a != 0]
    first, factor = parts[0]
    total: Array = first * factor
    for values, factor in parts[1:]:
        total = total + values * factor
    return total


def along(origin: Vector, direction: Vector, steps: Array) -> Vector:
    """The points origin + steps * direction."""
    x, y, z = (o + steps * d for o, d in zip(origin, direction, strict=True))
    return x, y, z


def unit(vector: Triple) -> Triple:
    """The vector scaled to length one."""
    length = math.sqrt(dot(vector, vector))
    return vector[0] / length, vector[1] / length, vector[2] / length


@dataclass(frozen=True, slots=True)
class Frame:
    """Position and orientation."""

    centre: Triple
    axes: tuple[Triple, Triple, Triple] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """Its own x, y and z in world coordinates: unit vectors at right angles."""

    def point_inside(self, point: Vector) -> Vector:
        """A point of the world in the frame's coordinates."""
        x, y, z = (p - c for p, c in zip(point, self.centre, strict=True))
        return self.direction_inside((x, y, z))

    def direction_inside(self, direction: Vector) -> Vector:
        """A direction of the world in the frame's coordinates."""
        return tuple(project(direction, axis) for axis in self.axes)  # type: ignore[return-value]  # three axes

    def direction_outside(self, direction: Vector) -> Vector:
        """A direction of the frame in world coordinates."""
        rows = zip(*self.axes, strict=True)
        return tuple(project(direction, row) for row in rows)  # type: ignore[return-value]  # three rows


def turned(
    centre: Triple, *, yaw_deg: float = 0.0, pitch_deg: float = 0.0, roll_deg: float = 0.0
) -> Frame:
    """A frame that is first rolled about z, then pitched about x, then turned about y."""
    (cy, sy), (cp, sp), (cr, sr) = (_turn(angle) for angle in (yaw_deg, pitch_deg, roll_deg))
    right = (cy * cr + sy * sp * sr, cp * sr, -sy * cr + cy * sp * sr)
    down = (-cy * sr + sy * sp * cr, cp * cr, sy * sr + cy * sp * cr)
    return Frame(centre, (right, down, (sy * cp, -sp, cy * cp)))


def facing(centre: Triple, normal: Triple) -> Frame:
    """A frame whose z is the normal and whose x is level."""
    z = unit(normal)
    # The floor's normal is along y, where any level direction works.
    x = unit((-z[2], 0.0, z[0])) if abs(z[1]) < 1.0 else (1.0, 0.0, 0.0)
    y = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
    return Frame(centre, (x, y, z))


def _turn(degrees: float) -> tuple[float, float]:
    return math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
