"""The calibration of a rig, and its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.steps import has_step, read_step
from depthgauge.errors import BadData
from depthgauge.geometry.camera_json import camera_from_json, camera_to_json
from depthgauge.geometry.projection import inverse_pose
from depthgauge.io.text import parse_json
from depthgauge.types import Camera

FILE = "calibration.json"


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """The pose of a camera relative to L: X = rotation X_L + translation_m."""

    rotation: NDArray[np.float64]
    """3x3, from L's axes to the camera's."""
    translation_m: NDArray[np.float64]
    """(3,); its x is negative for a camera to the right of L."""
    rms_px: float
    """Reprojection error of the boards that both cameras saw."""

    @property
    def baseline_m(self) -> float:
        """Distance between the two cameras."""
        return float(np.linalg.norm(self.translation_m))

    @property
    def place_m(self) -> NDArray[np.float64]:
        """(3,): the camera's centre in L's axes."""
        return np.asarray(-self.rotation.T @ self.translation_m)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The cameras of a rig; the world's axes are those of L."""

    cameras: Mapping[str, Camera]
    """L, R and, if there is one, C, with lens distortion k1 k2 p1 p2 k3."""
    pairs: Mapping[str, Pose]
    """`LR` and, if there is a C, `LC`."""

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        pairs = {
            name: {
                "rotation": pose.rotation.tolist(),
                "translation_m": pose.translation_m.tolist(),
                "rms_px": pose.rms_px,
            }
            for name, pose in self.pairs.items()
        }
        cameras = {name: camera_to_json(camera) for name, camera in self.cameras.items()}
        return {"schema": 1, "cameras": cameras, "pairs": pairs}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """The calibration that `to_json` wrote; others raise KeyError, TypeError, ValueError."""
        cameras = {name: camera_from_json(camera) for name, camera in data["cameras"].items()}
        pairs = {
            name: Pose(
                np.asarray(pose["rotation"], np.float64).reshape(3, 3),
                np.asarray(pose["translation_m"], np.float64).reshape(3),
                float(pose["rms_px"]),
            )
            for name, pose in data["pairs"].items()
        }
        return cls(cameras, pairs)


def read_calibration(work: Path, *, as_photographed: bool = False) -> Calibration:
    """The calibration in a work folder.

    Args:
        work: The work folder.
        as_photographed: The one that the photographs of the board gave, even if step `register`
            found that a camera has moved since.

    Raises:
        BadData: The step is not done, or its file is damaged.
    """
    path = read_step(work, "calibrate").folder / FILE
    later = work / "register" / FILE
    if not as_photographed and later.is_file() and has_step(work, "register"):
        path = later
    try:
        return Calibration.from_json(parse_json(path.read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{path}: cannot be read: {error!r}; run `capture calibrate` again.") from (
            error
        )


def with_poses(cameras: Mapping[str, Camera], pairs: Mapping[str, Pose]) -> dict[str, Camera]:
    """The cameras in L's axes: L at the origin, the others where their pairs say."""
    placed = {"L": replace(cameras["L"], world_from_camera=np.eye(4))}
    for name, pose in pairs.items():
        camera_from_left = np.eye(4)
        camera_from_left[:3, :3], camera_from_left[:3, 3] = pose.rotation, pose.translation_m
        world_from_camera = inverse_pose(camera_from_left)
        placed[name[1]] = replace(cameras[name[1]], world_from_camera=world_from_camera)
    return placed


def horizontal_field_deg(camera: Camera) -> float:
    """Horizontal field of view of the pinhole, without its lens distortion.

    >>> horizontal_field_deg(Camera((100.0, 100.0), (99.5, 49.5), (200, 100)))
    90.0
    """
    return math.degrees(2 * math.atan(camera.size_px[0] / (2 * camera.focal_px[0])))
