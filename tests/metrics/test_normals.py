"""Angles of normals: hand numbers, references, surfaces that weigh the same."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.metrics import METRICS

NAN = np.nan
seeds = st.integers(0, 2**32 - 1)
NAMES = ["mean_angle", "median_angle", "within", "balanced_angle"]


def turned(*degrees):
    """Normals that are turned so far from (0, 0, -1), in one row, of any length."""
    a = np.radians(degrees)
    rows = np.stack([np.sin(a), 0 * a, -np.cos(a)], axis=-1)
    return (np.linspace(0.2, 3, a.size)[:, None] * rows)[None].astype(np.float32)


def score(name, estimate, truth, region=None, missing="bad", labels=None, **params):
    m = METRICS[name]
    labels = np.ones(truth.shape[:2], int) if labels is None else np.asarray(labels)
    needs = {"smooth_labels": labels} if m.needs else {}
    if m.needs and not params:
        params = {"least_px": 1}
    state = m.measure(estimate, truth, region, **needs, **m.bind(params))
    return m.finish(state, missing, **m.bind(params)), state


def value(*arguments, **named):
    return score(*arguments, **named)[0]


FRONT = turned(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "degrees", "expected"),
    [
        ("mean_angle", (0, 10, 20, 90), 30),
        ("mean_angle", (180, 0, 0, 0), 45),
        ("median_angle", (0, 10, 20, 90), 15),
        ("median_angle", (0, 0, 20, 90), 10),
        ("balanced_angle", (0, 10, 20, 90), 30),
    ],
)
def test_by_hand(name, degrees, expected):
    assert value(name, turned(*degrees), FRONT) == pytest.approx(expected, abs=1e-4)


def test_within_is_strict():
    estimate = turned(0, 11.2, 11.3, 45)
    assert value("within", estimate, FRONT, degrees=11.25) == 50
    assert value("within", estimate, FRONT, degrees=45.01) == 100
    right = turned(0, 90, 0, 0)
    right[0, 1] = (1, 0, 0)  # exactly
    assert value("within", right, FRONT, degrees=90) == 75
    assert value("within", right, FRONT, degrees=90.01) == 100


@pytest.mark.parametrize("degrees", [0, 180.5, -1, NAN])
def test_limits_that_say_nothing_are_refused(degrees):
    with pytest.raises(BadScoreId, match="degrees is"):
        METRICS["within"].bind({"degrees": degrees})


@pytest.mark.parametrize("gone", [NAN, 0.0, np.inf])
def test_what_a_missing_pixel_costs(gone):
    estimate = turned(0, 10, 20, 90)
    estimate[0, 3] = gone
    _, state = score("mean_angle", estimate, FRONT)
    assert (state.count, state.missing) == (3, 1)
    assert value("mean_angle", estimate, FRONT) == pytest.approx(210 / 4, abs=1e-4)
    assert value("mean_angle", estimate, FRONT, missing="skip") == pytest.approx(10, abs=1e-4)
    assert value("median_angle", estimate, FRONT) == pytest.approx(15, abs=1e-4)
    assert value("median_angle", estimate, FRONT, missing="skip") == pytest.approx(10, abs=1e-4)
    assert value("median_angle", estimate, FRONT, missing="good") == pytest.approx(5, abs=1e-4)
    assert value("within", estimate, FRONT, degrees=15) == 50
    assert value("balanced_angle", estimate, FRONT) == pytest.approx(210 / 4, abs=1e-4)
    assert value("balanced_angle", estimate, FRONT, missing="skip") == pytest.approx(10, abs=1e-4)
    assert value("balanced_angle", estimate, FRONT, missing="good") == pytest.approx(7.5, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_estimated_and_nothing_known(name):
    nothing = np.full_like(FRONT, NAN)
    assert value(name, nothing, FRONT) == (0 if name == "within" else 180)
    assert math.isnan(value(name, nothing, FRONT, missing="skip"))
    found, state = score(name, FRONT, nothing)
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)


def test_two_missing_of_three_make_the_median_the_worst():
    estimate = turned(5, 5, 5)
    estimate[0, 1:] = NAN
    assert value("median_angle", estimate, FRONT[:, :3]) == 180


def test_a_wall_does_not_outweigh_a_bowl():
    """Nine pixels of wall without error and one of a bowl that is 90 degrees off."""
    estimate, truth = turned(*[0] * 9, 90), turned(*[0] * 10)
    labels = [[7] * 9 + [300]]
    assert value("mean_angle", estimate, truth) == pytest.approx(9)
    assert value("balanced_angle", estimate, truth, labels=labels) == pytest.approx(45)
    # Pooled by pixel, a picture with one surface weighs less than one with two.
    _, two = score("balanced_angle", estimate, truth, labels=labels)
    _, one = score("balanced_angle", estimate, truth)
    merged = METRICS["balanced_angle"].finish(two + one, least_px=1)
    assert merged == pytest.approx((0 + 90 + 9) / 3)


def test_surfaces_that_are_too_small_or_none_are_left_out():
    estimate, truth = turned(0, 0, 90, 45), turned(0, 0, 0, 0)
    found, state = score("balanced_angle", estimate, truth, labels=[[1, 1, 2, 0]], least_px=2)
    assert (found, state.count) == (0, 1)
    _, state = score("balanced_angle", estimate, truth, labels=[[1, 1, 2, 0]], least_px=16)
    assert (state.count, state.missing) == (0, 0)


def test_a_surface_without_any_estimate_is_missing():
    estimate = turned(0, 0, 0, 0)
    estimate[0, 2:] = NAN
    found, state = score("balanced_angle", estimate, FRONT, labels=[[1, 1, 2, 2]])
    assert (found, state.count, state.missing) == (90, 1, 1)


def make_pair(seed, shape=(9, 14)):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(*shape, 3)).astype(np.float32)
    estimate = (truth + 0.7 * rng.normal(size=truth.shape)).astype(np.float32)
    truth /= np.linalg.norm(truth, axis=-1, keepdims=True)
    truth[rng.random(shape) < 0.1] = NAN
    estimate[rng.random(shape) < 0.2] = NAN
    return estimate, truth, rng.integers(0, 5, shape), rng.random(shape) < 0.7


def reference_angles(estimate, truth, region):
    """The law of cosines in float64, and 180 for what is missing."""
    inside = np.isfinite(truth).all(-1) & region
    a, b = estimate[inside].astype(np.float64), truth[inside].astype(np.float64)
    a /= np.linalg.norm(a, axis=-1, keepdims=True)
    b /= np.linalg.norm(b, axis=-1, keepdims=True)
    angle = np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0, 1)))
    return np.where(np.isfinite(angle), angle, 180.0), inside


@given(seed=seeds)
def test_agrees_with_the_reference(seed):
    estimate, truth, labels, region = make_pair(seed)
    angles, inside = reference_angles(estimate, truth, region)
    assert value("mean_angle", estimate, truth, region) == pytest.approx(angles.mean(), abs=1e-4)
    median = value("median_angle", estimate, truth, region)
    assert median == pytest.approx(np.median(angles), abs=1e-4)
    for degrees in (11.25, 30):
        if np.abs(angles - degrees).min() > 1e-4:
            share = 100 * np.mean(angles < degrees)
            found = value("within", estimate, truth, region, degrees=degrees)
            assert found == pytest.approx(share)
    means = [angles[labels[inside] == k] for k in range(1, 5)]
    means = [part.mean() for part in means if part.size >= 16]
    found = value("balanced_angle", estimate, truth, region, labels=labels, least_px=16)
    assert found == pytest.approx(np.mean(means) if means else NAN, abs=1e-4, nan_ok=True)


@given(seed=seeds)
def test_lengths_mean_nothing_and_both_sides_are_alike(seed):
    estimate, truth, *_ = make_pair(seed)
    rng = np.random.default_rng(seed)
    stretched = estimate * rng.uniform(0.1, 9, truth.shape[:2])[..., None].astype(np.float32)
    for name in NAMES:
        before = value(name, estimate, truth)
        # One pixel may step over the limit of `within`.
        step = 100 / np.isfinite(truth).all(axis=-1).sum() + 1e-3 if name == "within" else 1e-3
        assert value(name, stretched, truth) == pytest.approx(before, abs=step)
    skip = value("mean_angle", estimate, truth, missing="skip")
    assert value("mean_angle", truth, estimate, missing="skip") == pytest.approx(skip, abs=1e-4)


@pytest.mark.parametrize("name", ["median_angle", "balanced_angle"])
def test_an_error_map_shows_the_angles(name):
    estimate, truth, labels, _ = make_pair(4)
    needs = {"smooth_labels": labels, "least_px": 16} if name == "balanced_angle" else {}
    shown = METRICS[name].error_map(estimate, truth, **needs)
    assert shown.shape == truth.shape[:2]
    assert shown.dtype == np.float32
    known = np.isfinite(shown)
    mean = shown[known & (labels > 0)].mean(dtype=np.float64)
    skip = value("mean_angle", estimate, truth, labels > 0, missing="skip")
    assert mean == pytest.approx(skip, abs=1e-3)
    assert not known[~np.isfinite(estimate).all(-1)].any()


def test_wrong_sizes_are_refused():
    with pytest.raises(WrongShape, match="smooth_labels is 2x2"):
        value("balanced_angle", FRONT, FRONT, labels=np.ones((2, 2)))
    for name in NAMES:
        with pytest.raises(WrongShape, match="the estimate is"):
            value(name, FRONT[:, 1:], FRONT)
        with pytest.raises(WrongShape, match="the region is 3x3"):
            value(name, FRONT, FRONT, np.ones((3, 3), bool))
