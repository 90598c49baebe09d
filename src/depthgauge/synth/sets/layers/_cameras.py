"""Where a pair of cameras stands: drawn from ranges around a top, kept if it sees enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library.interiors import Interior, Top
from depthgauge.synth.render.embree import TracedScene, visible_surfaces
from depthgauge.synth.scene.camera import pinhole, pose_looking
from depthgauge.synth.scene.mesh import rotation
from depthgauge.synth.scene.motion import Pose
from depthgauge.types import Camera

_DISTANCE_M = (0.55, 1.7)
_UP_DEG = (4.0, 38.0)
"""How far above the top's own height the camera is, seen from the top."""
_FOCAL_WIDTHS = (0.85, 1.35)
_BASELINE_M = (0.04, 0.09)
_LOOK_PX = 64
"""Width of the picture that decides whether a camera is kept."""
_NEAREST_M, _MEDIAN_M = 0.22, (0.45, 4.5)
_FREE_M = 0.12
"""Nothing may be closer to a camera in any direction."""
_FEWEST = 4
"""A view shows at least so many objects."""


@dataclass(frozen=True, slots=True, eq=False)
class CameraPair:
    """A rectified pair that may move."""

    left: Camera
    baseline_m: float
    shift: Pose
    """How the left camera moves within one second, in its own axes."""

    def at(self, side: str, later: bool) -> Camera:
        """The `left` or `right` camera at the first or the later time."""
        pose = self.left.world_from_camera
        if later:
            pose = pose @ self.shift
        if side == "right":
            beside = np.eye(4)
            beside[0, 3] = self.baseline_m
            pose = pose @ beside
        return replace(self.left, world_from_camera=pose)


def draw_cameras(
    top: Top, size_px: tuple[int, int], motion: float, rng: np.random.Generator
) -> CameraPair:
    """A pair of cameras that looks at a top from the side from which it is looked at."""
    azimuth = math.radians(top.facing_deg + float(rng.uniform(-top.swing_deg, top.swing_deg)))
    up = math.radians(float(rng.uniform(*_UP_DEG)))
    far = float(rng.uniform(*_DISTANCE_M))
    level = far * math.cos(up)
    x, y, z = top.centre_m
    aim = np.array([x, y - 0.09, z]) + rng.uniform(-0.06, 0.06, 3)
    away = (level * math.sin(azimuth), far * math.sin(up), level * math.cos(azimuth))
    eye = aim - np.array(away)
    pose = pose_looking(eye, aim)
    pose[:3, :3] = pose[:3, :3] @ rotation(float(rng.normal(0, 2.0)), "z")
    focal = float(rng.uniform(*_FOCAL_WIDTHS)) * size_px[0]
    baseline = float(rng.uniform(*_BASELINE_M))
    shift = np.eye(4)
    turns = rng.normal(0, 1.0 * motion, 3)
    for turn, axis in zip(turns, "xyz", strict=True):
        shift[:3, :3] = shift[:3, :3] @ rotation(float(turn), axis)
    shift[:3, 3] = rng.normal(0, 0.02 * motion, 3)
    return CameraPair(pinhole(size_px, focal, pose), baseline, shift)


def why_not(frame: TracedScene, room: Interior, pair: CameraPair, *, free: bool = True) -> str:
    """Why a pair is not kept; empty if it is.

    Args:
        frame: The scene at the first time.
        room: Its room.
        pair: The cameras.
        free: Whether to check that no camera is in or close to anything.
    """
    for side in ("left", "right"):
        for later in (False, True):
            eye = pair.at(side, later).world_from_camera[:3, 3]
            if not _is_inside(eye, room):
                return "outside the room"
            if free and not _is_free(frame, eye):
                return "too close to something"
    seen = visible_surfaces(frame, small(pair.left))
    depth = seen.depth[np.isfinite(seen.depth)]
    if depth.size < 0.7 * seen.depth.size or depth.min() < _NEAREST_M:
        return "too close to something"
    if not _MEDIAN_M[0] < float(np.median(depth)) < _MEDIAN_M[1]:
        return "depth out of range"
    if len(np.unique(seen.objects)) < _FEWEST:
        return "sees too little"
    return ""


def small(camera: Camera) -> Camera:
    """The same view in a picture of few pixels."""
    width, height = camera.size_px
    size = (_LOOK_PX, max(8, round(_LOOK_PX * height / width)))
    return pinhole(size, camera.focal_px[0] * _LOOK_PX / width, camera.world_from_camera)


def _is_inside(eye: NDArray[np.float64], room: Interior) -> bool:
    wide, high, deep = room.size_m
    x, y, z = (float(v) for v in eye)
    return abs(x) < wide / 2 - 0.1 and -high + 0.1 < y < -0.1 and 0.1 < z < deep - 0.1


def _is_free(frame: TracedScene, eye: NDArray[np.float64]) -> bool:
    grid = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    ways = grid[np.abs(grid).sum(axis=1) > 0]
    ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    nearest = frame.rays.cast(eye, ways).distance
    return not bool((nearest < _FREE_M).any())
