import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse
from depthgauge.geometry.disparity import (
    depth_from_disparity,
    depth_from_lightfield_disparity,
    disparity_from_depth,
    lightfield_disparity_from_depth,
)

LIGHTFIELD = {"focal_mm": 100.0, "sensor_mm": 35.0, "baseline_m": 0.025, "size_px": 512}


def test_hand_numbers():
    depth = depth_from_disparity(np.array([[10.0, 40.0]]), 2000.0, 0.2, 10.0)
    np.testing.assert_array_equal(depth, np.array([[20.0, 8.0]], np.float32))
    assert depth.dtype == np.float32
    np.testing.assert_array_equal(disparity_from_depth(depth, 2000.0, 0.2, 10.0), [[10.0, 40.0]])


def test_what_has_no_depth_is_missing_and_never_infinite():
    bad = np.array([[0.0, -1.0, np.nan, np.inf, -np.inf, 1e-44]])
    for function in (depth_from_disparity, disparity_from_depth):
        assert np.isnan(function(bad, 1000.0, 0.1)).all()
    assert np.isnan(depth_from_disparity(np.array([[-5.0]]), 1000.0, 0.1, 5.0)).all()
    assert depth_from_disparity(np.array([[-4.0]]), 1000.0, 0.1, 5.0) == 100.0


def test_inputs_are_not_written_to():
    values = np.array([[1.0, -1.0]], np.float32)
    for function in (depth_from_disparity, disparity_from_depth):
        function(values, 10.0, 1.0)
    for function in (depth_from_lightfield_disparity, lightfield_disparity_from_depth):
        function(values, focus_m=2.0, **LIGHTFIELD)
    np.testing.assert_array_equal(values, [[1.0, -1.0]])


def test_light_field_matches_the_toolkits_formula():
    """base_scene.py of lightfield-analysis/evaluation-toolkit @ f070f23, cotton's parameters."""
    disparity = np.linspace(-1.6, 1.5, 32).reshape(4, 8)
    q = 25.0 * 100.0 * 512
    toolkit = 1.0 / (1000 * 35.0 * disparity / q + 1.0 / 4.25)
    depth = depth_from_lightfield_disparity(disparity, focus_m=4.25, **LIGHTFIELD)
    np.testing.assert_allclose(depth, toolkit, rtol=1e-6)
    f = 0.025 * 100.0 * 512
    back = (f * 4.25 / toolkit - f) / 4.25 / 35.0
    np.testing.assert_allclose(
        lightfield_disparity_from_depth(toolkit, focus_m=4.25, **LIGHTFIELD), back, atol=2e-6
    )


def test_light_field_disparity_is_zero_at_the_focus_and_positive_in_front():
    depth = np.array([[4.25, 2.0, 9.0]])
    disparity = lightfield_disparity_from_depth(depth, focus_m=4.25, **LIGHTFIELD)
    assert disparity[0, 0] == 0
    assert disparity[0, 1] > 0 > disparity[0, 2]


def test_parallel_views_are_a_stereo_pair():
    disparity = np.array([[4.0, 0.0, -1.0, np.nan]])
    depth = depth_from_lightfield_disparity(disparity, focus_m=np.inf, **LIGHTFIELD)
    stereo = depth_from_disparity(disparity, 100.0 / 35.0 * 512, 0.025)
    np.testing.assert_allclose(depth, stereo, rtol=1e-6)
    assert np.isnan(depth[0, 1:]).all()
    np.testing.assert_allclose(
        lightfield_disparity_from_depth(depth, focus_m=np.inf, **LIGHTFIELD)[0, 0], 4.0, rtol=1e-6
    )


@given(
    st.floats(0.1, 500.0),
    st.floats(100.0, 5000.0),
    st.floats(0.01, 2.0),
    st.floats(0.0, 200.0),
)
def test_depth_and_back(disparity, focal, baseline, offset):
    depth = depth_from_disparity(np.array([[disparity]]), focal, baseline, offset)
    back = disparity_from_depth(depth, focal, baseline, offset)
    assert back[0, 0] == pytest.approx(disparity, abs=3e-7 * (disparity + offset), rel=1e-6)


@given(st.floats(-1.5, 3.0), st.sampled_from([4.25, 10.0, np.inf]))
def test_light_field_depth_and_back(disparity, focus):
    depth = depth_from_lightfield_disparity(np.array([[disparity]]), focus_m=focus, **LIGHTFIELD)
    if np.isinf(focus) and disparity <= 1e-3:
        return
    back = lightfield_disparity_from_depth(depth, focus_m=focus, **LIGHTFIELD)
    assert back[0, 0] == pytest.approx(disparity, abs=1e-5)


def test_impossible_numbers_are_refused():
    one = np.ones((1, 1))
    with pytest.raises(Misuse, match="baseline_m must be positive"):
        depth_from_disparity(one, 1000.0, 0.0)
    with pytest.raises(Misuse, match="focal_px must be positive"):
        disparity_from_depth(one, -1.0, 0.1)
    for bad in (0.0, float("nan")):
        with pytest.raises(Misuse, match="focus_m must be positive"):
            depth_from_lightfield_disparity(one, focus_m=bad, **LIGHTFIELD)
