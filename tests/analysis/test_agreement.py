"""Agreement of rankings: hand numbers, SciPy as the independent reference, bad input."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from depthgauge.analysis.agreement import correlate, measure_agreement, measure_agreements
from depthgauge.analysis.rankings import Ranking
from depthgauge.errors import BadData, Misuse

NAN = math.nan
PLACES = st.lists(st.integers(1, 4).map(float), min_size=2, max_size=7)


def named(*ranks):
    return dict(zip("abcdefg", ranks, strict=False))


def ranking(grader, *ranks, **others):
    return Ranking(grader, others.pop("experiment", "e"), named(*ranks), **others)


@given(st.data())
def test_coefficients_are_those_of_scipy(data):
    first = data.draw(PLACES)
    second = data.draw(st.lists(st.integers(1, 4), min_size=len(first), max_size=len(first)))
    found = correlate(named(*first), named(*second))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert math.isnan(found.tau)
        assert (found.pairs, found.undefined) == (0, 1)
    else:
        assert found.tau == pytest.approx(stats.kendalltau(first, second).statistic)
        assert found.rho == pytest.approx(stats.spearmanr(first, second).statistic)
        assert (found.pairs, found.undefined) == (1, 0)


def test_the_order_of_methods_and_the_numbering_of_ties_do_not_matter():
    first = {"a": 1.0, "b": 2.5, "c": 2.5, "d": 4.0}
    again = {"d": 9.0, "c": 2.0, "b": 2.0, "a": 1.0}
    assert correlate(first, again).tau == 1


def test_methods_that_were_not_ranked_are_left_out():
    found = correlate(named(1, 2, 3, NAN), named(2, 1, 3, 4))
    assert found == correlate(named(1, 2, 3), named(2, 1, 3))
    assert math.isnan(correlate(named(1, NAN), named(NAN, 2)).tau)


def test_within_between_and_with_the_metric_by_hand():
    """G1 repeats with one swap of three pairs; G2 is the reverse of G1's first ranking."""
    found = measure_agreement(
        [
            ranking("G1", 1, 2, 3),
            ranking("G1", 2, 1, 3, repeat=2),
            ranking("G2", 3, 2, 1),
        ],
        named(1, 2, 3),
    )
    assert found.graders == ("G1", "G2")
    assert found.methods == ("a", "b", "c")
    assert found.within.tau == pytest.approx(1 / 3)
    assert found.within.pairs == 1
    assert found.within_grader["G2"].pairs == 0
    assert math.isnan(found.within_grader["G2"].tau)
    assert found.between.tau == pytest.approx((-1 - 1 / 3) / 2)
    assert found.between.rho == pytest.approx((-1 - 0.5) / 2)
    assert found.with_metric.tau == pytest.approx((1 + 1 / 3 - 1) / 3)
    assert found.grader_with_metric["G1"].tau == pytest.approx(2 / 3)
    assert found.grader_with_metric["G2"].tau == -1
    # G1 is one person: (1 + 2) / 2 against 3.
    assert found.mean_ranks == named(2.25, 1.75, 2.0)


def test_without_a_metric_nothing_is_said_of_it():
    found = measure_agreement([ranking("G1", 1, 2)])
    assert found.with_metric.pairs == found.between.pairs == 0
    assert math.isnan(found.with_metric.tau)


def test_a_ranking_of_ties_is_left_out_and_counted():
    found = measure_agreement([ranking("G1", 1, 2), ranking("G2", 1, 2), ranking("G3", 1.5, 1.5)])
    assert found.between.tau == 1
    assert (found.between.pairs, found.between.undefined) == (1, 2)


def test_mean_ranks_leave_out_who_did_not_rank():
    found = measure_agreement([ranking("G1", 1, 2, NAN), ranking("G2", 2, 1, NAN)])
    assert found.mean_ranks["a"] == 1.5
    assert math.isnan(found.mean_ranks["c"])


def test_experiments_and_variants_are_kept_apart():
    found = measure_agreements(
        [
            ranking("G1", 1, 2, experiment="f", variant="basic"),
            ranking("G2", 1, 2, experiment="f", variant="basic"),
            ranking("G1", 1, 2, experiment="f", variant="detailed"),
            ranking("G2", 2, 1, experiment="f", variant="detailed"),
            Ranking("G1", "other", {"x": 1, "y": 2}),
        ],
        {"f": named(1, 2)},
    )
    assert list(found) == [("f", "basic"), ("f", "detailed"), ("other", "")]
    assert found["f", "basic"].between.tau == 1
    assert found["f", "detailed"].between.tau == -1
    assert found["f", "detailed"].with_metric.tau == 0
    assert found["other", ""].with_metric.pairs == 0


def test_unequal_sets_of_methods_are_named():
    message = "c only in that of G1, e; d only in that of G2, e, repeat 2. Give a method"
    with pytest.raises(BadData, match=message):
        measure_agreement(
            [Ranking("G1", "e", {"a": 1, "c": 2}), Ranking("G2", "e", {"a": 1, "d": 2}, repeat=2)]
        )
    with pytest.raises(BadData, match="b only in that of the metric"):
        measure_agreement([ranking("G1", 1)], named(1, 2))
    with pytest.raises(BadData, match="b only in that of the second"):
        correlate(named(1), named(1, 2))


def test_what_is_not_one_experiment_is_refused():
    with pytest.raises(Misuse, match="of one experiment and variant, not: none"):
        measure_agreement([])
    with pytest.raises(Misuse, match="not: e, basic; e, detailed"):
        measure_agreement(
            [ranking("G1", 1, 2, variant="basic"), ranking("G1", 1, 2, variant="detailed")]
        )
    with pytest.raises(Misuse, match=r"no rankings of 'porosity' .* only of: e"):
        measure_agreements([ranking("G1", 1, 2)], {"porosity": named(1, 2)})
