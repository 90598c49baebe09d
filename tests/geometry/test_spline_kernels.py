import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import interpolate, ndimage

from depthgauge.geometry._spline_kernels import GAIN, mirrored, spline_filter, spline_taps


@pytest.mark.parametrize("count", [1, 12, 17, 60])
def test_coefficients_are_those_of_scipy(count):
    values = np.random.default_rng(count).uniform(0, 255, (count, 5)).astype(np.float32)
    lines = values.copy()
    spline_filter(lines, GAIN)
    expected = ndimage.spline_filter1d(values.astype(float), 3, axis=0, mode="mirror")
    assert lines == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("size", [(1, 9), (9, 1), (6, 7)])
def test_one_axis_may_take_the_gain_of_both(size):
    values = np.random.default_rng(3).uniform(0, 255, size).astype(np.float32)
    one, other = values.copy(), values.copy()
    spline_filter(one, GAIN)
    spline_filter(one.T, GAIN)
    spline_filter(other.T, np.float32(1))
    spline_filter(other, GAIN * GAIN)
    assert other == pytest.approx(one, rel=1e-5, abs=1e-3)


def test_nothing_has_no_coefficients():
    spline_filter(np.zeros((0, 4), np.float32), GAIN)


@given(st.floats(0, 1))
def test_taps_are_the_b_spline(t):
    bump = interpolate.BSpline.basis_element(np.arange(-2.0, 3.0), extrapolate=False)
    expected = np.nan_to_num(bump(np.clip([t + 1, t, t - 1, t - 2], -2, 2)))
    assert spline_taps(t) == pytest.approx(expected, abs=1e-12)
    assert sum(spline_taps(t)) == pytest.approx(1)


def test_places_beyond_an_end_go_back():
    assert [mirrored(place, 4) for place in range(-3, 7)] == [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]
    assert [mirrored(place, 1) for place in range(-2, 4)] == [0] * 6
