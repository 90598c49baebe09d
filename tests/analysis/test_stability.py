import math

import numpy as np
import pytest

from depthgauge.analysis.resampling import draw_units
from depthgauge.analysis.stability import LeaderChange, rank_probabilities, rank_stability
from depthgauge.engine.store.record import THRESHOLDS

AT = {t: i for i, t in enumerate(THRESHOLDS)}


def test_a_leader_changes_where_the_curves_cross(build):
    """`fine` is exact on half of the pixels and far off on the rest; `coarse` is 1.4 off."""
    run = build.from_errors({"fine": {"s": [0.001, 0.001, 9, 9]}, "coarse": {"s": [1.4] * 4}})
    found = rank_stability(run)
    assert found.labels == ("coarse", "fine")
    assert found.bad[:, AT[1.0]].tolist() == [100.0, 50.0]
    assert found.ranks[:, AT[1.0]].tolist() == [2, 1]
    assert found.ranks[:, AT[1.5]].tolist() == [1, 2]
    assert found.ranks[:, AT[10.0]].tolist() == [1, 1]
    assert found.leader_changes == (
        LeaderChange(1.25, 1.5, ("fine",), ("coarse",)),
        LeaderChange(8.0, 10.0, ("coarse",), ("coarse", "fine")),
    )
    assert found.main == 1.0
    assert found.tau_main[AT[0.5]] == 1.0
    assert found.tau_main[AT[2.0]] == -1.0
    assert math.isnan(found.tau_main[AT[10.0]])
    assert found.tau_next[AT[1.25]] == -1.0
    assert found.tau_next.shape == (len(THRESHOLDS) - 1,)


def test_the_main_threshold_is_that_of_the_main_score(build):
    run = build.from_errors({"a": {"s": [1.0]}, "b": {"s": [2.0]}})
    assert rank_stability(run, main="badpix:3@all").main == 3.0
    assert rank_stability(run, main="mae@all").main is None
    assert np.isnan(rank_stability(run, main="mae@all").tau_main).all()


def test_an_incomplete_method_is_last_everywhere(build):
    run = build.from_errors(
        {"a": {"s": [1.0], "t": [math.nan]}, "b": {"s": [9.0], "t": [9.0]}}, missing="skip"
    )
    found = rank_stability(run)
    assert (found.ranks[0] == 2).all()
    assert np.isnan(found.bad[0]).all()


def test_a_run_without_curves_has_nothing_to_say(build):
    run = build.from_values({"a": {"s": 1.0}})
    found = rank_stability(run)
    assert found.labels == ()
    assert found.leader_changes == ()


VALUES = np.array([3.0, 8.0, 1.0, 6.0, 4.0, 9.0, 2.0, 5.0])


def make(build, table, metric="mae"):
    samples = {x: {f"s{i}": v for i, v in enumerate(values)} for x, values in table.items()}
    return build.from_values(samples, scores=[{"metric": metric}])


def test_rank_probabilities_equal_a_plain_count(build):
    table = {"a": VALUES, "b": VALUES[::-1] + 0.2, "c": VALUES + 20}
    run = make(build, table)
    got = rank_probabilities(run, "mae@all", resamples=300, seed=5)
    counts = draw_units(run, resamples=300, seed=5).counts
    expected = np.zeros((3, 3))
    for row in counts:
        means = [sum(c * v for c, v in zip(row, table[x], strict=True)) / 8 for x in "abc"]
        for i in range(3):
            expected[i, sum(m < means[i] - 1e-12 for m in means)] += 1 / 300
    assert got.labels == ("a", "b", "c")
    assert got.shares == pytest.approx(expected, abs=0.004)
    assert got.shares.sum(axis=1) == pytest.approx(np.ones(3))
    assert got.shares[2].tolist() == [0, 0, 1]
    assert 0.05 < got.shares[0, 0] < 0.95


def test_rank_probabilities_know_the_direction(build):
    run = make(build, {"a": VALUES, "b": VALUES + 1}, "density")
    assert rank_probabilities(run, "density@all").shares.tolist() == [[0, 1], [1, 0]]


def test_an_incomplete_method_has_the_last_rank_always(build):
    run = make(build, {"a": [math.nan, *VALUES[1:]], "b": VALUES})
    assert rank_probabilities(run, "mae@all").shares.tolist() == [[0, 1], [1, 0]]


def test_too_few_samples_have_no_probabilities(build):
    run = make(build, {"a": VALUES[:7], "b": VALUES[:7]})
    assert rank_probabilities(run, "mae@all") is None
