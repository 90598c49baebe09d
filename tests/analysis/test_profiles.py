"""Ranking by a profile: costs by hand, reasons, what is absent, who is incomplete, bad files."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.boards.board import Board, Cell, Column, Row
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.profiles import (
    Profile,
    Weight,
    rank_by_profile,
)
from depthgauge.analysis.profiles._costs import make_scale
from depthgauge.engine.store.record import Timing
from depthgauge.errors import Unavailable

NAN, INF = math.nan, math.inf


def profile(*weights):
    return Profile(
        id="mine",
        title="Mine",
        weights=[
            Weight(aspect=aspect, scores=patterns.split(), weight=weight, why="Because.")
            for aspect, patterns, weight in weights
        ],
    )


def labels(ranking):
    return [row.label for row in ranking.rows]


# --------------------------------------------------------------------------------------- costs


def test_costs_by_hand():
    scale = make_scale({"a": 1.0, "b": 3.0, "c": 9.0}, "lower", "px")
    assert (scale.perfect, scale.median) == (0, 3)
    assert [scale.cost(v) for v in (0, 1, 3, 9, INF)] == [0, 0.25, 0.5, 0.75, 1]
    assert math.isnan(scale.cost(NAN))


def test_a_percentage_that_should_be_high_lacks_something_to_100():
    scale = make_scale({"a": 92.0, "b": 84.0, "c": 60.0}, "higher", "%")
    assert (scale.perfect, scale.median) == (100, 84)
    assert scale.cost(92) == pytest.approx(1 / 3)


def test_without_a_perfect_value_the_best_method_is_the_measure():
    scale = make_scale({"a": 30.0, "b": 25.0, "c": 20.0}, "higher", "dB")
    assert [scale.cost(v) for v in (30, 25, 20)] == pytest.approx([0, 0.5, 2 / 3])
    scale = make_scale({"a": -2.0, "b": -1.0, "c": 0.0}, "lower", "")
    assert [scale.cost(v) for v in (-2, -1, 0)] == pytest.approx([0, 0.5, 2 / 3])


def test_a_bias_is_best_at_zero():
    scale = make_scale({"a": -1.0, "b": 1.0, "c": 3.0}, "zero", "px")
    assert scale.cost(-1) == scale.cost(1) == 0.5


def test_where_half_are_perfect_a_small_shortfall_is_a_small_cost():
    scale = make_scale({"a": 0.0, "b": 0.0, "c": 0.5}, "lower", "%")
    assert [scale.cost(v) for v in (0, 0.5, 5, 95)] == pytest.approx([0, 1 / 11, 0.5, 0.95])
    scale = make_scale({"a": 0.05, "b": 0.08, "c": 1.9}, "lower", "s", enough=0.1)
    assert [scale.cost(v) for v in (0.05, 0.2, 1.9)] == pytest.approx([0, 0.5, 1.8 / 1.9])
    scale = make_scale({"a": 0.0, "b": 0.0, "c": 0.4}, "lower", "px")
    assert [scale.cost(v) for v in (0, 0.2, 0.4)] == pytest.approx([0, 0.5, 2 / 3])


def test_what_is_good_enough_is_as_good_as_what_is_better():
    scale = make_scale({"a": 0.01, "b": 0.3, "c": 0.5}, "lower", "s", enough=0.1)
    assert [scale.cost(v) for v in (0.01, 0.1, 0.3, 0.5)] == pytest.approx([0, 0, 0.5, 2 / 3])
    assert (scale.median, scale.median_cost) == (0.3, 0.5)
    scale = make_scale({"a": 99.0, "b": 95.0, "c": 80.0}, "higher", "%", enough=95.0)
    assert [scale.cost(v) for v in (99, 95, 80)] == [0, 0, 0.75]
    assert (scale.median, scale.median_cost) == (95, 0)
    scale = make_scale({"a": -0.1, "b": 0.5, "c": -0.9}, "zero", "px", enough=0.1)
    assert [scale.cost(v) for v in (-0.1, 0.5, -0.9)] == pytest.approx([0, 0.5, 2 / 3])


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=7), st.floats(0.001, 1000))
def test_units_cancel_and_order_stays(values, factor):
    named = {str(i): v for i, v in enumerate(values)}
    scale = make_scale(named, "lower", "px")
    other = make_scale({k: factor * v for k, v in named.items()}, "lower", "m")
    costs = [scale.cost(v) for v in values]
    assert costs == pytest.approx([other.cost(factor * v) for v in values])
    assert all(0 <= cost < 1 for cost in costs)
    for (v, c), (w, d) in itertools.combinations(zip(values, costs, strict=True), 2):
        assert (v <= w) == (c <= d) or c == pytest.approx(d)


# ------------------------------------------------------------------------------------- ranking

VALUES = {
    "quick": {"badpix:2@all": 12.0, "thinning@all": 6.0, "runtime": 1.0},
    "sharp": {"badpix:2@all": 6.0, "thinning@all": 1.0, "runtime": 9.0},
    "plain": {"badpix:2@all": 6.0, "thinning@all": 3.0, "runtime": 3.0},
}
WHOLE = profile(
    ("accuracy", "badpix:*", 2), ("thin things", "thinning*", 1), ("speed", "runtime", 1)
)


def test_a_ranking_by_hand():
    """Medians 6, 3, 3: costs 2/3 1/2 1/2, then 2/3 1/4 1/2, then 1/4 3/4 1/2; weights 2 1 1."""
    found = rank_by_profile(VALUES, WHOLE)
    assert [(row.label, row.rank) for row in found.rows] == [
        ("plain", 1),
        ("sharp", 1),
        ("quick", 3),
    ]
    assert [row.cost for row in found.rows] == pytest.approx(
        [0.5, 0.5, 0.5 * 2 / 3 + 0.25 * 11 / 12]
    )
    assert [s.share for s in found.scores] == [0.5, 0.25, 0.25]
    assert found.covered == 1
    assert found.absent == ()


def test_priorities_decide():
    for aspect, best in (("accuracy", "plain"), ("thin things", "sharp"), ("speed", "quick")):
        weights = [
            w.model_copy(update={"weight": 20.0 if w.aspect == aspect else 1.0})
            for w in WHOLE.weights
        ]
        assert (
            rank_by_profile(VALUES, WHOLE.model_copy(update={"weights": weights})).rows[0].label
            == best
        )


def test_a_weight_is_shared_by_what_it_matches():
    many = {
        "a": {"badpix:1@all": 1.0, "badpix:2@all": 1.0, "badpix:4@all": 1.0, "mae@all": 4.0},
        "b": {"badpix:1@all": 2.0, "badpix:2@all": 2.0, "badpix:4@all": 2.0, "mae@all": 1.0},
    }
    found = rank_by_profile(many, profile(("bad", "badpix:*", 1), ("mean", "mae@all", 1)))
    assert [s.share for s in found.scores] == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert labels(found) == ["b", "a"]


def test_the_reason_names_what_speaks_for_and_against():
    found = rank_by_profile(VALUES, WHOLE)
    assert found.rows[-1].why == (
        "quick is number 3 of 3; for it: speed (runtime 1, median 3); against it: accuracy "
        "(badpix:2@all 12 %, median 6 %) and thin things (thinning@all 6, median 3)."
    )
    assert found.rows[0].why == (
        "plain is number 1 of 3: it is as good as the median method in everything that is weighed."
    )
    assert found.rows[1].why == (
        "sharp is number 1 of 3; for it: thin things (thinning@all 1, median 3); against it: "
        "speed (runtime 9, median 3)."
    )


def test_effects_add_up_to_the_cost():
    for row in rank_by_profile(VALUES, WHOLE).rows:
        assert sum(v.effect for v in row.verdicts) == pytest.approx(0.5 - row.cost)
        effects = [abs(v.effect) for v in row.verdicts]
        assert effects == sorted(effects, reverse=True)


def test_an_aspect_is_named_once_with_its_strongest_score():
    values = {
        "a": {"badpix:1@all": 1.0, "badpix:2@all": 3.0, "mae@all": 9.0},
        "b": {"badpix:1@all": 4.0, "badpix:2@all": 4.0, "mae@all": 1.0},
        "c": {"badpix:1@all": 4.0, "badpix:2@all": 4.0, "mae@all": 1.0},
    }
    found = rank_by_profile(values, profile(("bad", "badpix:*", 2), ("mean", "mae@all", 1)))
    why = next(row.why for row in found.rows if row.label == "a")
    assert "for it: bad (badpix:1@all 1 %, median 4 %); against it: mean (mae@all 9" in why


def test_speed_beyond_what_is_enough_speaks_for_nobody():
    values = {"a": {"x": 1.0, "runtime": 0.001}, "b": {"x": 2.0, "runtime": 0.09}}
    speed = Weight(aspect="speed", scores=("runtime",), weight=9, why="Because.", enough=0.1)
    whole = profile(("x", "x", 1))
    found = rank_by_profile(values, whole.model_copy(update={"weights": (*whole.weights, speed)}))
    assert labels(found) == ["a", "b"]
    assert [v.effect for row in found.rows for v in row.verdicts if v.score.id == "runtime"] == [
        0,
        0,
    ]
    assert all("speed" not in row.why for row in found.rows)


def test_who_would_lead_with_other_weights_is_said():
    found = rank_by_profile(VALUES, profile(("accuracy", "badpix:*", 2), ("speed", "runtime", 1)))
    assert labels(found)[0] == "plain"
    assert {(s.label, s.aspect, s.factor) for s in found.swings} == {("quick", "accuracy", 0.5)}
    assert "quick would come first if the weight of 'accuracy' were half as large." in found.notes
    firm = rank_by_profile(VALUES, profile(("accuracy", "badpix:*", 9), ("speed", "runtime", 1)))
    assert firm.swings == ()
    assert "The first place stays when any one weight is halved or doubled." in firm.notes


# --------------------------------------------------------------------------- what is not there


def test_absent_scores_are_named_and_the_rest_decides():
    found = rank_by_profile(VALUES, profile(("accuracy", "badpix:*", 3), ("edges", "edge_*", 1)))
    assert [s.share for s in found.scores] == [1.0]
    assert found.covered == 0.75
    (absent,) = found.absent
    assert (absent.weight.aspect, absent.share, absent.why) == (
        "edges",
        0.25,
        "there is no such score",
    )
    assert found.notes[:2] == (
        "1 of 2 weights, 25 % of the profile, could not be used; only the others count.",
        "Not weighed: edges (edge_*): there is no such score.",
    )


def test_a_score_that_nobody_has_is_absent():
    values = {"a": {"x": 1.0, "y": NAN}, "b": {"x": 2.0, "y": NAN}}
    found = rank_by_profile(values, profile(("x", "x", 1), ("y", "y", 1)))
    assert labels(found) == ["a", "b"]
    assert found.absent[0].why == "no method has a value"


def test_a_method_that_lacks_a_score_comes_last():
    values = {"a": {"x": 9.0, "y": 9.0}, "b": {"x": 1.0, "y": NAN}, "c": {"x": 0.0}}
    found = rank_by_profile(values, profile(("x", "x", 1), ("y", "y", 1)))
    assert [(row.label, row.rank) for row in found.rows] == [("a", 1), ("b", 2), ("c", 2)]
    assert found.rows[1].lacks == ("y",)
    assert math.isnan(found.rows[1].cost)
    assert found.rows[2].why == "c comes last, because it has no value of y."


def test_an_infinite_value_costs_the_most_and_is_ranked():
    found = rank_by_profile(
        {"a": {"x": INF}, "b": {"x": 2.0}, "c": {"x": 2.0}}, profile(("x", "x", 1))
    )
    assert [(row.label, row.rank, row.cost) for row in found.rows] == [
        ("b", 1, 0.5),
        ("c", 1, 0.5),
        ("a", 3, 1.0),
    ]


def test_nothing_to_weigh_is_an_error():
    with pytest.raises(Unavailable, match=r"'mine' weighs nope\*, but .* values of badpix:2@all"):
        rank_by_profile(VALUES, profile(("nope", "nope*", 1)))
    with pytest.raises(Unavailable, match="values of nothing"):
        rank_by_profile({}, WHOLE)


def test_one_method_is_said_to_be_alone():
    found = rank_by_profile({"a": {"x": 3.0}}, profile(("x", "x", 1)))
    assert found.rows[0].cost == 0.5
    assert found.notes == ("There is one method, so there is nothing to rank.",)


# ---------------------------------------------------------------------------------- directions


def test_directions_are_those_of_the_metrics_or_given():
    values = {
        "a": {"density@all": 90.0, "sharpness": 30.0},
        "b": {"density@all": 99.0, "sharpness": 20.0},
    }
    assert labels(rank_by_profile(values, profile(("x", "density*", 1)))) == ["b", "a"]
    assert labels(rank_by_profile(values, profile(("x", "sharpness", 1)))) == ["b", "a"]
    better = {"sharpness": "higher"}
    assert labels(rank_by_profile(values, profile(("x", "sharpness", 1)), better=better)) == [
        "a",
        "b",
    ]


# --------------------------------------------------------------------------------------- board


def board(build, **changes):
    run = build.from_errors(
        {
            "near": {"s": [0.1, 0.1, 0.1, 9.0]},
            "far": {"s": [0.6, 0.6, 0.6, 0.6]},
        }
    )
    timings = tuple(
        Timing(label, 0, "s", time_s, time_s, 100.0, 0.0)
        for label, time_s in (("near", 4.0), ("far", 1.0))
    )
    return make_board(replace(run, timings=timings), **changes)


def test_a_board_is_ranked_with_its_times(build):
    found = rank_by_profile(board(build), profile(("mean", "mae*", 1)))
    assert labels(found) == ["far", "near"]
    assert found.scores[0].unit == "px"
    found = rank_by_profile(board(build), profile(("speed", "runtime", 3), ("memory", "peak_*", 1)))
    assert [row.label for row in found.rows] == ["far", "near"]
    assert [v.value for v in found.rows[0].verdicts] == [1.0, 100.0]


def test_a_column_of_the_board_goes_before_the_measured_time():
    columns = (Column("runtime", "runtime", "", "s", "lower"),)
    rows = tuple(
        Row(label, {"runtime": Cell(value)}, time_s=time_s)
        for label, value, time_s in (("a", 1.0, 9.0), ("b", 2.0, 1.0))
    )
    assert labels(
        rank_by_profile(Board(columns, rows, "runtime"), profile(("s", "runtime", 1)))
    ) == [
        "a",
        "b",
    ]


def test_oracles_are_not_ranked():
    columns = (Column("mae@all", "mae", "all", "px", "lower"),)
    rows = (
        Row("a", {"mae@all": Cell(2.0)}),
        Row("best", {"mae@all": Cell(0.1)}, oracle=True),
    )
    found = rank_by_profile(Board(columns, rows, "mae@all"), profile(("m", "mae*", 1)))
    assert labels(found) == ["a"]
    assert found.rows[0].cost == 0.5
