"""Pictures by direct light only: no path is traced further than to a lamp.

    painted = paint(trace(scene, time_s), texture_px(camera.size_px[0]))
    picture = direct_view(painted, camera)

There is no noise, all views of a scene have the same exposure, and a view takes milliseconds where
a path tracer takes seconds. Glass and metal are painted grey, as `painted` says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.embree import hit_points
from depthgauge.synth.render.painted import PaintedScene, surface_at
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.texture import stored
from depthgauge.types import Camera


def direct_view(
    painted: PaintedScene,
    camera: Camera,
    lamps: Sequence[Light] | None = None,
    *,
    per_side: int = 2,
    ambient: float = 0.45,
    sky: tuple[float, float, float] = (0.55, 0.7, 0.9),
) -> NDArray[np.uint8]:
    """What a camera sees, (H, W, 3) RGB as images store it.

    Args:
        painted: The scene at a time.
        camera: Any camera.
        lamps: By default those of the scene's first illumination. Each shines from its centre, with
            shadows and without falling off with the distance, so no exposure has to be chosen.
        per_side: Rays along each side of a pixel; their light is averaged, so edges are smooth.
        ambient: Share of light that comes from everywhere.
        sky: Light of rays that hit nothing.
    """
    width, height = camera.size_px
    lamps = painted.traced.scene.lights[0] if lamps is None else lamps
    total = np.zeros((height * width, 3))
    y, x = np.mgrid[0:height, 0:width]
    centres = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
    steps = (np.arange(per_side) + 0.5) / per_side - 0.5
    for down in steps:
        for right in steps:
            total += _light(painted, camera, centres + np.array([right, down]), lamps, ambient, sky)
    picture = np.rint(stored(np.clip(total / per_side**2, 0.0, 1.0)))
    return picture.reshape(height, width, 3).astype(np.uint8)


def _light(
    painted: PaintedScene,
    camera: Camera,
    positions: NDArray[np.float64],
    lamps: Sequence[Light],
    ambient: float,
    sky: tuple[float, float, float],
) -> NDArray[np.float64]:
    """Light (N, 3) that comes from image positions."""
    points, triangles = hit_points(painted.traced, camera, positions)
    eye = camera.world_from_camera[:3, 3]
    surface = surface_at(painted, eye, points, triangles)
    strength = np.array([lamp.colour for lamp in lamps]).reshape(-1, 3)
    strength = strength / max(float(strength.sum(axis=0).max(initial=0.0)), 1e-9)
    light = np.full(points.shape, ambient if len(strength) else 1.0)
    for lamp, colour in zip(lamps, strength, strict=True):
        way = np.asarray(lamp.centre, np.float64) - points
        length = np.linalg.norm(way, axis=1, keepdims=True)
        steep = np.einsum("ij,ij->i", way / np.maximum(length, 1e-9), surface.normal)
        lit = painted.traced.rays.sees(np.asarray(lamp.centre, np.float64), points)
        share = np.where(lit, np.clip(steep, 0.0, 1.0), 0.0)
        light += (1 - ambient) * share[:, None] * colour
    return np.where((triangles >= 0)[:, None], surface.tone * light, np.asarray(sky))
