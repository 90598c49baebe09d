"""Removes a path tracer's noise (Open Image Denoise)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import MissingExtra
from depthgauge.synth.render.embree import hit_points
from depthgauge.synth.render.painted import PaintedScene, surface_at
from depthgauge.types import Camera

Floats = NDArray[np.float32]
_QUARTERS = np.array([[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]])


def denoise(light: Floats, tone: Floats, normal: Floats) -> Floats:
    """The picture without noise, guided by reflectance and normals (H, W, 3).

    Raises:
        MissingExtra: The denoiser is not installed.
    """
    try:
        import pyoidn
    except ImportError as error:
        raise MissingExtra(
            "denoising needs pyoidn, which is not installed; run: pip install "
            "'depthgauge[render]', or render without it"
        ) from error
    return np.asarray(pyoidn.denoise(light, albedo=tone, normal=normal, hdr=True), np.float32)


def guides(painted: PaintedScene, camera: Camera) -> tuple[Floats, Floats]:
    """Reflectance and normals (H, W, 3) of what a camera sees first."""
    width, height = camera.size_px
    found = np.ones((2, height, width, 3), np.float32)
    for first in range(0, height, 128):
        y, x = np.mgrid[first : min(first + 128, height), 0:width]
        pixels = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
        near = (pixels[:, None] + _QUARTERS).reshape(-1, 2)
        points, triangles = hit_points(painted.traced, camera, near)
        eye = camera.world_from_camera[:3, 3]
        surface = surface_at(painted, eye, points, triangles)
        for guide, values in zip(found, (surface.tone, surface.normal), strict=True):
            mean = values.reshape(-1, len(_QUARTERS), 3).mean(axis=1)
            guide[first : first + 128] = mean.reshape(-1, width, 3)
    return found[0], found[1]
