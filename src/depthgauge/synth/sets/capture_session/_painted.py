"""The painted scene under projected patterns, seen by the exact distorted camera.

Everything in it is diffuse, so the light of a projector that reaches a point is known in closed
form: what the projector's picture shows in that direction, times the cosine at the surface over
the squared distance, where nothing stands in between. What comes from other surfaces is taken as
the same everywhere: a constant share of the mean light, with the room's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.projection import inverse_pose, slopes_at
from depthgauge.synth.scene.model import Solid
from depthgauge.synth.sets.capture_session._sensor import footprint
from depthgauge.types import Camera

_INDIRECT = 0.07
"""Light from other surfaces, as a share of the mean light from projectors."""
_AMBIENT = 0.03
"""Light of the room itself, the same."""
_FULL = 0.80
"""How full the brightest pixels are."""
_BATCH = 1 << 20
"""Samples at a time."""
_PREVIEW_PX = 20_000
GAP_M = 5e-4
"""Surfaces that are nearer than this to a lit point cast no shadow on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Lighting:
    """What shines on the painted scene, and how long the shutter is open."""

    solid: Solid
    projectors: Mapping[str, Camera]
    shown: NDArray[np.uint8]
    """(P, h, w, T, 3), linear."""
    ambient: float = 0.0
    """Light that is everywhere, in the units of `shown` per square metre."""
    gain: float = 1.0
    """From light to the filling of a pixel."""


def exposed(lighting: Lighting, camera: Camera) -> Lighting:
    """The lighting with its constant part, and an exposure at which nearly nothing burns."""
    width, height = camera.size_px
    step = max(1, int((width * height / _PREVIEW_PX) ** 0.5))
    y, x = np.mgrid[step // 2 : height : step, step // 2 : width : step]
    positions = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
    light, _ = _lit(lighting, camera, positions, 1)
    mean = float(lighting.shown[..., :1, :].mean()) * float(light[..., 2].sum(axis=0).mean())
    ambient = (_INDIRECT + _AMBIENT) * mean
    first = np.ascontiguousarray(lighting.shown[..., :1, :])
    dark = Lighting(lighting.solid, lighting.projectors, first, ambient, 1.0)
    bright = float(np.percentile(_seen(dark, camera, positions, 1), 98.5))
    return Lighting(
        lighting.solid, lighting.projectors, lighting.shown, ambient, _FULL / max(bright, 1e-12)
    )


def row_bands(camera: Camera, side: int) -> list[range]:
    """The image's rows in bands that bound the memory."""
    width, height = camera.size_px
    rows = max(1, _BATCH // (width * side * side))
    return [range(first, min(first + rows, height)) for first in range(0, height, rows)]


def photographed(
    lighting: Lighting, camera: Camera, side: int, bands: list[range]
) -> Iterator[tuple[range, NDArray[np.float32]]]:
    """Bands of rows with their light (rows * width, T, 3), 1 for a full pixel.

    Args:
        lighting: Exposed.
        camera: Exact, with its distortion.
        side: Samples of a pixel along each side.
        bands: Of `row_bands`.
    """
    width = camera.size_px[0]
    offsets = footprint(side)
    for band in bands:
        y, x = np.mgrid[band.start : band.stop, 0:width]
        pixels = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
        positions = (pixels[:, None] + offsets).reshape(-1, 2)
        yield band, _seen(lighting, camera, positions, len(offsets))


def _seen(
    lighting: Lighting, camera: Camera, positions: NDArray[np.float64], samples: int
) -> NDArray[np.float32]:
    from depthgauge.synth.sets.capture_session._light_kernels import gather

    light, tone = _lit(lighting, camera, positions, samples)
    shown = lighting.shown.reshape(*lighting.shown.shape[:3], -1)
    out = np.zeros((len(positions) // samples, shown.shape[3]), np.float32)
    gather(light, tone, shown, lighting.ambient, lighting.gain, samples, out)
    return out.reshape(len(out), -1, 3)


def _lit(
    lighting: Lighting, camera: Camera, positions: NDArray[np.float64], samples: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What reaches image positions: (P, N, 3) of each projector, and the reflectance (N, 3)."""
    from depthgauge.synth.sets.capture_session._light_kernels import projected

    solid = lighting.solid
    points, hits = hit_points(solid, camera, positions)
    found = surface_at(solid, camera.world_from_camera[:3, 3], points, hits)
    groups = _grouped(np.where(hits < 0, -1, solid.objects[hits]), samples)
    light = np.zeros((len(lighting.projectors), len(points), 3), np.float32)
    for number, projector in enumerate(lighting.projectors.values()):
        stand = projector.world_from_camera[:3, 3].copy()
        inverse = inverse_pose(projector.world_from_camera)
        centre, size = np.array(projector.centre_px), np.array(projector.size_px, np.float64)
        lens = (projector.focal_px[0], centre, size)
        projected(points, found.normal, found.face, inverse, stand, *lens, light[number])
        light[number, ~_reached(solid, stand, points, light[number, :, 2] > 0, groups), 2] = 0.0
    return light, found.tone


def _grouped(objects: NDArray[np.int32], samples: int) -> NDArray[np.intp]:
    """For each sample the one that is asked for its shadow: its own, or that of its quarter.

    A quarter of a pixel whose samples all show one object is asked once.
    """
    own = np.arange(len(objects))
    side = math.isqrt(samples)
    if side % 2:
        return own
    half = side // 2
    quarters = own.reshape(-1, 2, half, 2, half).transpose(0, 1, 3, 2, 4).reshape(-1, half * half)
    seen = objects[quarters]
    alike = (seen == seen[:, :1]).all(axis=1, keepdims=True)
    leaders = own.copy()
    leaders[quarters] = np.where(alike, quarters[:, :1], quarters)
    return leaders


def _reached(
    solid: Solid,
    stand: NDArray[np.float64],
    points: NDArray[np.float64],
    faces: NDArray[np.bool_],
    groups: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Which of the points that face a projector stand in no shadow."""
    own = np.arange(len(points))
    leader = np.where(faces[groups], groups, own)
    asked = np.flatnonzero(faces & (leader == own))
    free = np.zeros(len(points), np.bool_)
    free[asked] = solid.rays.sees(stand, points[asked], GAP_M)
    return np.asarray(faces & free[leader])


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """What surfaces are like at points."""

    normal: NDArray[np.float32]
    """(N, 3) smooth, towards the eye."""
    face: NDArray[np.float32]
    """(N, 3) of the triangle itself."""
    tone: NDArray[np.float32]
    """(N, 3) reflectance of the painted surface; 0 where there is no point."""


def surface_at(
    solid: Solid,
    eye: NDArray[np.float64],
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
) -> Surface:
    """The surface at points of triangles, as seen from the eye."""
    from depthgauge.synth.sets.capture_session._light_kernels import surface

    mesh = solid.mesh
    found = Surface(*(np.zeros(points.shape, np.float32) for _ in range(3)))
    shape = (mesh.vertices, mesh.triangles, mesh.normals, mesh.uv)
    paint = (solid.albedo, solid.texture, solid.texture_m, solid.pictures)
    out = (found.normal, found.face, found.tone)
    surface(points, triangles, eye.copy(), *shape, *paint, *out)
    return found


def hit_points(
    solid: Solid, camera: Camera, positions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Points (N, 3) of the world that image positions (N, 2) show, and their triangles."""
    slopes = slopes_at(positions, camera)
    ways = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
    ways = ways @ camera.world_from_camera[:3, :3].T
    eye = camera.world_from_camera[:3, 3]
    hits = solid.rays.cast(eye, ways)
    return eye + hits.distance[:, None] * ways, hits.triangle
