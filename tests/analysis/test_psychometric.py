"""Psychometric curves: known curves are found, and ends of the axis are no special case."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, expit
from tools.evidence.psychometric import simulate

from depthgauge.analysis.difficulty.psychometric import fit_psychometric
from depthgauge.errors import Misuse


def rates(count, middle, scale, floor=0.0, lapse=0.0):
    return floor + (1 - floor - lapse) * expit((np.arange(1, count + 1) - middle) / scale)


@pytest.mark.parametrize("middle", [3.0, 5.5, 8.0])
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_a_curve_without_noise_is_found(middle, scale):
    found = fit_psychometric(rates(10, middle, scale))
    assert found.difficulty == pytest.approx(middle, abs=0.2)
    assert found.low < middle < found.high
    assert found.residual < 0.03


def test_half_is_of_all_pixels_not_of_the_curve():
    """A floor of 20 % and a lapse of 10 %: the middle of the curve is at 55 %, 50 % is earlier."""
    found = fit_psychometric(rates(15, 8, 1.5, floor=0.2, lapse=0.1))
    half = 8 + 1.5 * math.log((0.3 / 0.7) / (1 - 0.3 / 0.7))
    assert found.difficulty == pytest.approx(half, abs=0.3)
    assert found.floor == pytest.approx(0.2, abs=0.05)
    assert found.lapse == pytest.approx(0.1, abs=0.06)


@pytest.mark.parametrize(
    ("shares", "difficulty"),
    [
        ([0.0] * 10, math.inf),
        ([1.0] * 10, -math.inf),
        ([0.3] * 10, math.inf),
        ([0.8] * 10, -math.inf),
        ([0.0] * 5 + [0.4] * 5, math.inf),
    ],
)
def test_an_axis_that_does_not_reach_half_says_so(shares, difficulty):
    found = fit_psychometric(shares)
    assert found.difficulty == difficulty
    assert not found.reaches
    assert (found.high if difficulty > 0 else found.low) == difficulty


def test_a_step_lies_between_its_bins_and_not_on_a_point():
    found = fit_psychometric([0, 0, 0, 0, 1, 1, 1, 1])
    assert found.difficulty == pytest.approx(4.5, abs=0.1)
    assert 4 < found.low < 4.4
    assert 4.6 < found.high < 5


def test_an_end_of_the_interval_may_be_open():
    found = fit_psychometric([0, 0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.42])
    assert found.high == math.inf
    assert math.isfinite(found.low)


def test_more_scenes_narrow_the_interval():
    rng = np.random.default_rng(5)
    made = np.clip(rates(10, 5, 1) + rng.normal(0, 0.08, (6, 10)), 0, 1)
    one, all_six = fit_psychometric(made[0]), fit_psychometric(made)
    assert all_six.high - all_six.low < 0.7 * (one.high - one.low)
    assert all_six.low < 5 < all_six.high


def test_few_pixels_widen_it():
    shares = np.round(rates(10, 5, 1) * 12) / 12
    many, few = (fit_psychometric(shares, np.full(10, n)) for n in (1000, 12))
    assert few.high - few.low > many.high - many.low


def test_missing_bins_are_left_out():
    shares = rates(10, 5, 1)
    shares[[0, 6]] = np.nan
    assert fit_psychometric(shares).difficulty == pytest.approx(5, abs=0.3)


@pytest.mark.parametrize(
    ("shares", "why"),
    [([0, 1, np.nan, np.nan, 1], "4 bins or more"), ([0, 10, 50, 100], "divide percentages")],
)
def test_what_is_no_rate_is_refused(shares, why):
    with pytest.raises(Misuse, match=why):
        fit_psychometric(shares)


@settings(max_examples=6)
@given(st.lists(st.floats(0, 1), min_size=4, max_size=12))
def test_properties_of_any_rates(shares):
    found = fit_psychometric(shares)
    assert found.low <= found.difficulty <= found.high
    assert np.all(np.diff(found.rates) >= -1e-9)
    assert min(found.rates) >= 0
    assert max(found.rates) <= 1
    # Seen from the other side, success is failure. Failures that follow no such curve, for instance
    # because they fall, are 50 % at no certain place.
    mirrored = fit_psychometric([1 - share for share in reversed(shares)])
    if found.reaches and mirrored.reaches and found.residual < 0.1:
        count = len(shares)
        assert mirrored.difficulty == pytest.approx(count + 1 - found.difficulty, abs=0.05)


def test_the_posterior_is_that_of_a_plain_sum():
    """An independent reference: all curves of one dense grid, without tables."""
    shares, n = np.array([0.0, 0.1, 0.35, 0.6, 0.95, 1.0]), 200.0
    places = np.arange(1, 7)
    middles = np.linspace(0, 7, 71)[:, None, None, None, None]
    scales = np.geomspace(0.12, 3, 24)[:, None, None, None]
    floors, lapses = (np.array([0.0, 0.02, 0.05, 0.1]).reshape(s) for s in ((-1, 1, 1), (-1, 1)))
    true = floors + (1 - floors - lapses) * expit((places - middles) / scales)
    true = np.clip(true, 5e-4, 1 - 5e-4)
    total = 0.0
    for m in (4.0, 9.0, 20.0, 45.0, 100.0, 300.0):
        a, b = true * m, (1 - true) * m
        like = betaln(shares * n + a, n - shares * n + b) - betaln(a, b)
        total = total + np.exp(like.sum(axis=-1) + 300)
    share = ((0.5 - floors) / (1 - floors - lapses))[..., 0]
    halves = (middles[..., 0] + scales[..., 0] * np.log(share / (1 - share))).ravel()
    weights = (total * (1 - floors[..., 0]) ** 6 * (1 - lapses[..., 0]) ** 6).ravel()
    order = np.argsort(halves)
    upto = np.cumsum(np.array(weights)[order]) / np.sum(weights)
    low, middle, high = np.array(halves)[order][np.searchsorted(upto, (0.025, 0.5, 0.975))]
    found = fit_psychometric(shares)
    assert found.difficulty == pytest.approx(middle, abs=0.08)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.2)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """A few of the simulations of the record `psychometric`, which has 1500."""
    held = []
    for seed in range(25):
        made = simulate(seed)
        found = fit_psychometric(made.rates, np.full(made.rates.size, made.pixels))
        held.append(found.low <= made.half <= found.high)
    assert np.mean(held) > 0.88
