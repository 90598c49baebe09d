"""Cameras and rigs in JSON files."""

import json
import math

import numpy as np
import pytest

from depthgauge.geometry.camera_json import (
    camera_from_json,
    camera_to_json,
    rig_from_json,
    rig_to_json,
)
from depthgauge.types import Camera, Rig


def camera(number=float):
    pose = np.eye(4)
    pose[0, 3] = 0.125
    numbers = [number(v) for v in (1000.5, 1001.25, 511.5, 383.25, 0.5, -0.25)]
    return Camera(tuple(numbers[:2]), tuple(numbers[2:4]), (1024, 768), tuple(numbers[4:]), pose)


@pytest.mark.parametrize("number", [float, np.float32, np.float64])
def test_a_camera_comes_back(number):
    text = json.dumps(camera_to_json(camera(number)))
    assert camera_from_json(json.loads(text)) == camera()


@pytest.mark.parametrize("baseline_m", [0.25, math.nan])
def test_a_rig_comes_back(baseline_m):
    text = json.dumps(rig_to_json(Rig({"left": camera()}, baseline_m, 2)), allow_nan=False)
    again = rig_from_json(json.loads(text))
    assert dict(again.cameras) == {"left": camera()}
    assert again.baseline_m == pytest.approx(baseline_m, nan_ok=True)
    assert again.principal_offset_px == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [("focal_px", [1.0]), ("size_px", ["wide", 2]), ("world_from_camera", [[1.0] * 4] * 3)],
)
def test_damaged_cameras_are_refused(key, value):
    with pytest.raises(ValueError, match=r"unpack|invalid literal|not 4x4"):
        camera_from_json({**camera_to_json(camera()), key: value})
