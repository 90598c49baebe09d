"""How many errors are within each threshold: the counts behind the curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.metrics.order import count_within

GRID = (0.0, 0.5, 1.0, 2.5)


def test_by_hand():
    truth = np.array([[1.0, 1.0, 1.0, 1.0, 1.0, np.nan]], np.float32)
    estimate = np.array([[1.0, 1.5, 2.0, 9.0, np.nan, 1.0]], np.float32)
    within, count, missing = count_within(estimate, truth, np.isfinite(truth), GRID)
    assert within.tolist() == [1, 2, 3, 3]
    assert (count, missing) == (4, 1)
    limited = count_within(estimate, truth, np.isfinite(truth), GRID, low=1.2, high=8.0)
    assert (limited[0].tolist(), limited[1], limited[2]) == ([0, 1, 2, 2], 2, 3)


def test_flow_by_hand():
    truth = np.zeros((1, 3, 2), np.float32)
    estimate = np.array([[[0.3, 0.4], [3.0, 4.0], [np.nan, 0.0]]], np.float32)
    within, count, missing = count_within(estimate, truth, np.ones((1, 3), bool), (0.6, 5.0))
    assert within.tolist() == [1, 2]
    assert (count, missing) == (2, 1)


def reference(estimate, truth, inside, grid):
    """Plain NumPy, one threshold after the other."""
    with np.errstate(invalid="ignore"):
        error = np.abs(estimate - truth)
    known = inside & np.isfinite(estimate)
    within = [int((error[known] <= np.float32(t)).sum()) for t in grid]
    return within, int(known.sum()), int((inside & ~np.isfinite(estimate)).sum())


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 120))
def test_against_the_reference(seed, height, width):
    rng = np.random.default_rng(seed)
    truth = np.round(rng.uniform(0, 8, (height, width)) * 4).astype(np.float32) / 4
    estimate = truth + np.round(rng.normal(0, 1, truth.shape) * 4).astype(np.float32) / 4
    estimate[rng.random(truth.shape) < 0.2] = np.nan
    inside = rng.random(truth.shape) < 0.7
    within, count, missing = count_within(estimate, truth, inside, GRID)
    assert (within.tolist(), count, missing) == reference(estimate, truth, inside, GRID)


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_badpix(seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 50, (30, 41)).astype(np.float32)
    estimate = truth + rng.normal(0, 2, truth.shape).astype(np.float32)
    within, count, _ = count_within(estimate, truth, np.isfinite(truth), GRID[1:])
    for n, threshold in enumerate(GRID[1:]):
        score = dg.score(estimate, truth, f"badpix:{threshold:g}")[f"badpix:{threshold:g}@all"]
        assert score.total == count - within[n]
