"""A scene: things of meshes and materials, as the arrays that rays and light are computed with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.ray_scene import RayScene
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.mesh import Mesh, join


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """A mesh and what it is made of; things of one name are one object."""

    name: str
    mesh: Mesh
    material: Material


@dataclass(frozen=True, slots=True)
class Light:
    """A rectangular lamp that shines along +y turned by the room: centre, size, where to."""

    centre: tuple[float, float, float]
    towards: tuple[float, float, float]
    size_m: tuple[float, float]
    colour: tuple[float, float, float]
    """Relative radiance of red, green and blue."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What the cameras see."""

    name: str
    things: tuple[Thing, ...]
    lights: tuple[tuple[Light, ...], ...]
    """The lamps of each illumination; there may be fewer than asked for: they are then dimmed."""
    eye_m: float = 0.45
    """Height of the rig above the table."""
    down_deg: float = 17.0
    """How much it looks down."""
    aim_m: float = 1.3
    """Depth of what the projectors are aimed at."""


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """All things as one mesh, with what every triangle is and how it reflects when painted."""

    mesh: Mesh
    categories: NDArray[np.int32]
    surfaces: NDArray[np.int32]
    objects: NDArray[np.int32]
    names: tuple[str, ...]
    """Of the objects, by number."""
    albedo: NDArray[np.float32]
    """(F, 3) of the painted scene where no texture is."""
    texture: NDArray[np.int32]
    """(F,) number of the texture, -1 for none."""
    texture_m: NDArray[np.float32]
    """(K,) side of each texture's square."""
    pictures: NDArray[np.float32]
    """(K, h, w, 3) linear light; K is at least 1."""
    rays: RayScene = field(repr=False)


PAINT = 0.72
"""Reflectance of the spray that makes glass and metal diffuse."""


def solid(things: Sequence[Thing], texture_px: int) -> Solid:
    """The painted scene, its textures as pictures of this side."""
    mesh = join([t.mesh for t in things])
    count = [len(t.mesh.triangles) for t in things]
    names = tuple(dict.fromkeys(t.name for t in things))
    pictures: list[NDArray[np.float32]] = []
    sides: list[float] = []
    numbers = []
    for thing in things:
        picture = thing.material.picture(texture_px) if thing.material.category == 0 else None
        numbers.append(-1 if picture is None else len(pictures))
        if picture is not None:
            pictures.append(picture)
            sides.append(thing.material.texture_m)
    tones = [t.material.colour if t.material.category == 0 else (PAINT,) * 3 for t in things]
    return Solid(
        mesh,
        _each([t.material.category for t in things], count),
        _each([t.material.surface for t in things], count),
        _each([names.index(t.name) for t in things], count),
        names,
        np.repeat(np.array(tones, np.float32), count, axis=0),
        _each(numbers, count),
        np.array(sides or [1.0], np.float32),
        np.stack(pictures or [np.zeros((1, 1, 3), np.float32)]),
        RayScene(mesh.vertices, mesh.triangles),
    )


def _each(values: Sequence[int], count: Sequence[int]) -> NDArray[np.int32]:
    return np.repeat(np.array(values, np.int32), count)
