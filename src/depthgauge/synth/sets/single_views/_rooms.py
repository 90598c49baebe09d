"""The rooms of the capture sessions, seen by one camera without distortion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library import rooms
from depthgauge.synth.render.embree import (
    TracedScene,
    barycentric,
    pixel_rays,
    rays_at,
    trace,
    visible_surfaces,
)
from depthgauge.synth.render.painted import PaintedScene, paint, texture_px
from depthgauge.synth.scene.camera import pinhole
from depthgauge.synth.scene.mesh import rotation
from depthgauge.synth.scene.texture import stored
from depthgauge.synth.sets.single_views._borders import (
    Floats,
    Probe,
    exact_gaps,
    flat_pieces,
    pieces,
)
from depthgauge.synth.sets.single_views._view import ExactView
from depthgauge.types import Camera

ROOMS = tuple(rooms.ROOMS)
"""Names of the rooms."""
_FOCAL_WIDTHS = 0.9
_EYE_M, _DOWN_DEG = 0.62, 24.0
_LAMP = (-0.45, -0.8, -0.4)


def room_view(name: str, seed: int, size_px: tuple[int, int]) -> ExactView:
    """A room, shaded simply: one lamp, its shadows, and light from above.

    Glass and mirrors are painted, as when patterns are projected onto them.
    """
    traced = trace(rooms.room_by_name(name, seed))
    camera = _camera(size_px)
    eye, directions = pixel_rays(camera)
    seen = visible_surfaces(traced, camera)
    depth, triangle, shape = seen.depth, seen.triangles.ravel(), seen.depth.shape
    at = eye + depth.reshape(-1, 1) * directions
    shares = barycentric(traced.mesh, at, triangle)
    world = _world_normals(traced, triangle, shares, directions)
    normals = (world @ camera.world_from_camera[:3, :3]).reshape(*shape, 3)
    parts = _smooth_parts(traced)
    which = np.where(triangle >= 0, parts[triangle], -1).reshape(shape)
    gaps = exact_gaps(_probe(traced, camera, parts), depth, which, normals)
    smooth, continuous = pieces(gaps, which, normals)
    painted = paint(traced, texture_px(size_px[0]))
    light = _shaded(painted, at, triangle, shares, world)
    return ExactView(
        id=f"{name}-{seed:04d}",
        image=np.rint(stored(light.reshape(*shape, 3))).astype(np.uint8),
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
    return pinhole(size_px, _FOCAL_WIDTHS * size_px[0], pose)


def _probe(traced: TracedScene, camera: Camera, parts: NDArray[np.int32]) -> Probe:
    def probe(x: Floats, y: Floats) -> tuple[Floats, NDArray[Any]]:
        hits = traced.rays.cast(*rays_at(camera, np.stack([x, y], axis=-1)))
        return hits.distance, np.where(hits.triangle >= 0, parts[hits.triangle], -1)

    return probe


def _smooth_parts(traced: TracedScene) -> NDArray[np.int32]:
    """The number of each triangle's smooth part: triangles that share corners belong together."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, c = traced.mesh.triangles.T
    first, second = np.concatenate([a, b]), np.concatenate([b, c])
    count = len(traced.mesh.vertices)
    links = coo_matrix((np.ones(first.size, np.int8), (first, second)), shape=(count, count))
    numbers = connected_components(links, directed=False)[1]
    return np.asarray(numbers[a], np.int32)


def _world_normals(
    traced: TracedScene, triangle: NDArray[np.int32], shares: Floats, directions: Floats
) -> Floats:
    """Normals of the smooth shape that the triangles stand for, towards the viewer."""
    corners = traced.mesh.normals[traced.mesh.triangles[triangle]]
    normals = np.einsum("ij,ijk->ik", shares, corners)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # Thin things (leaves, cloth) are seen from both sides; the triangle decides which one.
    flat = traced.rays.normals()[triangle]
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
    painted: PaintedScene,
    at: Floats,
    triangle: NDArray[np.int32],
    shares: Floats,
    normals: Floats,
) -> NDArray[np.float32]:
    """Light (N, 3) that arrives: Lambert's law for one lamp with its shadow, and the sky."""
    lamp = np.array(_LAMP) / np.linalg.norm(_LAMP)
    direct = np.maximum(normals @ lamp, 0.0)
    # The room is closed: the lamp hangs below its ceiling.
    direct *= painted.traced.rays.sees(at + 2e-3 * normals, at + 1.2 * lamp)
    above = 0.65 - 0.35 * normals[:, 1]
    tone = _tones(painted, triangle, shares)
    light = 0.85 * direct + 0.5 * above
    return np.asarray(tone * light[:, None], np.float32)


def _tones(
    painted: PaintedScene, triangle: NDArray[np.int32], shares: Floats
) -> NDArray[np.float32]:
    """Colours of the painted things, (N, 3)."""
    tone = painted.albedo[triangle].copy()
    number = painted.texture[triangle]
    mesh = painted.traced.mesh
    uv = np.einsum("ij,ijk->ik", shares, mesh.uv[mesh.triangles[triangle]])
    side = painted.pictures.shape[1]
    textured = number >= 0
    column, row = (
        np.floor(uv[textured, i] / painted.texture_m[number[textured]] * side).astype(int) % side
        for i in (0, 1)
    )
    tone[textured] = painted.pictures[number[textured], row, column]
    return tone
