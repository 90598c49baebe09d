"""Photographs of the scene as it is: glass, mirrors, metal, under several illuminations.

The path tracer knows no lens distortion: it renders a larger picture of an ideal camera, whose
light is then looked up where the exact lens looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import MissingExtra
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.synth.render import mitsuba as _mitsuba
from depthgauge.synth.scene.model import Scene, Solid
from depthgauge.synth.sets.capture_session._folder import write_picture
from depthgauge.synth.sets.capture_session._painted import hit_points, surface_at
from depthgauge.synth.sets.capture_session._sensor import developed, key
from depthgauge.types import Camera

GAINS = {"L": 1.0, "C": 1.08, "R": 0.97}
"""How sensitive the cameras are."""
FINER = 1.15
"""Pixels of the rendered picture for each of the photograph, along a side."""
_WAVE = 3_000_000
"""Paths at a time: bounds the memory."""
_BRIGHT = 30.0
"""Light of a path that is brighter than so many full pixels is noise."""
_FULL = 0.85
_PREVIEW_PX, _PREVIEW_SAMPLES = 96, 10

_QUARTERS = np.array([[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]])

Floats = NDArray[np.float32]


class Studio:
    """The scene, the cameras and the path tracer."""

    def __init__(
        self,
        scene: Scene,
        solid: Solid,
        cameras: Mapping[str, Camera],
        *,
        samples: int,
        denoise: bool,
        seed: int,
    ) -> None:
        variant, warning = _mitsuba.working_variant()
        self._mi = _mitsuba.mitsuba(variant)
        self.warnings = (warning,) if warning else ()
        self._scene, self._solid, self._cameras = scene, solid, cameras
        self._shapes: dict[str, Any] | None = None
        self._texture_px = solid.pictures.shape[1]
        self._samples, self._denoise, self._seed = samples, denoise, seed

    def photograph(
        self, folder: Path, illumination: int, done: Callable[[str, float], None]
    ) -> None:
        """Writes passive/<camera>/im<k>.png of all cameras that are not there."""
        files = {c: folder / "passive" / c / f"im{illumination}.png" for c in self._cameras}
        missing = {name: file for name, file in files.items() if not file.is_file()}
        done(f"passive im{illumination}", len(files) - len(missing))
        if not missing:
            return
        if self._shapes is None:
            self._shapes = _mitsuba.shapes(self._mi, self._scene, self._texture_px)
        lamps = self._scene.lights[illumination]
        scene = _mitsuba.loaded(self._mi, self._shapes, lamps)
        exposure = self._exposure(scene)
        for name, file in missing.items():
            write_picture(file, self._picture(scene, name, illumination, exposure))
            done(f"passive im{illumination} in {name}", 1.0)

    def _picture(
        self, scene: Any, name: str, illumination: int, exposure: float
    ) -> NDArray[np.uint8]:
        camera = self._cameras[name]
        ideal = wide_pinhole(camera, FINER)
        seed = key(self._seed, "passive", name, illumination)
        light = self._rendered(scene, ideal, self._samples, seed) * exposure
        light = np.minimum(light, np.float32(_BRIGHT))
        if self._denoise:
            light = denoised(light, *self._guides(ideal))
        seen = through_lens(light, ideal, camera) * GAINS[name]
        width, height = camera.size_px
        return developed(seen.reshape(-1, 3), seed).reshape(height, width, 3)

    def _exposure(self, scene: Any) -> float:
        """So that few pixels of the left photograph burn."""
        left = self._cameras["L"]
        height = round(_PREVIEW_PX * left.size_px[1] / left.size_px[0])
        small = scale_camera(left, _PREVIEW_PX, height)
        light = self._rendered(scene, wide_pinhole(small, 1.0), _PREVIEW_SAMPLES, 0)
        return _FULL / max(float(np.percentile(light.max(axis=2), 97.0)), 1e-6)

    def _rendered(self, scene: Any, camera: Camera, samples: int, seed: int) -> Floats:
        """Linear light (H, W, 3), the mean of passes that fit into the memory."""
        width, height = camera.size_px
        each = max(1, min(samples, _WAVE // (width * height)))
        total = np.zeros((height, width, 3), np.float64)
        taken = 0
        for number in range(math.ceil(samples / each)):
            now = min(each, samples - taken)
            sensor = self._mi.load_dict(self._sensor(camera, now))
            image = self._mi.render(scene, sensor=sensor, spp=now, seed=seed + number)
            total += now * np.asarray(image, np.float64)[..., :3]
            taken += now
        return np.asarray(total / taken, np.float32)

    def _sensor(self, camera: Camera, samples: int) -> dict[str, Any]:
        # Mitsuba's cameras have x to the left and y up.
        pose = camera.world_from_camera @ np.diag([-1.0, -1.0, 1.0, 1.0])
        width, height = camera.size_px
        angle = 2 * math.degrees(math.atan(width / 2 / camera.focal_px[0]))
        film = {"type": "hdrfilm", "width": width, "height": height, "pixel_format": "rgb"}
        return {
            "type": "perspective",
            "fov": angle,
            "fov_axis": "x",
            "near_clip": 0.02,
            "far_clip": 50.0,
            "to_world": self._mi.ScalarTransform4f(pose.tolist()),
            "sampler": {"type": "independent", "sample_count": samples},
            "film": {**film, "rfilter": {"type": "box"}, "component_format": "float32"},
        }

    def _guides(self, camera: Camera) -> tuple[Floats, Floats]:
        """Reflectance and normals (H, W, 3) of what is seen first, for the denoiser."""
        width, height = camera.size_px
        guides = np.ones((2, height, width, 3), np.float32)
        for first in range(0, height, 128):
            y, x = np.mgrid[first : min(first + 128, height), 0:width]
            pixels = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
            near = (pixels[:, None] + _QUARTERS).reshape(-1, 2)
            points, hits = hit_points(self._solid, camera, near)
            eye = camera.world_from_camera[:3, 3]
            found = surface_at(self._solid, eye, points, hits)
            for guide, values in zip(guides, (found.tone, found.normal), strict=True):
                mean = values.reshape(-1, len(_QUARTERS), 3).mean(axis=1)
                guide[first : first + 128] = mean.reshape(-1, width, 3)
        return guides[0], guides[1]


def wide_pinhole(camera: Camera, finer: float) -> Camera:
    """An ideal camera at the same place whose image covers all that the lens sees."""
    width, height = camera.size_px
    xs, ys = (np.linspace(-0.5, n - 0.5, 65) for n in (width, height))
    sides = [(x, y) for x in xs for y in ys[[0, -1]]], [(x, y) for y in ys for x in xs[[0, -1]]]
    reach = np.abs(slopes_at(np.array([*sides[0], *sides[1]]), camera)).max(axis=0)
    focal = camera.focal_px[0] * finer
    # Two pixels more on each side, for the interpolation.
    size = [2 * math.ceil(float(r) * focal + 2) for r in reach]
    centre = ((size[0] - 1) / 2, (size[1] - 1) / 2)
    pose = camera.world_from_camera
    return Camera((focal, focal), centre, (size[0], size[1]), (), pose)


def through_lens(light: Floats, ideal: Camera, camera: Camera) -> Floats:
    """An ideal camera's picture as the lens shows it; never negative."""
    import cv2

    width, height = camera.size_px
    out = np.zeros((height, width, 3), np.float32)
    for first in range(0, height, 512):
        y, x = np.mgrid[first : min(first + 512, height), 0:width]
        slopes = slopes_at(np.stack([x, y], axis=-1).astype(np.float64), camera)
        ways = np.concatenate([slopes, np.ones((*slopes.shape[:2], 1))], axis=-1)
        at = project(ways, ideal).astype(np.float32)
        out[first : first + 512] = cv2.remap(light, at[..., 0], at[..., 1], cv2.INTER_CUBIC)
    return np.maximum(out, 0.0)


def denoised(light: Floats, tone: Floats, normal: Floats) -> Floats:
    """The picture without the path tracer's noise (Open Image Denoise).

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import pyoidn
    except ImportError as error:
        raise MissingExtra(
            "denoising needs pyoidn, which is not installed; say: pip install "
            "'depthgauge[render]', or render without it"
        ) from error
    return np.asarray(pyoidn.denoise(light, albedo=tone, normal=normal, hdr=True), np.float32)
