"""`dis` and `farneback` on frames between which everything moves by one vector."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from depthgauge.errors import MethodFailed
from depthgauge.methods import find_method
from depthgauge.types import Inputs


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [("dis", 0.15), ("dis:preset=fast", 0.4), ("farneback", 0.15), ("farneback:window=21", 0.15)],
)
@pytest.mark.parametrize("vector", [(3.25, -1.5), (-4.0, 2.0), (0.0, 0.0)])
def test_a_shift_is_found(method, tolerance, vector, frames):
    values = find_method(method).estimate(frames(*vector), "flow").values
    assert values.shape == (80, 120, 2)
    assert values.dtype == np.float32
    inner = np.linalg.norm(values - np.float32(vector), axis=2)[8:-8, 8:-8]
    assert (inner <= tolerance).mean() > 0.95


def test_the_options_reach_opencv(frames):
    inputs = frames(3, 1)
    text = (
        "farneback:pyramid_scale=0.7,levels=2,window=9,iterations=2,poly_n=7,poly_sigma=1.5,"
        "gaussian=true"
    )
    values = find_method(text).estimate(inputs, "flow").values
    flags = cv2.OPTFLOW_FARNEBACK_GAUSSIAN
    expected = cv2.calcOpticalFlowFarneback(
        inputs.first_image, inputs.second_image, None, 0.7, 2, 9, 2, 7, 1.5, flags
    )
    assert np.array_equal(values, expected)
    other = find_method("farneback").estimate(inputs, "flow").values
    assert not np.array_equal(values, other)


def test_the_preset_reaches_opencv(frames):
    inputs = frames(3, 1)
    for name, preset in (("ultrafast", 0), ("fast", 1), ("medium", 2)):
        flow = cv2.DISOpticalFlow_create(preset).calc(inputs.first_image, inputs.second_image, None)
        values = find_method(f"dis:preset={name}").estimate(inputs, "flow").values
        assert np.array_equal(values, flow)


def test_pictures_too_small_for_dis():
    tiny = np.zeros((6, 6, 3), np.uint8)
    with pytest.raises(MethodFailed, match="method 'dis' crashed"):
        find_method("dis").estimate(Inputs({"first_image": tiny, "second_image": tiny}), "flow")
