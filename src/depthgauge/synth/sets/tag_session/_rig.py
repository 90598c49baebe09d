"""The stereo rig, drawn from a seed: two cameras with distorted lenses, mounted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from depthgauge.synth.scene.camera import pose_looking
from depthgauge.synth.scene.mesh import rotation
from depthgauge.synth.scene.motion import Pose
from depthgauge.types import Camera

FOCAL_WIDTHS = 1.0
"""Focal length in widths of the image."""
BASELINE_M = 0.08
AIM_M = 1.15
"""Distance of what is photographed."""
_EYE = (0.0, -0.40, 0.0)
_AIM = (0.0, -0.17, AIM_M)
_TURN_DEG = 0.5


def rig(size_px: tuple[int, int], seed: int) -> dict[str, Camera]:
    """The cameras L and R in the axes of the rig; one rig takes all photographs of a session."""
    rng = np.random.default_rng([seed, 81])
    return {
        name: _camera(size_px, sign * BASELINE_M / 2, rng) for name, sign in (("L", -1), ("R", 1))
    }


def _camera(size_px: tuple[int, int], aside_m: float, rng: np.random.Generator) -> Camera:
    size = np.array(size_px, np.float64)
    fx = FOCAL_WIDTHS * size[0] * (1 + rng.uniform(-0.012, 0.012))
    fy = fx * (1 + rng.uniform(-0.001, 0.001))
    x, y = (size - 1) / 2 + size * rng.uniform(-0.012, 0.012, 2)
    strong = rng.uniform((-0.13, 0.02), (-0.09, 0.05))
    weak = rng.uniform((-0.0008, -0.0008, -0.008), (0.0008, 0.0008, 0.004))
    pose = np.eye(4)
    for turn, axis in zip(rng.uniform(-_TURN_DEG, _TURN_DEG, 3), "xyz", strict=True):
        pose[:3, :3] = pose[:3, :3] @ rotation(float(turn), axis)
    pose[:3, 3] = np.array([aside_m, 0.0, 0.0]) + rng.uniform(-0.001, 0.001, 3)
    distortion = tuple(float(k) for k in (*strong, *weak))
    return Camera((float(fx), float(fy)), (float(x), float(y)), size_px, distortion, pose)


def stands(rng: np.random.Generator) -> tuple[Pose, Pose]:
    """Where the rig stands before and after the rearrangement: world from rig."""
    first = pose_looking(np.array(_EYE) + rng.uniform(-0.03, 0.03, 3), np.array(_AIM))
    moved = np.eye(4)
    for turn, axis in zip(rng.uniform(-1.5, 1.5, 3), "xyz", strict=True):
        moved[:3, :3] = moved[:3, :3] @ rotation(float(turn), axis)
    moved[:3, 3] = rng.uniform(-0.025, 0.025, 3)
    return first, first @ moved


def standing(cameras: Mapping[str, Camera], stand: Pose) -> dict[str, Camera]:
    """The cameras of a rig that stands somewhere."""
    return {
        name: replace(camera, world_from_camera=stand @ camera.world_from_camera)
        for name, camera in cameras.items()
    }
