"""Photographs of the scene as it is: glass, mirrors, metal, under several illuminations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.synth.render.denoise import denoise, guides
from depthgauge.synth.render.mitsuba import PathTracer, through_lens, wide_pinhole
from depthgauge.synth.render.painted import PaintedScene
from depthgauge.synth.sets.capture_session._folder import write_picture
from depthgauge.synth.sets.capture_session._sensor import GAINS, developed, key
from depthgauge.types import Camera

FINER = 1.15
"""Pixels of the rendered picture for each of the photograph, along a side."""
_BRIGHT = 30.0
"""Light of a path that is brighter than so many full pixels is noise."""
_FULL = 0.85
_PREVIEW_PX, _PREVIEW_SAMPLES = 96, 10


class Studio:
    """The scene, the cameras and the path tracer."""

    def __init__(
        self,
        painted: PaintedScene,
        cameras: Mapping[str, Camera],
        *,
        samples: int,
        denoised: bool,
        seed: int,
    ) -> None:
        self._scene, self._painted, self._cameras = painted.traced.scene, painted, cameras
        self._tracer = PathTracer(self._scene, painted.pictures.shape[1])
        self.warnings = (self._tracer.warning,) if self._tracer.warning else ()
        self._samples, self._denoised, self._seed = samples, denoised, seed

    def photograph(
        self, folder: Path, illumination: int, done: Callable[[str, float], None]
    ) -> None:
        """Writes those of passive/<camera>/im<k>.png that are missing."""
        files = {c: folder / "passive" / c / f"im{illumination}.png" for c in self._cameras}
        missing = {name: file for name, file in files.items() if not file.is_file()}
        done(f"passive im{illumination}", len(files) - len(missing))
        if not missing:
            return
        lit = self._tracer.lit(self._scene.lights[illumination])
        exposure = self._exposure(lit)
        for name, file in missing.items():
            write_picture(file, self._picture(lit, name, illumination, exposure))
            done(f"passive im{illumination} in {name}", 1.0)

    def _picture(
        self, lit: Any, name: str, illumination: int, exposure: float
    ) -> NDArray[np.uint8]:
        camera = self._cameras[name]
        ideal = wide_pinhole(camera, FINER)
        seed = key(self._seed, "passive", name, illumination)
        light = self._tracer.render(lit, ideal, self._samples, seed) * exposure
        light = np.minimum(light, np.float32(_BRIGHT))
        if self._denoised:
            light = denoise(light, *guides(self._painted, ideal))
        seen = through_lens(light, ideal, camera) * GAINS[name]
        width, height = camera.size_px
        return developed(seen.reshape(-1, 3), seed).reshape(height, width, 3)

    def _exposure(self, lit: Any) -> float:
        """The exposure at which few pixels of the left photograph burn."""
        left = self._cameras["L"]
        height = round(_PREVIEW_PX * left.size_px[1] / left.size_px[0])
        small = scale_camera(left, _PREVIEW_PX, height)
        light = self._tracer.render(lit, wide_pinhole(small, 1.0), _PREVIEW_SAMPLES, 0)
        return _FULL / max(float(np.percentile(light.max(axis=2), 97.0)), 1e-6)
