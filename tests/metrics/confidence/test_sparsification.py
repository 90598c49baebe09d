"""Errors of the most confident pixels: against sorting by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import make_pair, seeds

import depthgauge as dg
from depthgauge.errors import WrongShape
from depthgauge.metrics import METRICS
from depthgauge.metrics.confidence.sparsification import STEPS, curves_of, sparsify

NAMES = ("ause", "aurg", "density_auc")


def value(name, estimate, truth, confidence, region=None, **params):
    m = METRICS[name]
    bound = m.bind(params)
    state = m.measure(estimate, truth, region, estimate_confidence=confidence, **bound)
    return m.finish(state, **bound)


@given(seed=seeds, kinds=st.sampled_from([2, 5, 10**6]))
def test_a_curve_is_the_mean_over_all_orders_of_ties(seed, kinds):
    """Equally confident pixels in many random orders: the mean of the curves is the curve."""
    rng = np.random.default_rng(seed)
    n = 23
    errors, confidence = rng.random(n), rng.integers(0, kinds, n).astype(float)
    counts = [max(1, round(k * n / STEPS)) for k in range(1, STEPS + 1)]
    curves = []
    for _ in range(200 if kinds < 10 else 1):
        order = np.lexsort([rng.random(n), -confidence])
        curves.append([errors[order[:count]].mean() for count in counts])
    spread = 0.15 if kinds < 10 else 1e-12
    assert sparsify(errors, confidence) == pytest.approx(np.mean(curves, axis=0), abs=spread)


@given(seed=seeds)
def test_areas_are_those_of_plain_sorting(seed):
    estimate, truth = make_pair(seed)
    rng = np.random.default_rng(seed)
    confidence = rng.random(truth.shape).astype("f4")
    region = rng.random(truth.shape) < 0.8
    known = region & np.isfinite(estimate) & np.isfinite(truth)
    errors = np.abs(estimate - truth)[known].astype(float)
    n = errors.size
    counts = [max(1, int(np.rint(k / STEPS * n))) for k in range(1, STEPS + 1)]

    def area(values, order, root=False):
        means = [values[order[:count]].mean() for count in counts]
        return np.mean(np.sqrt(means) if root else means)

    by, best = np.argsort(-confidence[known]), np.argsort(errors)
    maps = (estimate, truth, confidence, region)
    assert value("ause", *maps) == pytest.approx(area(errors, by) - area(errors, best), rel=1e-5)
    assert value("aurg", *maps) == pytest.approx(errors.mean() - area(errors, by), rel=1e-4)
    rms = area(errors**2, by, root=True) - area(errors**2, best, root=True)
    assert value("ause", *maps, kind="rms") == pytest.approx(rms, rel=1e-5)
    bad = 100.0 * (errors > 1)
    assert value("density_auc", *maps) == pytest.approx(area(bad, by), rel=1e-6)


@given(seed=seeds)
def test_perfect_useless_and_misleading_confidence(seed):
    estimate, truth = make_pair(seed)
    errors = np.abs(estimate - truth)
    assert value("ause", estimate, truth, -errors) == pytest.approx(0, abs=1e-9)
    same = np.ones_like(truth)
    assert value("aurg", estimate, truth, same) == pytest.approx(0, abs=1e-5)
    assert value("aurg", estimate, truth, errors) < 0 < value("aurg", estimate, truth, -errors)
    order = [value("ause", estimate, truth, c) for c in (-errors, same, errors)]
    assert order == sorted(order)
    badpix = METRICS["badpix"]
    share = badpix.finish(badpix.measure(estimate, truth, threshold=1), "skip", threshold=1)
    assert value("density_auc", estimate, truth, same) == pytest.approx(share)


@given(seed=seeds, k=st.sampled_from([0.5, 4.0]))  # exact: no two become equal
def test_only_the_order_of_a_confidence_counts(seed, k):
    estimate, truth = make_pair(seed)
    confidence = np.random.default_rng(seed).random(truth.shape).astype("f4")
    for name in NAMES:
        first = value(name, estimate, truth, confidence)
        assert value(name, estimate, truth, k * confidence) == pytest.approx(first)


def test_the_best_area_of_bad_pixels_is_near_the_formula():
    errors = (np.random.default_rng(0).random((100, 100)) < 0.3) * 5.0
    found = value("density_auc", errors, np.zeros((100, 100)), -errors)
    b = (errors > 1).mean()
    assert found == pytest.approx(100 * (b + (1 - b) * math.log(1 - b)), abs=1.0)


def test_pixels_without_a_confidence_come_last():
    errors = np.array([0.0, 8.0])
    assert sparsify(errors, np.array([-5.0, np.nan]))[0] == 0
    assert sparsify(errors, np.array([np.nan, -5.0]))[0] == 8


def test_states_of_samples_are_averaged():
    m = METRICS["ause"]
    states = [
        m.measure(e, np.zeros((1, 4), "f4"), None, estimate_confidence=c, kind="mae")
        for e, c in (
            (np.float32([[0, 2, 4, 8]]), np.float32([[4, 3, 2, 1]])),
            (np.float32([[0, 2, 4, 8]]), np.float32([[1, 1, 1, 1]])),
        )
    ]
    values = [m.finish(state, kind="mae") for state in states]
    assert m.finish(states[0] + states[1], kind="mae") == pytest.approx(np.mean(values))
    curve, best = curves_of(states[0])
    assert np.array_equal(curve, best)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_estimated_and_wrong_sizes(name):
    nothing = np.full((2, 3), np.nan, "f4")
    assert math.isnan(value(name, nothing, np.ones((2, 3)), np.ones((2, 3))))
    with pytest.raises(WrongShape, match="the confidence is 3x3"):
        value(name, np.ones((2, 3)), np.ones((2, 3)), np.ones((3, 3)))


def test_a_confidence_is_enlarged_with_its_map():
    estimate = {"disparity": np.float32([[1, 9]]), "confidence": np.float32([[2, 1]])}
    truth = np.full((2, 4), 2, np.float32)
    found = dg.score(
        estimate, truth, ["ause", "mae"], quantity="disparity", estimate_resize="nearest",
        check=False,
    )  # fmt: skip
    assert found["ause@all"].value == 0
    assert found["mae@all"].value == 8  # values follow the width: 2 and 18


def test_an_estimate_without_a_confidence_is_told_so():
    with pytest.raises(Exception, match="estimate_confidence"):
        dg.score([[1.0, 2.0]], [[1.0, 2.0]], "ause")
