"""Rigid motion: where an object or a camera is at a time, as seen from where it was built.

A motion is any function from a time in seconds to a 4x4 transform of the world. The classes here
cover most needs and can be chained:

    Chain((Turning(90.0, axis="y", about_m=(0.5, 0.0, 1.2)), Moving((0.0, 0.0, -0.3))))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene.mesh import rotation

Pose = NDArray[np.float64]
"""A 4x4 rigid transform."""


class Motion(Protocol):
    """Where something is at a time."""

    def __call__(self, time_s: float) -> Pose:
        """The transform from the world at rest to the world at this time."""
        ...


@dataclass(frozen=True, slots=True)
class Moving:
    """Straight ahead at a constant speed; at rest at time 0.

    >>> Moving((0.5, 0.0, 0.0))(2.0)[:3, 3].tolist()
    [1.0, 0.0, 0.0]
    """

    velocity_m_s: tuple[float, float, float]

    def __call__(self, time_s: float) -> Pose:
        """A shift."""
        pose = np.eye(4)
        pose[:3, 3] = np.array(self.velocity_m_s) * time_s
        return pose


@dataclass(frozen=True, slots=True)
class Turning:
    """About an axis through a point at a constant rate; at rest at time 0."""

    degrees_s: float
    axis: str = "y"
    """x, y or z of the world."""
    about_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """A point of the axis."""

    def __call__(self, time_s: float) -> Pose:
        """A turn about the axis."""
        pose, about = np.eye(4), np.array(self.about_m)
        pose[:3, :3] = rotation(self.degrees_s * time_s, self.axis)
        pose[:3, 3] = about - pose[:3, :3] @ about
        return pose


@dataclass(frozen=True, slots=True)
class Chain:
    """Several motions at once; the first is applied first."""

    motions: tuple[Motion, ...]

    def __call__(self, time_s: float) -> Pose:
        """The product of all transforms."""
        pose = np.eye(4)
        for motion in self.motions:
            pose = motion(time_s) @ pose
        return pose
