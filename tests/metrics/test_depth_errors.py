"""Sums of depth errors and of relative errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from maps import make_pair, seeds

from depthgauge.errors import Unavailable
from depthgauge.metrics import METRICS
from depthgauge.types import Camera, Rig

RIG = Rig({"left": Camera((400.0, 400.0), (10.0, 6.0), (21, 13))}, 0.2, 3.0)
SZE, BMPRE = METRICS["sze"], METRICS["bmpre"]


def sze(estimate, truth, region, over="sum", rig=RIG):
    state = SZE.measure(estimate, truth, region, rig=rig, over=over)
    return SZE.finish(state, over=over), state


def bmpre(estimate, truth, region, **params):
    bound = BMPRE.bind(params)
    return BMPRE.finish(BMPRE.measure(estimate, truth, region, **bound), **bound)


@given(seed=seeds)
def test_the_sum_of_depth_errors_is_that_of_a_loop(seed):
    estimate, truth = make_pair(seed)
    region = np.random.default_rng(seed).random(truth.shape) < 0.7
    total = n = 0
    for x, g, inside in zip(estimate.flat, truth.flat, region.flat, strict=True):
        if inside and math.isfinite(g) and math.isfinite(x):
            total += abs(80.0 / (float(x) + 3) - 80.0 / (float(g) + 3))
            n += 1
    assert sze(estimate, truth, region)[0] == pytest.approx(total, rel=1e-5)
    assert sze(estimate, truth, region, "mean")[0] == pytest.approx(total / n, rel=1e-5)


def test_disparities_without_a_depth_are_missing_and_such_truth_is_not_judged():
    estimate = np.array([[5, -3, -9, 5]], np.float32)
    value, state = sze(estimate, np.array([[5, 5, 5, -4]], np.float32), None)
    assert (value, state.count, state.missing) == (0.0, 1, 2)


def test_a_rig_without_a_baseline_has_no_depth():
    with pytest.raises(Unavailable, match="cannot be turned into depth"):
        sze(np.ones((1, 2)), np.ones((1, 2)), None, rig=Rig(RIG.cameras))


@given(seed=seeds)
def test_bad_relative_errors_are_those_of_a_loop(seed):
    estimate, truth = make_pair(seed)
    region = np.random.default_rng(seed).random(truth.shape) < 0.7
    known = region & np.isfinite(truth) & np.isfinite(estimate)
    x, g = estimate[known], truth[known]
    bad = np.abs(x - g) > np.float32(2)
    total = sum(abs(float(a - b)) / float(b) for a, b in zip(x[bad], g[bad], strict=True))
    assert bmpre(estimate, truth, region, threshold=2) == pytest.approx(total, rel=1e-6)
    mean = bmpre(estimate, truth, region, threshold=2, over="mean")
    assert mean == pytest.approx(total / known.sum(), rel=1e-6)


@given(seed=seeds)
def test_with_a_threshold_of_0_the_mean_is_the_relative_error(seed):
    estimate, truth = make_pair(seed)
    absrel = METRICS["absrel"]
    expected = absrel.finish(absrel.measure(estimate, truth))
    assert bmpre(estimate, truth, None, threshold=0, over="mean") == pytest.approx(expected)


def test_a_true_disparity_of_0_that_is_bad_is_infinite():
    assert bmpre(np.array([[5.0]]), np.array([[0.0]]), None) == math.inf
    assert bmpre(np.array([[0.5]]), np.array([[0.0]]), None) == 0


@pytest.mark.parametrize("name", ["sze", "bmpre"])
def test_nothing_estimated_has_no_value(name):
    m = METRICS[name]
    given = {"rig": RIG} if m.needs else {}
    state = m.measure(np.full((2, 2), np.nan), np.ones((2, 2)), None, **given, **m.bind({}))
    assert (state.count, state.missing) == (0, 4)
    assert math.isnan(m.finish(state, **m.bind({})))
    shown = m.error_map(np.full((2, 2), np.nan), np.ones((2, 2)), **given, **m.bind({}))
    assert np.isnan(shown).all()
