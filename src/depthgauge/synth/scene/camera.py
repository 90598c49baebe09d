"""Cameras that look at a scene: pinholes, where they look, and cameras in a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from depthgauge.synth.scene.motion import Motion, Pose
from depthgauge.types import Camera


def pinhole(size_px: tuple[int, int], focal_px: float, pose: Pose | None = None) -> Camera:
    """A camera without distortion whose principal point is the middle of its image."""
    centre = ((size_px[0] - 1) / 2, (size_px[1] - 1) / 2)
    pose = np.eye(4) if pose is None else pose
    return Camera((focal_px, focal_px), centre, size_px, world_from_camera=pose)


def pose_looking(eye_m: ArrayLike, target_m: ArrayLike) -> Pose:
    """The pose of a level camera at `eye_m` that looks at `target_m`.

    >>> pose_looking((0, 0, 0), (0, 0, 2)).tolist() == np.eye(4).tolist()
    True
    """
    eye = np.asarray(eye_m, np.float64)
    pose = np.eye(4)
    pose[:3, :3] = looking(np.asarray(target_m, np.float64) - eye)
    pose[:3, 3] = eye
    return pose


def looking(way: NDArray[np.float64]) -> NDArray[np.float64]:
    """Axes (3, 3) of a level camera that looks along a direction."""
    z = way / np.linalg.norm(way)
    x = np.cross([0.0, 1.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def camera_row(camera: Camera, count: int, spacing_m: float) -> list[Camera]:
    """Copies of a camera side by side along its own x axis, centred on it."""
    row = []
    for number in range(count):
        shift = np.eye(4)
        shift[0, 3] = spacing_m * (number - (count - 1) / 2)
        row.append(replace(camera, world_from_camera=camera.world_from_camera @ shift))
    return row


def camera_at(camera: Camera, motion: Motion | None, time_s: float) -> Camera:
    """A moving camera at a time; without a motion, the camera itself."""
    if motion is None:
        return camera
    return replace(camera, world_from_camera=motion(time_s) @ camera.world_from_camera)
