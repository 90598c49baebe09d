"""What is on the two sides of every transparent surface: air, glass, liquid in a glass.

Transparent things are closed meshes. Where several overlap, the one that is listed last in the
scene is there and the others are not: a liquid that is listed after its bottle, and reaches a bit
into the wall, touches the glass without air between them. Rays and pictures follow the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.ray_scene import RayScene
from depthgauge.synth.scene.model import Thing

Ints = NDArray[np.int32]

AIR = -1
_WAYS = np.array([[0.36, 0.48, 0.8], [-0.8, 0.36, -0.48], [0.48, -0.8, 0.36]])
"""Directions along no axis, so that test rays do not run along the sides of boxes."""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The media beside triangles, by their numbers in the list of things, or `AIR`."""

    inside: Ints
    """(F,) behind the triangle."""
    outside: Ints
    """(F,) in front of it, where its normal points."""


def sides_of(things: Sequence[Thing]) -> list[Sides]:
    """The media beside the triangles of every thing; an opaque thing is its own inside."""
    clear = [n for n, thing in enumerate(things) if _is_medium(thing)]
    boxes = {n: _bounds(things[n]) for n in clear}
    return [_sides(things, number, boxes) for number in range(len(things))]


def _is_medium(thing: Thing) -> bool:
    return thing.material.transparent and not thing.material.thin


def _bounds(thing: Thing) -> NDArray[np.float64]:
    return np.stack([thing.mesh.vertices.min(axis=0), thing.mesh.vertices.max(axis=0)])


def _sides(things: Sequence[Thing], number: int, boxes: dict[int, NDArray[np.float64]]) -> Sides:
    thing = things[number]
    outside = np.full(len(thing.mesh.triangles), AIR, np.int32)
    if thing.material.transparent:
        own = _bounds(thing)
        middles = thing.mesh.vertices[thing.mesh.triangles].mean(axis=1)
        for other, box in boxes.items():
            if other != number and (own[0] <= box[1]).all() and (box[0] <= own[1]).all():
                outside[_contains(things[other], box, middles)] = other
    inside = outside if thing.material.thin else np.maximum(outside, np.int32(number))
    return Sides(inside, outside)


def _contains(
    thing: Thing, box: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether points are inside a closed mesh: what they see first is a back, from most sides."""
    found = np.asarray(((box[0] <= points) & (points <= box[1])).all(axis=1))
    near = np.flatnonzero(found)
    if not len(near):
        return found
    rays = RayScene(thing.mesh.vertices, thing.mesh.triangles)
    face, votes = rays.normals(), np.zeros(len(near), int)
    for way in _WAYS:
        hits = rays.cast(points[near], np.broadcast_to(way, (len(near), 3)))
        votes += (hits.triangle >= 0) & (face[hits.triangle] @ way > 0)
    found[near] = votes >= 2
    return found
