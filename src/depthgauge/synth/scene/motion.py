"""Rigid motion: the transform of an object or a camera from its rest position, over time.

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
    """Motion at a constant velocity from the rest position at time 0.

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
    """Rotation at a constant rate about an axis, from the rest position at time 0."""

    degrees_s: float
    axis: str = "y"
    """The axis of the world that it is parallel to: x, y or z."""
    about_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """A point on the axis."""

    def __call__(self, time_s: float) -> Pose:
        """The rotation about the axis."""
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
