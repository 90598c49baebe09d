"""Exact geometry of a scene by ray queries: depth, and motion between times.

    room = trace(kitchen(seed=3), time_s=0.5)
    visible_surfaces(room, camera).depth
    motion_between(trace(scene, 0.0), camera, trace(scene, 0.1), camera).flow

Embree finds the triangle that a ray hits; the point is then computed in float64 (`RayScene`).
`render.layers` follows rays through glass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry.projection import inverse_pose, project, slopes_at, to_camera, transform
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.synth.scene.mesh import Mesh, join
from depthgauge.synth.scene.model import Scene
from depthgauge.types import Camera, Mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class TracedScene:
    """A scene at one time as a single mesh that rays can be cast into."""

    scene: Scene
    time_s: float
    mesh: Mesh
    rays: RayScene = field(repr=False)
    things: Ints
    """(F,) index into `scene.things` of every triangle."""
    objects: Ints
    """(F,) index into `names`."""
    names: tuple[str, ...]
    """Names of the objects."""
    categories: Ints
    """(F,) material class 0..3."""
    surfaces: Ints
    """(F,) 1 transparent, 2 mirror, 0 neither."""

    def looks(self, triangles: NDArray[np.integer]) -> NDArray[np.str_]:
        """The materials of triangles by name (`glass`, `diffuse` ...); empty for -1."""
        names = np.array([*(thing.material.look for thing in self.scene.things), ""])
        things = np.append(self.things, np.int32(-1))
        found: NDArray[np.str_] = names[things[triangles]]
        return found


def trace(scene: Scene, time_s: float = 0.0) -> TracedScene:
    """The scene at a time, ready for ray queries.

    Raises:
        MissingExtra: Embree is not installed.
    """
    things = scene.things_at(time_s)
    mesh = join([thing.mesh for thing in things])
    count = [len(thing.mesh.triangles) for thing in things]
    names = scene.object_names
    return TracedScene(
        scene,
        time_s,
        mesh,
        RayScene(mesh.vertices, mesh.triangles),
        per_triangle(range(len(things)), count),
        per_triangle([names.index(thing.name) for thing in things], count),
        names,
        per_triangle([thing.material.category for thing in things], count),
        per_triangle([thing.material.surface for thing in things], count),
    )


def per_triangle(values: Sequence[int], count: Sequence[int]) -> Ints:
    """A value of each thing for each of its triangles."""
    return np.repeat(np.array(values, np.int32), count)


# --- what a camera sees --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class VisibleSurfaces:
    """What the centres of a camera's pixels show."""

    depth: Floats
    """(H, W) in metres along the optical axis; NaN where nothing is."""
    points: Floats
    """(H, W, 3) in the world; NaN where nothing is."""
    triangles: Ints
    """(H, W); -1 where nothing is."""
    objects: Ints
    """(H, W) index into the scene's object names; -1 where nothing is."""


def visible_surfaces(traced: TracedScene, camera: Camera) -> VisibleSurfaces:
    """The first surface along the ray of every pixel, through the camera's own lens."""
    width, height = camera.size_px
    eye, ways = pixel_rays(camera)
    hits = traced.rays.cast(eye, ways)
    points = eye + hits.distance[:, None] * ways
    shape = (height, width)
    return VisibleSurfaces(
        hits.distance.reshape(shape),
        points.reshape(*shape, 3),
        hits.triangle.reshape(shape),
        _looked_up(traced.objects, hits.triangle).reshape(shape),
    )


def pixel_rays(camera: Camera) -> tuple[Floats, Floats]:
    """Where a camera's rays begin (3,), and their directions (H * W, 3) with depth 1."""
    width, height = camera.size_px
    y, x = np.mgrid[0:height, 0:width]
    return rays_at(camera, np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64))


def rays_at(camera: Camera, positions: Floats) -> tuple[Floats, Floats]:
    """Where the rays of image positions (N, 2) begin (3,), and their directions (N, 3).

    A direction has length 1 along the optical axis, so distances along it are depths.
    """
    slopes = slopes_at(positions, camera)
    ways = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
    return camera.world_from_camera[:3, 3], ways @ camera.world_from_camera[:3, :3].T


def hit_points(traced: TracedScene, camera: Camera, positions: Floats) -> tuple[Floats, Ints]:
    """Points (N, 3) of the world that image positions (N, 2) show, and their triangles."""
    eye, ways = rays_at(camera, positions)
    hits = traced.rays.cast(eye, ways)
    return eye + hits.distance[:, None] * ways, hits.triangle


def barycentric(mesh: Mesh, points: Floats, triangles: Ints) -> Floats:
    """Shares (N, 3) of the corners of a triangle in points on it."""
    corner = mesh.vertices[mesh.triangles[triangles]]
    u, v, w = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0], points - corner[:, 0]
    normal = np.cross(u, v)
    square = np.einsum("ij,ij->i", normal, normal)
    second = np.einsum("ij,ij->i", np.cross(w, v), normal) / square
    third = np.einsum("ij,ij->i", np.cross(u, w), normal) / square
    shares: Floats = np.clip(np.stack([1 - second - third, second, third], axis=-1), 0.0, 1.0)
    return shares


# --- motion --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class MotionField:
    """Where the surfaces that a camera sees at one time are at another."""

    before: VisibleSurfaces
    scene_flow: Floats
    """(H, W, 3) motion of each point in metres along the world's axes; 0 where nothing moves."""
    flow: Floats
    """(H, W, 2) motion in the image in px: x right, y down."""
    depth_after: Floats
    """(H, W) depth of the same point in the second camera, at the second time."""
    visible: Mask
    """(H, W) whether the second camera sees the point then, inside its image."""


def motion_between(
    before: TracedScene, camera_before: Camera, after: TracedScene, camera_after: Camera
) -> MotionField:
    """Exact scene flow and optical flow from one time (and camera) to another.

    The two cameras may be one that moves, or two cameras of a rig; with equal times this is the
    stereo case. Points keep their place on their object, so nothing is matched or searched.

    Args:
        before: The scene at the first time.
        camera_before: The camera whose pixels have the flow.
        after: The same scene at the second time.
        camera_after: The camera at the second time.

    Raises:
        Misuse: The two belong to different scenes.
    """
    if before.scene is not after.scene:
        raise Misuse("motion_between: both times must belong to the same scene.")
    seen = visible_surfaces(before, camera_before)
    later = _carried(before, after, seen)
    ends = _image_positions(later, camera_after)
    there = np.linalg.norm(later - camera_after.world_from_camera[:3, 3], axis=-1) > 0
    flat = later.reshape(-1, 3)
    free = after.rays.sees(camera_after.world_from_camera[:3, 3], flat).reshape(there.shape)
    size = np.array(camera_after.size_px)
    with np.errstate(invalid="ignore"):
        inside = ((ends >= -0.5) & (ends < size - 0.5)).all(axis=-1)
    return MotionField(
        seen,
        later - seen.points,
        ends - _image_positions(seen.points, camera_before),
        to_camera(later, camera_after)[..., 2],
        there & free & inside,
    )


def _carried(before: TracedScene, after: TracedScene, seen: VisibleSurfaces) -> Floats:
    """The points of one time at the other; those that do not move are identical to the bit."""
    later = seen.points.copy()
    if before.time_s == after.time_s:
        return later
    for name, motion in before.scene.motions.items():
        mine = seen.objects == before.names.index(name)
        step = motion(after.time_s) @ inverse_pose(motion(before.time_s))
        if mine.any() and not np.array_equal(step, np.eye(4)):
            later[mine] = transform(seen.points[mine], step)
    return later


def _image_positions(points: Floats, camera: Camera) -> Floats:
    return np.asarray(project(to_camera(points, camera), camera), np.float64)


def _looked_up(values: Ints, triangles: Ints) -> Ints:
    """Values of triangles; -1 for -1."""
    return np.where(triangles >= 0, values[triangles], np.int32(-1))
