"""The order of depths: hand numbers, ties, missing ends, the public evaluator's five pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import WrongShape
from depthgauge.geometry.pairs import sample_depth_pairs
from depthgauge.metrics import METRICS
from depthgauge.metrics.ordinal import percent_wrong

WKDR = METRICS["wkdr"]
NAN = np.nan


def value(estimate, pairs, region=None, missing="bad", truth=None):
    estimate = np.asarray(estimate, np.float32)
    truth = np.ones_like(estimate) if truth is None else truth
    state = WKDR.measure(estimate, truth, region, depth_pairs=np.asarray(pairs, np.int32))
    return WKDR.finish(state, missing), state


PAIRS = [[0, 0, 1, 0, -1], [1, 0, 0, 0, 1], [0, 0, 1, 0, 1], [2, 0, 3, 0, 1]]


def test_by_hand():
    """Two right, one wrong, one tie."""
    found, state = value([[1, 2, 3, 3]], PAIRS)
    assert found == 50
    assert (state.count, state.missing, state.sums.tolist()) == (4, 0, [2.0])


def test_missing_ends():
    estimate = [[1, 2, NAN, 3]]
    assert value(estimate, PAIRS)[0] == 50
    assert value(estimate, PAIRS, missing="skip")[0] == pytest.approx(100 / 3)
    assert value(estimate, PAIRS, missing="good")[0] == 25
    assert value(estimate, PAIRS)[1].missing == 1
    assert value([[1, 2, np.inf, 3]], PAIRS)[1].missing == 1
    assert value(np.full((1, 4), NAN), PAIRS)[0] == 100
    assert np.isnan(value(np.full((1, 4), NAN), PAIRS, missing="skip")[0])


def test_the_five_pairs_of_the_published_script():
    """valid2.py, princeton-vl/oasis 5835d24: two right of five, ties are wrong."""
    depth = np.full((16, 12), 3, np.float32)
    depth[2, 3], depth[7, 1] = 4, 1
    rows = [(2, 3, 9, 9, 1), (7, 1, 0, 0, -1), (4, 4, 5, 5, 1), (6, 6, 8, 8, -1), (2, 3, 7, 1, -1)]
    pairs = [(xa, ya, xb, yb, order) for ya, xa, yb, xb, order in rows]
    assert value(depth, pairs)[0] == pytest.approx(60)


def test_pairs_are_judged_where_there_is_no_map_of_the_truth():
    """DIW has nothing but pairs; an engine's region is then empty."""
    truth, nowhere = np.full((1, 4), NAN, np.float32), np.zeros((1, 4), bool)
    assert value([[1, 2, 3, 3]], PAIRS, nowhere, truth=truth)[0] == 50


def test_a_region_keeps_pairs_with_both_ends_in_it():
    found, state = value([[1, 2, 3, 3]], PAIRS, np.array([[True, True, False, False]]))
    assert state.count == 3
    assert found == pytest.approx(100 / 3)
    assert np.isnan(value([[1, 2, 3, 3]], PAIRS, np.zeros((1, 4), bool))[0])


def reference(estimate, pairs):
    wrong = 0
    for x_a, y_a, x_b, y_b, order in pairs.tolist():
        a, b = float(estimate[y_a, x_a]), float(estimate[y_b, x_b])
        wrong += not ((a > b and order == 1) or (a < b and order == -1))
    return 100 * wrong / len(pairs)


@given(seed=st.integers(0, 2**32 - 1))
def test_agrees_with_the_reference_and_ignores_any_rising_function(seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 9, (9, 11)).astype(np.float32)
    estimate = np.round(truth + rng.normal(0, 2, truth.shape)).astype(np.float32)
    estimate[rng.random(truth.shape) < 0.1] = NAN
    pairs = sample_depth_pairs(truth, 60, seed)
    found = value(estimate, pairs)[0]
    assert found == pytest.approx(reference(estimate, pairs))
    assert value(np.exp(estimate), pairs)[0] == found
    assert value(truth, pairs)[0] == 0
    assert value(-truth, pairs)[0] == 100


def test_without_a_truth_it_is_the_same():
    for estimate in ([[1, 2, 3, 3]], [[1, 2, NAN, 3]], [[4, 3, 2, 1]]):
        depth = np.array(estimate, np.float32)
        assert percent_wrong(depth, np.array(PAIRS, np.int32)) == value(depth, PAIRS)[0]
    assert np.isnan(percent_wrong(depth, np.zeros((0, 5), np.int32)))


def test_states_of_two_samples_add_up():
    a, b = value([[1, 2, 3, 3]], PAIRS)[1], value([[1, 2, 4, 3]], PAIRS)[1]
    assert WKDR.finish(a + b) == pytest.approx(100 * 3 / 8)


def test_other_sizes_are_refused():
    with pytest.raises(WrongShape, match="the estimate is 1x4 but the truth is 2x4"):
        value([[1, 2, 3, 4]], PAIRS, truth=np.ones((2, 4), np.float32))
