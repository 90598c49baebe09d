"""Jointed bodies: bones that turn about pivots, carried along a path on the ground."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library.subjects._actions import Action, Moment
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.mesh import Mesh, rotation
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.scene.motion import Motion, Pose

Floats = NDArray[np.float64]
Angles = Mapping[str, tuple[float, float, float]]
"""Degrees about x, y and z of joints by the name of their bone; others stay at rest."""


@dataclass(frozen=True, slots=True, eq=False)
class Bone:
    """A rigid part of a body in its rest pose: on y = 0, looking along z."""

    name: str
    parent: str
    """The bone that carries it; empty for the first."""
    pivot_m: tuple[float, float, float]
    """Its joint."""
    parts: tuple[tuple[Mesh, Material], ...]


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """A kind of body."""

    name: str
    words: str
    """For descriptions: `a walking robot`."""
    build: Callable[[int], tuple[Bone, ...]]
    """Its bones in the colours of a seed; a bone comes after its parent."""
    joints: Callable[[Moment], Angles]
    """Angles of its joints."""
    height_m: float
    radius_m: float
    """Of the upright cylinder that it needs."""
    hover_m: float = 0.0
    """How high it flies."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Positions on the ground and headings at times; between them is interpolated."""

    times_s: Floats
    places_m: Floats
    """(N, 3)."""
    headings_deg: Floats

    def pose(self, time_s: float) -> Pose:
        """The transform from the rest pose at the origin to a place on the path."""
        heading = float(np.interp(time_s, self.times_s, self.headings_deg))
        pose = np.eye(4)
        pose[:3, :3] = rotation(heading, "y")
        pose[:3, 3] = [np.interp(time_s, self.times_s, axis) for axis in self.places_m.T]
        return pose


@dataclass(frozen=True, eq=False)
class _Body:
    """A body that performs an action along a path."""

    kind: SubjectKind
    bones: tuple[Bone, ...]
    action: Action
    path: Path

    @functools.lru_cache(maxsize=4)  # noqa: B019  # as long-lived as the scene it belongs to
    def poses(self, time_s: float) -> dict[str, Pose]:
        """The transform of every bone from the rest pose."""
        moment = self.action.moment(time_s)
        angles = self.kind.joints(moment)
        root = self.path.pose(time_s)
        extra = np.eye(4)
        extra[:3, :3] = rotation(moment.turn_deg, "y") @ rotation(moment.lean_deg, "z")
        extra[1, 3] = -(moment.lift_m + self.kind.hover_m)
        found = {"": root @ extra}
        for bone in self.bones:
            found[bone.name] = found[bone.parent] @ _about(bone.pivot_m, angles.get(bone.name))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _BoneMotion:
    """The motion of one bone."""

    body: _Body
    bone: str

    def __call__(self, time_s: float) -> Pose:
        """From the rest pose to the world at a time."""
        return self.body.poses(time_s)[self.bone]


def performed(
    kind: SubjectKind, action: Action, seed: int, path: Path
) -> tuple[list[Thing], dict[str, Motion]]:
    """The things of a subject in its rest pose, and their motions."""
    body = _Body(kind, kind.build(seed), action, path)
    things, motions = [], dict[str, Motion]()
    for bone in body.bones:
        name = f"{kind.name}: {bone.name}"
        things += [Thing(name, mesh, material) for mesh, material in bone.parts]
        motions[name] = _BoneMotion(body, bone.name)
    return things, motions


def places_of(kind: SubjectKind, action: Action, path: Path, time_s: float) -> Floats:
    """Points (N, 3) in the middle and at the ends of a body, for tests of framing and view."""
    moment = action.moment(time_s)
    pose = path.pose(time_s)
    up = moment.lift_m + kind.hover_m
    h, r = kind.height_m, 0.7 * kind.radius_m
    local = [(0.0, -share * h - up, 0.0) for share in (0.08, 0.35, 0.6, 0.9)]
    local += [(x, -0.55 * h - up, z) for x, z in ((-r, 0.0), (r, 0.0), (0.0, r), (0.0, -r))]
    points = np.array(local)
    return np.asarray(points @ pose[:3, :3].T + pose[:3, 3])


def _about(pivot_m: tuple[float, float, float], angles: tuple[float, float, float] | None) -> Pose:
    pose = np.eye(4)
    if angles is None:
        return pose
    x, y, z = angles
    turn = rotation(y, "y") @ rotation(x, "x") @ rotation(z, "z")
    pivot = np.array(pivot_m)
    pose[:3, :3] = turn
    pose[:3, 3] = pivot - turn @ pivot
    return pose


def swing(value: float, most_deg: float) -> float:
    """An angle of a swinging joint."""
    return most_deg * max(-1.0, min(1.0, value))


def limb(start: tuple[float, float, float], end: tuple[float, float, float], thick: float) -> Mesh:
    """A rounded limb between two points."""
    from depthgauge.synth.scene import mesh as meshes

    t = np.linspace(0, 1, 9)
    a, b = np.array(start), np.array(end)
    path = a + t[:, None] * (b - a)
    radius = thick * np.sqrt(np.clip(1.0 - (2 * t - 1) ** 8, 0.02, 1.0))
    return meshes.tube(path, radius, 14)


def heading_of(x: float, z: float) -> float:
    """Degrees about y that turn z to a direction on the ground."""
    return math.degrees(math.atan2(x, z))
