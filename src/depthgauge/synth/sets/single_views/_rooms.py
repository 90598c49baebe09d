"""The rooms of the capture sessions, seen by one camera without distortion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library.rooms import SCENES, scene
from depthgauge.synth.scene.mesh import rotation
from depthgauge.synth.scene.model import Solid, solid
from depthgauge.synth.scene.texture import stored
from depthgauge.synth.sets.capture_session._rig import texture_px
from depthgauge.synth.sets.single_views._borders import (
    Floats,
    Probe,
    exact_gaps,
    flat_pieces,
    pieces,
)
from depthgauge.synth.sets.single_views._view import ExactView
from depthgauge.types import Camera

ROOMS = SCENES
_FOCAL_WIDTHS = 0.9
_EYE_M, _DOWN_DEG = 0.62, 24.0
_LAMP = (-0.45, -0.8, -0.4)


def room_view(name: str, seed: int, size_px: tuple[int, int]) -> ExactView:
    """A room, shaded simply: one lamp, its shadows, and light from above.

    Glass and mirrors are painted, as when patterns are projected onto them.
    """
    things = scene(name, seed)
    made = solid(things.things, texture_px(size_px[0]))
    camera = _camera(size_px)
    y, x = np.mgrid[: size_px[1], : size_px[0]].astype(np.float64)
    directions = _directions(camera, x.ravel(), y.ravel())
    hits = made.rays.cast(camera.world_from_camera[:3, 3], directions)
    depth = hits.distance.reshape(x.shape)
    shares = _shares(made, camera, directions, hits.distance, hits.triangle)
    world = _world_normals(made, hits.triangle, shares, directions)
    normals = (world @ camera.world_from_camera[:3, :3]).reshape(*x.shape, 3)
    parts = _smooth_parts(made)
    which = np.where(hits.triangle >= 0, parts[hits.triangle], -1).reshape(x.shape)
    gaps = exact_gaps(_probe(made, camera, parts), depth, which, normals)
    smooth, continuous = pieces(gaps, which, normals)
    light = _shaded(made, camera, directions, hits.distance, hits.triangle, shares, world)
    return ExactView(
        id=f"{name}-{seed:04d}",
        image=np.rint(stored(light.reshape(*x.shape, 3))).astype(np.uint8),
        depth=depth.astype(np.float32),
        normals=normals.astype(np.float32),
        smooth_labels=smooth,
        continuous_labels=continuous,
        planar=flat_pieces(smooth, normals),
        camera=camera,
        gap_right=gaps.right,
        gap_down=gaps.down,
    )


def _camera(size_px: tuple[int, int]) -> Camera:
    pose = np.eye(4)
    pose[:3, :3] = rotation(-_DOWN_DEG, "x")
    pose[:3, 3] = 0.0, -_EYE_M, 0.0
    focal = _FOCAL_WIDTHS * size_px[0]
    centre = ((size_px[0] - 1) / 2, (size_px[1] - 1) / 2)
    return Camera((focal, focal), centre, size_px, world_from_camera=pose)


def _directions(camera: Camera, x: Floats, y: Floats) -> Floats:
    """Rays of the world whose lengths count depths along the optical axis."""
    (focal, _), (cx, cy) = camera.focal_px, camera.centre_px
    own = np.stack([(x - cx) / focal, (y - cy) / focal, np.ones_like(x)], axis=-1)
    turned: Floats = own @ camera.world_from_camera[:3, :3].T
    return turned


def _probe(made: Solid, camera: Camera, parts: NDArray[np.int32]) -> Probe:
    def probe(x: Floats, y: Floats) -> tuple[Floats, NDArray[Any]]:
        hits = made.rays.cast(camera.world_from_camera[:3, 3], _directions(camera, x, y))
        return hits.distance, np.where(hits.triangle >= 0, parts[hits.triangle], -1)

    return probe


def _smooth_parts(made: Solid) -> NDArray[np.int32]:
    """Of every triangle the number of its smooth part: those that share corners are one."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, c = made.mesh.triangles.T
    first, second = np.concatenate([a, b]), np.concatenate([b, c])
    count = len(made.mesh.vertices)
    links = coo_matrix((np.ones(first.size, np.int8), (first, second)), shape=(count, count))
    numbers = connected_components(links, directed=False)[1]
    return np.asarray(numbers[a], np.int32)


def _shares(
    made: Solid, camera: Camera, directions: Floats, depth: Floats, triangle: NDArray[np.int32]
) -> Floats:
    """How much of each corner of its triangle a hit is (barycentric)."""
    at = camera.world_from_camera[:3, 3] + depth[:, None] * directions
    corner = made.mesh.vertices[made.mesh.triangles[triangle]]
    u, v, w = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0], at - corner[:, 0]
    normal = np.cross(u, v)
    square = np.einsum("ij,ij->i", normal, normal)
    second = np.einsum("ij,ij->i", np.cross(w, v), normal) / square
    third = np.einsum("ij,ij->i", np.cross(u, w), normal) / square
    shares: Floats = np.clip(np.stack([1 - second - third, second, third], axis=-1), 0.0, 1.0)
    return shares


def _world_normals(
    made: Solid, triangle: NDArray[np.int32], shares: Floats, directions: Floats
) -> Floats:
    """Normals of the smooth shape that the triangles stand for, towards the viewer."""
    corners = made.mesh.normals[made.mesh.triangles[triangle]]
    normals = np.einsum("ij,ijk->ik", shares, corners)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # Thin things (leaves, cloth) are seen from both sides; so tells the triangle, not the mean.
    flat = made.rays.normals()[triangle]
    behind = np.einsum("ij,ij->i", flat, directions) > 0
    normals[behind] *= -1
    # A mean of corners may turn away at a silhouette, where the triangle does not.
    facing = np.einsum("ij,ij->i", normals, directions)
    length = np.einsum("ij,ij->i", directions, directions)
    over = facing > 0
    normals[over] -= (facing[over] / length[over])[:, None] * directions[over]
    unit: Floats = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return unit


def _shaded(
    made: Solid,
    camera: Camera,
    directions: Floats,
    depth: Floats,
    triangle: NDArray[np.int32],
    shares: Floats,
    normals: Floats,
) -> NDArray[np.float32]:
    """Light (N, 3) that arrives: Lambert's law for one lamp with its shadow, and the sky."""
    at = camera.world_from_camera[:3, 3] + depth[:, None] * directions
    lamp = np.array(_LAMP) / np.linalg.norm(_LAMP)
    direct = np.maximum(normals @ lamp, 0.0)
    # The room is closed: the lamp hangs below its ceiling.
    direct *= made.rays.sees(at + 2e-3 * normals, at + 1.2 * lamp)
    above = 0.65 - 0.35 * normals[:, 1]
    tone = _tones(made, triangle, shares)
    light = 0.85 * direct + 0.5 * above
    return np.asarray(tone * light[:, None], np.float32)


def _tones(made: Solid, triangle: NDArray[np.int32], shares: Floats) -> NDArray[np.float32]:
    """Colours of the painted things, (N, 3)."""
    tone = made.albedo[triangle].copy()
    number = made.texture[triangle]
    uv = np.einsum("ij,ijk->ik", shares, made.mesh.uv[made.mesh.triangles[triangle]])
    side = made.pictures.shape[1]
    textured = number >= 0
    column, row = (
        np.floor(uv[textured, i] / made.texture_m[number[textured]] * side).astype(int) % side
        for i in (0, 1)
    )
    tone[textured] = made.pictures[number[textured], row, column]
    return tone
