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
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.camera_json import camera_from_json, camera_to_json
from depthgauge.geometry.projection import inverse_pose
from depthgauge.io.text import parse_json
from depthgauge.types import Camera

FILE = "calibration.json"
INSIDE = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
"""The numbers of a camera."""
RIGID = ("rx", "ry", "rz", "tx", "ty", "tz")
"""The numbers of a pair: rotation vector in radians and translation in metres, from L."""


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """How far the numbers of a calibration may be off together."""

    names: tuple[str, ...]
    """`L fx` for a camera's numbers (`INSIDE`), `LR tx` for those of a pair (`RIGID`)."""
    matrix: NDArray[np.float64]

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        return {"names": list(self.names), "matrix": self.matrix.tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Covariance:
        """What `to_json` wrote; others raise KeyError, TypeError, ValueError."""
        names = tuple(str(name) for name in data["names"])
        return cls(names, np.asarray(data["matrix"], np.float64).reshape(len(names), len(names)))

    def directions(self) -> NDArray[np.float64]:
        """Columns whose products with themselves add up to the matrix: independent errors, each of
        one standard deviation.
        """
        values, vectors = np.linalg.eigh(self.matrix)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


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
    covariance: Covariance | None = None
    """None if the cameras were not refined together."""

    def moved(self, step: NDArray[np.float64]) -> Calibration:
        """The calibration with other numbers: its own plus `step`, in the covariance's order."""
        if self.covariance is None:
            raise Misuse("a calibration without covariance has no order of its numbers")
        by = dict(zip(self.covariance.names, step.tolist(), strict=True))
        cameras = {
            name: moved_camera(camera, np.array([by.get(f"{name} {n}", 0.0) for n in INSIDE]))
            for name, camera in self.cameras.items()
        }
        pairs = {
            name: _moved_pose(pose, np.array([by.get(f"{name} {what}", 0.0) for what in RIGID]))
            for name, pose in self.pairs.items()
        }
        return Calibration(with_poses(cameras, pairs), pairs, self.covariance)

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
        data: dict[str, Any] = {"schema": 1, "cameras": cameras, "pairs": pairs}
        return data | ({"covariance": self.covariance.to_json()} if self.covariance else {})

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
        known = data.get("covariance")
        return cls(cameras, pairs, None if known is None else Covariance.from_json(known))


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


def moved_camera(camera: Camera, step: NDArray[np.float64]) -> Camera:
    """The camera with other numbers: its own plus `step`, in the order of `INSIDE`."""
    lens = (*camera.distortion, *(0.0,) * 5)[:5]
    numbers = np.array([*camera.focal_px, *camera.centre_px, *lens]) + step
    fx, fy, cx, cy, *bent = (float(n) for n in numbers)
    return replace(camera, focal_px=(fx, fy), centre_px=(cx, cy), distortion=tuple(bent))


def _moved_pose(pose: Pose, step: NDArray[np.float64]) -> Pose:
    import cv2

    turn = cv2.Rodrigues(pose.rotation)[0].ravel() + step[:3]
    rotation = np.asarray(cv2.Rodrigues(turn)[0], np.float64)
    return replace(pose, rotation=rotation, translation_m=pose.translation_m + step[3:])


def horizontal_field_deg(camera: Camera) -> float:
    """Horizontal field of view of the pinhole, without its lens distortion.

    >>> horizontal_field_deg(Camera((100.0, 100.0), (99.5, 49.5), (200, 100)))
    90.0
    """
    return math.degrees(2 * math.atan(camera.size_px[0] / (2 * camera.focal_px[0])))
