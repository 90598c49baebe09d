"""A textured world, photographed with and without patterns by a rig that moves as it is told.

Every pixel is a ray into the exact scene, so a planted shift is exact: the pixel shows what another
position of the still photograph would show.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.capture.calibrate.calibration import FILE, Calibration, Pose, with_poses
from depthgauge.capture.steps import StepOutput, do_step
from depthgauge.geometry.projection import inverse_pose, slopes_at
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.sessions import Session, SimulatedTruth
from depthgauge.types import Camera

PATTERNS = 6
Shift = tuple[float, float]


def exact_calibration(truth: SimulatedTruth) -> Calibration:
    """What a perfect calibration of the world's cameras finds."""
    from_left = truth.cameras["L"].world_from_camera
    pairs = {}
    for name in "RC":
        camera_from_left = inverse_pose(truth.cameras[name].world_from_camera) @ from_left
        pairs[f"L{name}"] = Pose(camera_from_left[:3, :3], camera_from_left[:3, 3], 0.0)
    return Calibration(with_poses(truth.cameras, pairs), pairs)


class Photographer:
    """Photographs the world."""

    def __init__(self, truth: SimulatedTruth) -> None:
        self.truth = truth
        self.scene = RayScene(truth.vertices, truth.triangles)

    def points(self, camera: Camera, shift: Shift) -> np.ndarray:
        """(H, W, 3) what each pixel shows after everything moved right and down by `shift`."""
        width, height = camera.size_px
        grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).astype(float)
        slopes = slopes_at(grid - np.array(shift), camera).reshape(-1, 2)
        rays = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
        pose = camera.world_from_camera
        ways = rays @ pose[:3, :3].T
        hits = self.scene.cast(np.broadcast_to(pose[:3, 3], ways.shape), ways)
        return (pose[:3, 3] + ways * hits.distance[:, None]).reshape(height, width, 3)

    def picture(
        self, name: str, light: int, shift: Shift = (0.0, 0.0), gain: float = 1.0
    ) -> np.ndarray:
        """Under pattern `light`, or room light if it is negative; 8 bits with a little noise."""
        points = np.nan_to_num(self.points(self.truth.cameras[name], shift))
        levels = gain * _albedo(points) * _lamp(points, light)
        noise = np.random.default_rng([ord(name), light + 10, round(1000 + 100 * sum(shift))])
        levels = levels[..., None] * np.array([1.0, 0.9, 0.8]) + noise.normal(
            0, 0.7, (*levels.shape, 3)
        )
        return np.rint(np.clip(levels, 0, 255)).astype(np.uint8)


def _waves(points: np.ndarray, seed: int, count: int, lengths: tuple[float, float]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    total = np.zeros(points.shape[:-1])
    for _ in range(count):
        way = rng.normal(size=3)
        k = 2 * np.pi * way / np.linalg.norm(way) / rng.uniform(*lengths)
        total += np.cos(points @ k + rng.uniform(0, 2 * np.pi))
    return total / np.sqrt(count / 2)


def _albedo(points: np.ndarray) -> np.ndarray:
    """Fine paint with edges that are about a pixel wide."""
    return 0.6 + 0.25 * np.tanh(2 * _waves(points, 5, 14, (0.05, 0.11)))


def _lamp(points: np.ndarray, light: int) -> np.ndarray:
    if light < 0:
        return 150 + 40 * points[..., 0] - 25 * points[..., 1] * light
    return 130 + 55 * _waves(points, 100 + light, 10, (0.09, 0.25))


def write_photographs(
    folder: Path,
    truth: SimulatedTruth,
    *,
    moved: Mapping[str, Shift] | None = None,
    gain: float = 1.0,
    scenes: int = 2,
) -> None:
    """The session's photographs.

    Args:
        folder: The session's folder.
        truth: The world.
        moved: Shifts by `pattern/L`, `pattern/R/3`, `passive/L/im1` ...; the longest name counts.
        gain: Of the patterns' light.
        scenes: Photographs without patterns.
    """
    eye = Photographer(truth)

    def shift(kind: str, camera: str, name: str) -> Shift:
        keys = (f"{kind}/{camera}/{name}", f"{kind}/{camera}", kind)
        return next((moved[k] for k in keys if moved and k in moved), (0.0, 0.0))

    for camera in "LRC":
        names = [("passive", f"im{k}", -1 - k) for k in range(scenes)]
        if camera != "C":
            names += [("pattern", f"{t}", t) for t in range(PATTERNS)]
        for kind, name, light in names:
            path = folder / kind / camera / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            strength = gain if kind == "pattern" else 1.0
            io.write_image(path, eye.picture(camera, light, shift(kind, camera, name), strength))


def begin(work: Path, calibration: Calibration) -> None:
    """The step that `register` reads."""

    def make(folder: Path) -> StepOutput:
        io.write_text(folder / FILE, json.dumps(calibration.to_json()))
        views = {name: {} for name in calibration.cameras}
        io.write_text(folder / "views.json", json.dumps({"schema": 1, "cameras": views}))
        return StepOutput({})

    do_step(work, "calibrate", make, revision=1, options={})


def session_of(world, folder: Path) -> Session:
    """An empty copy of the world's session."""
    shutil.copytree(world.folder, folder)
    return replace(world.session, folder=folder)
