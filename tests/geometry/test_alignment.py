import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, UnknownName, WrongShape
from depthgauge.geometry.alignment import KINDS, Alignment, apply_alignment, fit_alignment

NAN = np.nan
SCALES = st.floats(0.05, 20.0)
SHIFTS = st.floats(-3.0, 3.0)


def positive(seed=0, shape=(8, 11)):
    return np.random.default_rng(seed).uniform(1.0, 5.0, shape).astype(np.float32)


def fit(estimate, truth, mask=None, kind="scale_shift", space="depth", quantity="depth"):
    return fit_alignment(estimate, truth, mask, kind=kind, space=space, quantity=quantity)


def test_hand_numbers():
    estimate, truth = np.array([[1.0, 2.0, 4.0]]), np.array([[2.0, 5.0, 6.0]])
    assert fit(estimate, truth, kind="median").scale == 2.5
    assert fit(estimate, truth, kind="scale").scale == pytest.approx((2 + 10 + 24) / 21)
    both = fit(estimate, truth)
    slope, intercept = np.polyfit(estimate[0], truth[0], 1)
    assert (both.scale, both.shift) == pytest.approx((slope, intercept))
    assert fit(estimate, truth, kind="none") == Alignment("none", "depth", 1.0, 0.0, 3)


def test_an_even_median_is_the_mean_of_the_middle_two_in_the_fitted_space():
    estimate, truth = np.array([[1.0, 4.0]]), np.array([[2.0, 8.0]])
    assert fit(estimate, np.array([[3.0, 9.0]]), kind="median").scale == 6.0 / 2.5
    inverse = fit(estimate, truth, kind="median", space="disparity")
    assert inverse.scale == (1 / 2 + 1 / 8) / (1 + 1 / 4)


@given(SCALES, SHIFTS, st.integers(0, 99))
def test_a_planted_scale_and_shift_are_found(scale, shift, seed):
    truth = positive(seed)
    estimate = (truth.astype(np.float64) - shift) / scale
    found = fit(estimate, truth)
    assert found.scale == pytest.approx(scale, rel=1e-5)
    np.testing.assert_allclose(apply_alignment(estimate, found, "depth"), truth, atol=2e-5)


@given(SCALES, st.floats(0.0, 0.15), st.sampled_from(["depth", "disparity"]))
def test_a_planted_scale_and_shift_of_inverses_are_found(scale, shift, quantity):
    space = "disparity" if quantity == "depth" else "depth"
    truth = positive()
    estimate = 1.0 / ((1.0 / truth.astype(np.float64) - shift) / scale)
    found = fit(estimate, truth, space=space, quantity=quantity)
    assert found.scale == pytest.approx(scale, rel=1e-4)
    np.testing.assert_allclose(apply_alignment(estimate, found, quantity), truth, rtol=1e-5)


@given(SCALES, st.sampled_from(["median", "scale", "scale_shift"]))
def test_the_estimates_own_scale_does_not_matter(factor, kind):
    estimate, truth = positive(1), positive(2)
    plain = apply_alignment(estimate, fit(estimate, truth, kind=kind), "depth")
    scaled = estimate.astype(np.float64) * factor
    again = apply_alignment(scaled, fit(scaled, truth, kind=kind), "depth")
    np.testing.assert_allclose(again, plain, rtol=1e-5, atol=1e-5)


def test_least_squares_agrees_with_numpy_in_both_spaces():
    estimate, truth = positive(3), positive(4)
    for space, e, t in (
        ("depth", estimate.astype(float), truth.astype(float)),
        ("disparity", 1 / estimate.astype(float), 1 / truth.astype(float)),
    ):
        design = np.stack([e.ravel(), np.ones(e.size)], axis=1)
        expected = np.linalg.lstsq(design, t.ravel(), rcond=None)[0]
        found = fit(estimate, truth, space=space)
        assert (found.scale, found.shift) == pytest.approx(tuple(expected), rel=1e-9)
        through_zero = fit(estimate, truth, kind="scale", space=space).scale
        assert through_zero == pytest.approx((e * t).sum() / (e * e).sum(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_mask_and_pixels_with_both_count(kind):
    estimate, truth = positive(5), positive(6)
    mask = np.ones(truth.shape, bool)
    mask[0] = False
    spoiled_e, spoiled_t = estimate.copy(), truth.copy()
    spoiled_e[0], spoiled_t[0] = 1e6, -1e6
    spoiled_e[1, :5], spoiled_t[1, 5:] = NAN, NAN
    found = fit(spoiled_e, spoiled_t, mask, kind=kind)
    assert found == fit(estimate[2:], truth[2:], kind=kind)
    assert found.count == 66


def test_non_positive_values_have_no_inverse_and_do_not_count():
    estimate = np.array([[1.0, 2.0, -1.0, 4.0, 0.0]])
    truth = np.array([[2.0, 4.0, 3.0, 0.0, 3.0]])
    found = fit(estimate, truth, kind="scale", space="disparity")
    assert (found.count, found.scale) == (2, 0.5)
    assert fit(estimate, truth, kind="scale").count == 5


@pytest.mark.parametrize(
    ("estimate", "truth", "kind", "reason"),
    [
        ([[NAN, NAN]], [[1.0, 2.0]], "median", "too few pixels"),
        ([[NAN, NAN]], [[1.0, 2.0]], "scale", "too few pixels"),
        ([[1.0, NAN]], [[1.0, 2.0]], "scale_shift", "too few pixels"),
        ([[0.0, 0.0, 1.0]], [[1.0, 2.0, 3.0]], "median", "zero median"),
        ([[1.0, 1.0, 1.0]], [[0.0, 0.0, 3.0]], "median", "zero median"),
        ([[0.0, 0.0, 0.0]], [[1.0, 2.0, 3.0]], "scale", "zero estimate"),
    ],
)
def test_what_cannot_be_aligned_says_why_and_is_missing(estimate, truth, kind, reason):
    found = fit(np.array(estimate), np.array(truth), kind=kind)
    assert math.isnan(found.scale)
    assert math.isnan(found.shift)
    assert found.reason == reason
    assert np.isnan(apply_alignment(np.array(estimate), found, "depth")).all()


def test_an_estimate_that_does_not_vary_becomes_the_truths_mean():
    # The float64 mean of many 0.1 is not 0.1; squares of the difference are not zero.
    estimate, truth = np.full((500, 500), 0.1, np.float32), positive(0, (500, 500))
    found = fit(estimate, truth)
    assert (found.scale, found.reason) == (1.0, "")
    aligned = apply_alignment(estimate, found, "depth")
    np.testing.assert_allclose(aligned, truth.mean(), rtol=1e-6)


def test_aligned_inverses_that_are_not_positive_are_missing():
    alignment = Alignment("scale_shift", "disparity", 1.0, -0.5, 9)
    found = apply_alignment(np.array([[1.0, 2.0, 4.0, -1.0, 0.0, NAN]]), alignment, "depth")
    np.testing.assert_array_equal(found, [[2.0, NAN, NAN, NAN, NAN, NAN]])


def test_nothing_becomes_infinite():
    huge = Alignment("scale", "depth", 1e38, 0.0, 9)
    assert np.isnan(apply_alignment(np.array([[1e5, NAN]]), huge, "depth")).all()


def test_none_leaves_everything_as_it_is():
    values = np.array([[-1.0, NAN, 2.0]], np.float32)
    for quantity in ("depth", "flow"):
        alignment = fit(values, values, kind="none", quantity=quantity)
        np.testing.assert_array_equal(apply_alignment(values, alignment, quantity), values)


def test_errors():
    one = np.ones((2, 3))
    with pytest.raises(UnknownName, match=r"no kind of alignment 'meidan'\. Did you mean 'median'"):
        fit(one, one, kind="meidan")
    with pytest.raises(UnknownName, match="no space of alignment 'log'"):
        fit(one, one, space="log")
    with pytest.raises(Misuse, match="only depth and disparity can be aligned, not flow"):
        fit(one, one, quantity="flow")
    with pytest.raises(WrongShape, match="the estimate is 3x2, the truth is 2x2"):
        fit(one, np.ones((2, 2)))
    with pytest.raises(WrongShape, match="the mask is 2x2"):
        fit(one, one, np.ones((2, 2), bool))
