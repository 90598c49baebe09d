import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import norm as normal
from scipy.stats import t as student_t

from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.bootstrap.intervals import expanded_share
from depthgauge.analysis.bootstrap.resampling import draw_units
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


def test_rank_probabilities_are_an_expanded_count(build):
    """The same quantiles as the intervals: what 0.0057 of 8 samples' resamples say is 2.5 %."""
    table = {"a": VALUES, "b": VALUES[::-1] + 0.2, "c": VALUES + 20}
    run = make(build, table)
    got = rank_probabilities(run, "mae@all", resamples=300, seed=5)
    counts = draw_units(run, resamples=300, seed=5).counts
    at_most = np.zeros((3, 3))
    for row in counts:
        means = [sum(c * v for c, v in zip(row, table[x], strict=True)) / 8 for x in "abc"]
        for i in range(3):
            at_most[i, sum(m < means[i] - 1e-12 for m in means) :] += 1 / 300
    at_most = student_t(7).cdf(normal.ppf(np.minimum(at_most, 1.0)) * math.sqrt(7 / 8))
    expected = np.diff(at_most, axis=1, prepend=0)
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


def test_a_share_means_what_an_interval_that_ends_there_means():
    """A 95 % interval of 8 samples takes the quantile 0.0057: beyond it are 2.5 %."""
    edge = normal.cdf(-math.sqrt(8 / 7) * student_t(7).ppf(0.975))
    assert edge == pytest.approx(0.0057, abs=5e-5)
    got = expanded_share(np.array([0.0, edge, 0.5, 1 - edge, 1.0]), 8)
    assert got == pytest.approx([0, 0.025, 0.5, 0.975, 1])


NEAR = 0.975
"""What a told-apart pair exceeds; one resample of 2000 more or less moves it by 0.002."""


def standing(run, score_id, **limits):
    """The board's cells of a score by label, best first, and the chance of rank 1 of each."""
    board = make_board(run, **({"practical": {score_id: limits["practical"]}} if limits else {}))
    found = rank_probabilities(run, score_id, **limits)
    first = dict(zip(found.labels, found.shares[:, 0].tolist(), strict=True))
    return {row.label: row.cells[score_id] for row in board.rows}, first


def contradictions(cells, first):
    """Methods tied with a leader who is all but certain to be first, while they are not at all."""
    leader, *rest = cells
    return [
        label
        for label in rest
        if cells[label].group == cells[leader].group
        and first[leader] > NEAR + 0.001
        and first[label] < 1 - NEAR - 0.001
    ]


MANY = st.integers(2, 4).flatmap(
    lambda k: st.integers(8, 12).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(0.1, 10).map(lambda x: round(x, 3)), min_size=n, max_size=n),
            min_size=k,
            max_size=k,
        )
    )
)


@settings(max_examples=60, deadline=None)
@given(values=MANY, shift=st.floats(-2, 0), metric=st.sampled_from(["mae", "bias"]))
@example(values=[[1.0] * 7 + [0.5], [1.0] * 7 + [3.0]], shift=0.0, metric="mae")
@example(
    values=[[1.0, 1.1] * 4, [6.0, 0.1, 7.0, 0.2, 0.1, 8.0, 0.1, 9.0]], shift=-2.0, metric="bias"
)
def test_ties_and_rank_probabilities_never_contradict_each_other(build, values, shift, metric):
    """The headline speaks of ties; the table of rank probabilities below it must agree."""
    table = {f"m{i}": np.array(v) + (shift if i == 0 else 0) for i, v in enumerate(values)}
    run = make(build, table, metric)
    cells, first = standing(run, f"{metric}@all")
    assert contradictions(cells, first) == []
    leader, *rest = cells
    alone = all(cells[label].group != cells[leader].group for label in rest)
    if alone and metric == "mae":
        # Told apart from each of the others, so ahead of each with 97.5 %.
        assert first[leader] > 1 - 1.2 * (1 - NEAR) * len(rest)


@settings(max_examples=60, deadline=None)
@given(
    base=st.lists(st.floats(1, 10), min_size=8, max_size=8),
    noise=st.lists(st.floats(-1, 1), min_size=8, max_size=8),
    gap=st.floats(0, 1),
    practical=st.floats(0.01, 1),
)
def test_two_methods_that_differ_by_less_than_matters_may_both_be_first(
    build, base, noise, gap, practical
):
    run = make(build, {"a": base, "b": np.array(base) + gap + np.array(noise)})
    cells, first = standing(run, "mae@all", practical=practical)
    assert contradictions(cells, first) == []


def test_the_case_that_was_reported(build):
    """The plain share of rank 1 was 99 % while the interval of the difference contained 0."""
    ahead = np.array([1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 1.1, -2.6]) * 0.3
    run = make(build, {"a": VALUES, "b": VALUES + ahead})
    counts = draw_units(run).counts
    plain = ((counts * ahead).sum(axis=1) > 0).mean()
    cells, first = standing(run, "mae@all")
    assert cells["b"].group == cells["a"].group == 1
    assert first["a"] < min(NEAR, plain)
