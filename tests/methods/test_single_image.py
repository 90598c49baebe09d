"""What methods for one picture have to beat: a wall, and surfaces that face the camera."""

import numpy as np
import pytest

from depthgauge.errors import DepthgaugeError
from depthgauge.methods import find_method
from depthgauge.types import Inputs

INPUTS = Inputs({"left_image": np.zeros((7, 9, 3), np.uint8)})


def test_a_wall_of_depth_1():
    found = find_method("plane").estimate(INPUTS, "depth")
    assert found.quantity == "depth"
    assert found.values.shape == (7, 9)
    assert found.values.dtype == np.float32
    assert (found.values == 1).all()
    assert found.parts["focal_px"] == 9


def test_the_wall_may_come_with_a_focal_length():
    found = find_method("plane:focal_px=512.5").estimate(INPUTS, "depth")
    assert found.parts["focal_px"] == 512.5
    with pytest.raises(DepthgaugeError, match="focal_px"):
        find_method("plane:focal_px=0")


def test_normals_that_face_the_camera():
    found = find_method("front_facing").estimate(INPUTS, "normals")
    assert found.values.shape == (7, 9, 3)
    assert found.values.dtype == np.float32
    assert (found.values == np.array([0, 0, -1], np.float32)).all()


@pytest.mark.parametrize(("name", "quantity"), [("plane", "normals"), ("front_facing", "depth")])
def test_they_estimate_nothing_else(name, quantity):
    with pytest.raises(DepthgaugeError):
        find_method(name).estimate(INPUTS, quantity)


def test_they_need_a_picture():
    with pytest.raises(DepthgaugeError, match="left_image"):
        find_method("plane").estimate(Inputs({}), "depth")
