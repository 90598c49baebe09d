"""What a map declares and builds: things, light, and where a subject may stand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from depthgauge.synth.library.objects import Things
from depthgauge.synth.render.lighting import Lamp, Lighting
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.mesh import Mesh
from depthgauge.synth.scene.model import Thing


@dataclass(frozen=True, slots=True)
class MapKind:
    """A kind of place."""

    name: str
    """As folders are named: `Street`."""
    scene_type: str
    """indoor, urban, natural, abstract ..."""
    setting: str
    """One phrase: `a street between brick houses`."""
    build: Callable[[int], Place]
    """Makes the layout of a number."""
    layouts: int = 3
    reserved: bool = False
    """Whether it is kept for tests on maps that were not seen in training."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A built layout."""

    things: tuple[Thing, ...]
    lighting: Lighting
    spawn_m: tuple[float, float, float, float]
    """Where a subject may start: least and greatest x, least and greatest z."""
    elements: tuple[str, ...]
    """What can be seen, for descriptions."""
    light_words: str
    """How it is lit, for descriptions."""
    materials_words: str
    """What it is made of, for descriptions."""
    distance_m: tuple[float, float] = (2.0, 9.0)
    """How far from the subject cameras may be."""


@dataclass(slots=True, eq=False)
class Yard:
    """Collects the things of a place."""

    rng: np.random.Generator
    things: Things = field(default_factory=list)

    @staticmethod
    def begin(kind: int, layout: int) -> Yard:
        """An empty yard; `kind` keeps the random numbers of maps apart."""
        return Yard(np.random.default_rng([kind, layout, 8128]))

    def add(self, name: str, mesh: Mesh, material: Material) -> None:
        """Adds a mesh where it is."""
        self.things.append(Thing(name, mesh, material))

    def put(
        self, things: Things, x: float, z: float, turn_deg: float = 0.0, up_m: float = 0.0
    ) -> None:
        """Adds things at a place on the ground, or above it."""
        for thing in things:
            mesh = thing.mesh.turned(turn_deg).moved(x, -up_m, z)
            self.things.append(Thing(thing.name, mesh, thing.material))

    def box(
        self,
        name: str,
        size_m: tuple[float, float, float],
        at_m: tuple[float, float],
        material: Material,
        *,
        up_m: float = 0.0,
        turn_deg: float = 0.0,
        cell_m: float = 0.5,
    ) -> None:
        """A box: width, height, depth; on the ground or above it."""
        mesh = meshes.box(*size_m, cell_m).turned(turn_deg).moved(at_m[0], -up_m, at_m[1])
        self.add(name, mesh, material)

    def floor(self, name: str, half_m: tuple[float, float], material: Material) -> None:
        """A level ground around the origin."""
        x, z = half_m
        cell = max(0.35, math.sqrt(4 * x * z / 9000))
        flat = meshes.rectangle((-x, 0.0, -z), (2 * x, 0.0, 0.0), (0.0, 0.0, 2 * z), cell)
        self.add(name, facing(flat, (0.0, -1.0, 0.0)), material)

    def room(
        self, half_m: tuple[float, float], height_m: float, walls: Material, ceiling: Material
    ) -> None:
        """Four walls and a ceiling around the origin."""
        x, z = half_m
        for name, corner, along, inside in (
            ("wall ahead", (-x, 0.0, z), (2 * x, 0.0, 0.0), (0.0, 0.0, -1.0)),
            ("wall behind", (-x, 0.0, -z), (2 * x, 0.0, 0.0), (0.0, 0.0, 1.0)),
            ("left wall", (-x, 0.0, -z), (0.0, 0.0, 2 * z), (1.0, 0.0, 0.0)),
            ("right wall", (x, 0.0, -z), (0.0, 0.0, 2 * z), (-1.0, 0.0, 0.0)),
        ):
            flat = meshes.rectangle(corner, along, (0.0, -height_m, 0.0), 0.4)
            self.add(name, facing(flat, inside), walls)
        above = meshes.rectangle((-x, -height_m, -z), (2 * x, 0.0, 0.0), (0.0, 0.0, 2 * z), 0.6)
        self.add("ceiling", facing(above, (0.0, 1.0, 0.0)), ceiling)

    def scattered(
        self, count: int, half_m: tuple[float, float], free_m: float, apart_m: float
    ) -> list[tuple[float, float]]:
        """Random places in a rectangle, outside a circle around the origin and apart."""
        found: list[tuple[float, float]] = []
        for _ in range(60 * count):
            x, z = (float(self.rng.uniform(-h, h)) for h in half_m)
            near = any(math.hypot(x - a, z - b) < apart_m for a, b in found)
            if len(found) < count and math.hypot(x, z) > free_m and not near:
                found.append((x, z))
        return found

    def done(self) -> tuple[Thing, ...]:
        """All things."""
        return tuple(self.things)


def facing(mesh: Mesh, way: tuple[float, float, float]) -> Mesh:
    """A flat mesh whose normals point along `way`."""
    if float(mesh.normals[0] @ np.array(way)) > 0:
        return mesh
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1].copy(), -mesh.normals, mesh.uv)


def daylight(
    rng: np.random.Generator, *, clouds: bool = True, haze_m: float = 320.0, least_up: float = 0.65
) -> tuple[Lighting, str]:
    """A sun over an open place, and words for it."""
    around = float(rng.uniform(0, 2 * math.pi))
    up = float(rng.uniform(least_up, 1.9))
    low = up < 0.85
    sun = (1.75, 1.32, 0.86) if low else (1.65, 1.55, 1.36)
    above = (0.26, 0.32, 0.44) if low else (0.32, 0.38, 0.48)
    horizon = (0.80, 0.72, 0.62) if low else (0.62, 0.75, 0.90)
    lamp = Lamp((math.cos(around), -up, math.sin(around)), sun)
    lighting = Lighting(
        (lamp,),
        above,
        (0.16, 0.145, 0.12),
        (0.15, 0.32, 0.68),
        horizon,
        horizon,
        haze_m,
        int(rng.integers(1, 1000)) if clouds else 0,
    )
    return lighting, "low warm sun and long shadows" if low else "bright daylight under a high sun"


def rolling(
    half_m: float, height_m: float, seed: int, *, flat_m: float = 0.0, cell_m: float = 0.5
) -> Mesh:
    """Ground with gentle hills, flat around the origin and rising towards its rim."""
    count = int(2 * half_m / cell_m) + 1
    along = np.linspace(-half_m, half_m, count)
    x, z = np.meshgrid(along, along, indexing="ij")
    y = -ground_at(x, z, height_m, seed, flat_m)
    return up_facing(meshes.sheet(np.stack([x, y, z], axis=-1)), x, z)


def ground_at(
    x: np.ndarray, z: np.ndarray, height_m: float, seed: int, flat_m: float = 0.0
) -> np.ndarray:
    """Height of rolling ground above 0 at places."""
    from depthgauge.synth.scene.texture import waves

    field_ = waves(seed, 7.0, 3).field((x, z, np.zeros_like(x)))
    far = np.hypot(x, z)
    share = np.clip((far - flat_m) / 6.0, 0.0, 1.0)
    return np.asarray(height_m * share * (0.5 + 0.5 * field_))


def up_facing(mesh: Mesh, x: np.ndarray, z: np.ndarray) -> Mesh:
    """A sheet whose normals point up, with texture positions on the ground plane."""
    sign = -np.sign(mesh.normals[:, 1:2])
    uv = np.stack([x.ravel(), z.ravel()], axis=-1)
    return Mesh(mesh.vertices, mesh.triangles, mesh.normals * np.where(sign == 0, 1, sign), uv)
