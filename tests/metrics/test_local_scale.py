"""Points up to a scale and a shift of each surface: hand numbers, references, degenerate cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadEstimate, WrongShape
from depthgauge.metrics import METRICS
from depthgauge.metrics.local_scale import fit_surfaces
from depthgauge.types import Camera

NAN = np.nan
FORMS = ("lsiv", "lsiv_root")
seeds = st.integers(0, 2**32 - 1)
HEIGHT, WIDTH = 12, 16
CAMERA = Camera((30.0, 33.0), (8.0, 6.0), (WIDTH, HEIGHT))


def make_scene(seed, surfaces=4):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 6, (HEIGHT, WIDTH)).astype(np.float32)
    labels = rng.integers(0, surfaces + 1, truth.shape) * 100
    truth[rng.random(truth.shape) < 0.1] = NAN
    estimate = (truth + rng.normal(0, 0.5, truth.shape)).astype(np.float32)
    return estimate, truth, labels


def score(name, estimate, truth, labels, focal_px=40.0, region=None, camera=CAMERA, least_px=10):
    m = METRICS[name]
    needs = {"camera": camera, "continuous_labels": labels, "estimate_focal_px": focal_px}
    state = m.measure(estimate, truth, region, **needs, least_px=least_px)
    return m.finish(state, least_px=least_px), state


def reference(estimate, truth, labels, focal_px, region, least_px=10):
    """A loop over surfaces that leaves the fit to a solver."""
    y, x = np.indices(truth.shape)
    (fx, fy), (cx, cy) = CAMERA.focal_px, CAMERA.centre_px
    z, d = truth.astype(np.float64), estimate.astype(np.float64)
    true = np.stack([(x - cx) / fx * z, (y - cy) / fy * z, z], axis=-1)
    mine = np.stack([(x - cx) / focal_px * d, (y - cy) / focal_px * d, d], axis=-1)
    inside = np.isfinite(truth) & region & (labels > 0)
    for k in np.unique(labels):
        if np.count_nonzero(inside & (labels == k)) < least_px:
            inside &= labels != k
    true /= np.std(true[inside][:, 0], ddof=1)
    total = count = 0
    for k in np.unique(labels[inside]):
        here = inside & (labels == k) & np.isfinite(estimate)
        shift = np.tile([0.0, 0.0, 1.0], np.count_nonzero(here))
        columns = np.stack([mine[here].ravel(), shift], axis=1)
        answer = np.linalg.lstsq(columns, true[here].ravel(), rcond=None)[0]
        total += np.sum((columns @ answer - true[here].ravel()) ** 2)
        count += np.count_nonzero(here)
    return total / count


@given(seed=seeds)
def test_agrees_with_the_reference(seed):
    estimate, truth, labels = make_scene(seed)
    rng = np.random.default_rng(seed)
    estimate[rng.random(truth.shape) < 0.1] = NAN
    region = rng.random(truth.shape) < 0.9
    expected = reference(estimate, truth, labels, 40.0, region)
    found, state = score("lsiv", estimate, truth, labels, region=region)
    assert found == pytest.approx(expected, rel=1e-9)
    root, _ = score("lsiv_root", estimate, truth, labels, region=region)
    assert root == pytest.approx(math.sqrt(expected), rel=1e-9)
    inside = np.isfinite(truth) & region & (labels > 0)
    assert state.count + state.missing <= np.count_nonzero(inside)
    assert state.missing > 0


def test_by_hand():
    """Two pixels at X = -1 and 1 of depth 2, estimated at the depths 1 and 3.

    With the focal length 2 the true points are (-1, 0, 2), (1, 0, 2) (pixels 0 and 2 of a row of
    three, the middle one unknown); the standard deviation of X is sqrt(2). The estimated points are
    (-0.5, 0, 1) and (1.5, 0, 3). Without the means of z: (-0.5, -1), (1.5, 1) against (-a, 0),
    (a, 0), a = 1 / sqrt(2): s = 2 a / 4.5; left is 2 a^2 - (2 a)^2 / 4.5 = 1 - 2 / 4.5 = 5 / 9.
    """
    camera = Camera((2.0, 2.0), (1.0, 0.0), (3, 1))
    truth = np.array([[2, NAN, 2]], np.float32)
    estimate = np.array([[1, 9, 3]], np.float32)
    labels = np.ones((1, 3), int)
    found, state = score("lsiv", estimate, truth, labels, 2.0, camera=camera, least_px=1)
    assert found == pytest.approx(5 / 18)
    assert state.sums[0] == pytest.approx(5 / 9)
    assert (state.count, state.missing) == (2, 0)


@given(seed=seeds, k=st.floats(0.1, 10), minus=st.booleans())
def test_scales_and_shifts_of_surfaces_do_not_matter(seed, k, minus):
    _, truth, labels = make_scene(seed)
    factor = (1 + labels / 100) * (-k if minus else k)
    found, _ = score(
        "lsiv",
        (factor * truth).astype(np.float32),
        truth,
        labels,
        30.0,
        camera=Camera((30.0, 30.0), (8.0, 6.0), (WIDTH, HEIGHT)),
    )
    assert found == pytest.approx(0, abs=1e-9)


@given(seed=seeds, k=st.floats(0.1, 10))
def test_the_unit_of_the_truth_does_not_matter(seed, k):
    estimate, truth, labels = make_scene(seed)
    before, _ = score("lsiv", estimate, truth, labels)
    after, _ = score("lsiv", estimate, (k * truth).astype(np.float32), labels)
    assert after == pytest.approx(before, rel=1e-4)


def test_the_wrong_focal_length_costs():
    _, truth, labels = make_scene(0)
    right = Camera((40.0, 40.0), (8.0, 6.0), (WIDTH, HEIGHT))
    assert score("lsiv", truth, truth, labels, 40.0, camera=right)[0] < 1e-12
    assert score("lsiv", truth, truth, labels, 80.0, camera=right)[0] > 0.01


def test_small_surfaces_and_what_is_on_none_are_left_out():
    estimate, truth, _ = make_scene(0)
    truth[:] = np.where(np.isnan(truth), 1, truth)
    labels = np.zeros(truth.shape, int)
    labels[:3, :3], labels[6:, :] = 5, 9
    _, state = score("lsiv", estimate, truth, labels)
    assert state.count + state.missing == 6 * WIDTH
    _, state = score("lsiv", estimate, truth, labels, least_px=9)
    assert state.count + state.missing == 6 * WIDTH + 9


def test_more_surfaces_than_a_byte_counts():
    truth = np.full((HEIGHT, WIDTH), 2, np.float32)
    labels = 1 + np.arange(truth.size).reshape(truth.shape)
    _, state = score("lsiv", truth, truth, labels + 1000, least_px=1)
    assert state.count == truth.size


def test_an_estimate_that_says_nothing_of_shape():
    """All depths 0: no scale helps, the best shift is the mean."""
    _, truth, labels = make_scene(3, surfaces=1)
    zeros = np.zeros_like(truth)
    expected = reference(zeros, truth, labels, 40.0, np.ones(truth.shape, bool))
    assert score("lsiv", zeros, truth, labels)[0] == pytest.approx(expected, rel=1e-9)


def test_points_on_the_axis_that_are_all_equal():
    fit = fit_surfaces(np.tile([0.0, 0, 3], (4, 1)), np.tile([0.0, 0, 7], (4, 1)), np.zeros(4, int))
    assert (fit.scale[0], fit.shift[0], fit.squares[0]) == (0, 7, 0)


def test_numbers_of_surfaces_may_have_gaps():
    points = np.array([[1.0, 0, 2], [2, 0, 1], [0, 1, 4]])
    fit = fit_surfaces(points, 2 * points, np.array([0, 0, 3]))
    assert fit.scale.tolist() == pytest.approx([2, 0, 0, 2])


def test_a_truth_without_width_is_empty():
    """One column: nothing to measure distances by."""
    camera = Camera((30.0, 30.0), (0.0, 6.0), (1, HEIGHT))
    column = np.full((HEIGHT, 1), 2, np.float32)
    found, state = score("lsiv", column, column, np.ones((HEIGHT, 1), int), camera=camera)
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)


def test_nothing_estimated_needs_no_focal_length():
    _, truth, labels = make_scene(1)
    found, state = score("lsiv_root", np.full_like(truth, NAN), truth, labels, NAN)
    assert math.isnan(found)
    assert state.count == 0
    assert state.missing > 100


@pytest.mark.parametrize("focal_px", [0.0, -5.0, NAN, math.inf])
def test_a_focal_length_that_is_none_is_refused(focal_px):
    estimate, truth, labels = make_scene(1)
    with pytest.raises(BadEstimate, match="focal length of the estimate is"):
        score("lsiv", estimate, truth, labels, focal_px)


def test_pixels_of_two_samples_are_pooled():
    (_, a), (_, b) = (score("lsiv", *make_scene(seed)) for seed in (1, 2))
    m = METRICS["lsiv"]
    assert m.finish(a + b, least_px=10) == pytest.approx(
        (a.sums[0] + b.sums[0]) / (a.count + b.count)
    )


def test_error_maps_have_the_score_as_their_mean():
    estimate, truth, labels = make_scene(5)
    estimate[2, 3] = NAN
    needs = {"camera": CAMERA, "continuous_labels": labels, "estimate_focal_px": 40.0}
    square, root = (METRICS[n].error_map(estimate, truth, **needs, least_px=10) for n in FORMS)
    assert square.shape == truth.shape
    assert square.dtype == root.dtype == np.float32
    found, state = score("lsiv", estimate, truth, labels)
    known = np.isfinite(square)
    assert np.count_nonzero(known) == state.count
    assert not known[2, 3]
    assert square[known].mean(dtype=np.float64) == pytest.approx(found, rel=1e-6)
    assert np.allclose(root**2, square, equal_nan=True)
    nothing = METRICS["lsiv"].error_map(np.full_like(truth, NAN), truth, **needs, least_px=10)
    assert np.isnan(nothing).all()


def test_both_forms_share_a_measure():
    assert METRICS["lsiv"].measure_with is METRICS["lsiv_root"].measure_with


def test_wrong_sizes_are_refused():
    estimate, truth, labels = make_scene(1)
    with pytest.raises(WrongShape, match="continuous_labels is 11x16"):
        score("lsiv", estimate, truth, labels[1:])
    with pytest.raises(WrongShape, match="the camera's image is 16x12"):
        score("lsiv", estimate[1:], truth[1:], labels[1:])
    with pytest.raises(WrongShape, match="the estimate is"):
        score("lsiv", estimate[1:], truth, labels)
