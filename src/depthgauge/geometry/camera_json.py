"""Cameras and rigs as plain data, the way they are stored in JSON files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from depthgauge.types import Camera, Rig


def camera_to_json(camera: Camera) -> dict[str, Any]:
    """A camera as plain data."""
    return {
        "focal_px": [float(v) for v in camera.focal_px],
        "centre_px": [float(v) for v in camera.centre_px],
        "size_px": [int(v) for v in camera.size_px],
        "distortion": [float(v) for v in camera.distortion],
        "world_from_camera": np.asarray(camera.world_from_camera, np.float64).tolist(),
    }


def camera_from_json(data: Mapping[str, Any]) -> Camera:
    """The camera that `camera_to_json` wrote.

    Raises:
        KeyError, TypeError, ValueError: Something is missing or has the wrong type.
    """
    fx, fy = (float(v) for v in data["focal_px"])
    cx, cy = (float(v) for v in data["centre_px"])
    width, height = (int(v) for v in data["size_px"])
    distortion = tuple(float(v) for v in data["distortion"])
    pose = np.array(data["world_from_camera"], np.float64)
    if pose.shape != (4, 4):
        raise ValueError(f"world_from_camera is {pose.shape}, not 4x4")
    return Camera((fx, fy), (cx, cy), (width, height), distortion, pose)


def rig_to_json(rig: Rig) -> dict[str, Any]:
    """A rig as plain data; an unknown baseline is None."""
    return {
        "cameras": {name: camera_to_json(camera) for name, camera in rig.cameras.items()},
        "baseline_m": float(rig.baseline_m) if math.isfinite(rig.baseline_m) else None,
        "principal_offset_px": float(rig.principal_offset_px),
    }


def rig_from_json(data: Mapping[str, Any]) -> Rig:
    """The rig that `rig_to_json` wrote.

    Raises:
        KeyError, TypeError, ValueError: Something is missing or has the wrong type.
    """
    baseline = data["baseline_m"]
    return Rig(
        cameras={name: camera_from_json(camera) for name, camera in data["cameras"].items()},
        baseline_m=math.nan if baseline is None else float(baseline),
        principal_offset_px=float(data["principal_offset_px"]),
    )
