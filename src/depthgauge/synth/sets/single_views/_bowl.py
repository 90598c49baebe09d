"""A bowl: the lower half of a hollow ball without thickness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.synth.scene.frame import Array, Frame, Triple, Vector
from depthgauge.synth.scene.shape import _round_stretch
from depthgauge.types import Mask


@dataclass(frozen=True, slots=True)
class Bowl:
    """One side of the half ball below the frame's y = 0 (y is down); a bowl is both sides."""

    frame: Frame
    radius_m: float
    inside: bool

    @property
    def extent_m(self) -> Triple:
        """Of the whole ball."""
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
