"""The scene with everything shiny sprayed with paint: how its surfaces reflect light."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.embree import TracedScene, per_triangle

PAINT = 0.72
"""Reflectance of the spray that makes glass and metal diffuse."""


@dataclass(frozen=True, slots=True, eq=False)
class PaintedScene:
    """A traced scene and the reflectance of its painted surfaces."""

    traced: TracedScene
    albedo: NDArray[np.float32]
    """(F, 3) reflectance of triangles without a texture."""
    texture: NDArray[np.int32]
    """(F,) number of the texture, -1 for none."""
    texture_m: NDArray[np.float32]
    """(K,) side of each texture's square."""
    pictures: NDArray[np.float32]
    """(K, h, w, 3) linear light; K is at least 1."""


def texture_px(width_px: int) -> int:
    """Side of the texture pictures for images of this width: finer than the camera's pixels."""
    return min(2048, max(256, 1 << math.ceil(math.log2(0.75 * width_px))))


def paint(traced: TracedScene, texture_px: int) -> PaintedScene:
    """Paints everything that is not diffuse; textures become pictures of this side."""
    things = traced.scene.things
    count = [len(thing.mesh.triangles) for thing in things]
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
    return PaintedScene(
        traced,
        np.repeat(np.array(tones, np.float32), count, axis=0),
        per_triangle(numbers, count),
        np.array(sides or [1.0], np.float32),
        np.stack(pictures or [np.zeros((1, 1, 3), np.float32)]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Normals and reflectance at points."""

    normal: NDArray[np.float32]
    """(N, 3) smooth, towards the eye."""
    face: NDArray[np.float32]
    """(N, 3) normals of the triangle itself."""
    tone: NDArray[np.float32]
    """(N, 3) reflectance of the painted surface; 0 where there is no point."""


def surface_at(
    painted: PaintedScene,
    eye: NDArray[np.float64],
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
) -> Surface:
    """The surface at points of triangles, as seen from the eye."""
    from depthgauge.synth.render._kernels import surface

    mesh = painted.traced.mesh
    found = Surface(*(np.zeros(points.shape, np.float32) for _ in range(3)))
    shape = (mesh.vertices, mesh.triangles, mesh.normals, mesh.uv)
    reflectance = (painted.albedo, painted.texture, painted.texture_m, painted.pictures)
    out = (found.normal, found.face, found.tone)
    surface(points, triangles, eye.copy(), *shape, *reflectance, *out)
    return found
