"""Families of numbered regions, and curves in three numbers."""

import math

import pytest

from depthgauge.analysis.boards.board import Board, Cell, Column, Row
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.degradation import degradations, table_columns, trend_of
from depthgauge.benchmarks import make_protocol
from depthgauge.types import Score

NAN = math.nan


def protocol(**keys):
    body = {
        "id": "bins",
        "version": 1,
        "dataset": "none",
        "quantity": "disparity",
        "pool": "image",
        "given_regions": [f"{s}_{n}" for s in ("gap", "peak", "dot") for n in range(20)],
        "scores": [{"metric": "mae"}, {"metric": "mae", "region": "gap_{1..4}"}],
    }
    return make_protocol({**body, **keys}, "test")


def board(values, unit="px", better="lower", empty=()):
    """A board from label -> region -> value of `mae`."""
    regions = list(dict.fromkeys(r for each in values.values() for r in each))
    columns = tuple(Column(f"mae@{r}", "mae", r, unit, better) for r in regions)
    rows = tuple(
        Row(
            label,
            {f"mae@{r}": Cell(each.get(r, NAN), used=1, all=int(r not in empty)) for r in regions},
        )
        for label, each in values.items()
    )
    return Board(columns, rows, columns[0].id)


def family(stem, values, first=1):
    return {f"{stem}_{n}": value for n, value in enumerate(values, start=first)}


def test_a_family_has_a_line_for_every_method():
    axes = {"gap": {"label": "width of the gap", "unit": "px", "values": [8, 6, 4, 2]}}
    found = degradations(
        board(
            {
                "a": {"all": 1.0, **family("gap", [1, 2, 3, 4.5])},
                "b": {"all": 2.0, **family("gap", [2, 2, NAN, 2])},
            }
        ),
        protocol(axes=axes),
    )
    assert len(found) == 1
    assert (found[0].stem, found[0].metric, found[0].unit) == ("gap", "mae", "px")
    assert (found[0].label, found[0].axis_unit) == ("width of the gap", "px")
    assert found[0].bins == (8, 6, 4, 2)
    assert found[0].score_ids == ("mae@gap_1", "mae@gap_2", "mae@gap_3", "mae@gap_4")
    assert found[0].lines["a"] == (1, 2, 3, 4.5)
    assert found[0].lines["b"] == pytest.approx((2, 2, NAN, 2), nan_ok=True)
    assert found[0].declared


def test_an_oracle_has_no_line():
    both = board({"a": family("gap", [1, 2, 3]), "best": family("gap", [0, 0, 0])})
    rows = (both.rows[0], Row("best", both.rows[1].cells, oracle=True))
    (found,) = degradations(Board(both.columns, rows, both.main), protocol())
    assert list(found.lines) == ["a"]


def test_numbers_stand_for_themselves_where_the_benchmark_says_nothing():
    (found,) = degradations(board({"a": family("dark_gap", [1, 2, 3], first=4)}), protocol())
    assert found.bins == (4, 5, 6)
    assert found.label == "dark gap"
    assert not found.declared


def test_an_axis_with_too_few_values_is_not_used():
    axes = {"gap": {"label": "width", "values": [8, 6]}}
    (found,) = degradations(board({"a": family("gap", [1, 2, 3])}), protocol(axes=axes))
    assert found.bins == (1, 2, 3)
    assert found.label == "width"


@pytest.mark.parametrize(
    "regions",
    [
        {"gap_1": 1.0, "gap_2": 2.0},  # two are no axis
        {"gap_1": 1.0, "gap_2": 2.0, "gap_4": 3.0},  # a number lacks
        {"gap_1": 1.0, "gap_2": 2.0, "peak_3": 3.0},  # not one family
        {"gap": 1.0, "gap2": 2.0, "gap3": 3.0},  # no number behind a line
        {"discontinuities:0.1": 1.0, "near_": 2.0, "_3": 3.0},
    ],
)
def test_these_are_no_families(regions):
    assert degradations(board({"a": regions}), protocol()) == ()


def test_families_of_different_metrics_are_apart():
    columns = tuple(
        Column(f"{m}@gap_{n}", m, f"gap_{n}", "px", "lower")
        for m in ("mae", "badpix:2")
        for n in (1, 2, 3)
    )
    rows = (Row("a", {c.id: Cell(1.0, all=1) for c in columns}),)
    found = degradations(Board(columns, rows, columns[0].id), protocol())
    assert [(each.metric, len(each.bins)) for each in found] == [("mae", 3), ("badpix:2", 3)]


def test_regions_are_sorted_by_number_not_by_name():
    values = family("gap", range(12))
    shuffled = dict(sorted(values.items()))  # gap_1, gap_10, gap_11, gap_2 ...
    (found,) = degradations(board({"a": shuffled}), protocol())
    assert found.lines["a"] == tuple(range(12))


def test_long_and_declared_families_are_left_out_of_tables():
    values = {"all": 1.0, **family("gap", range(7)), **family("peak", range(4))}
    values |= family("dot", range(3))
    whole = board({"a": values})
    found = degradations(whole, protocol(axes={"dot": {"label": "size"}}))
    shown = table_columns(whole, found)
    assert shown == ["mae@all", "mae@peak_1", "mae@peak_2", "mae@peak_3", "mae@peak_4"]


def test_the_main_score_is_in_every_table():
    whole = board({"a": family("gap", range(9))})
    assert table_columns(whole, degradations(whole, protocol())) == [whole.main]


def test_trends_by_hand():
    found = trend_of([10, 20, 30, 40], [1.0, 2.0, 9.0, 4.0], "lower")
    assert (found.mean, found.spread, found.step, found.step_to) == (4.0, 8.0, 7.0, 30)
    higher = trend_of([1, 2, 3], [90.0, 80.0, 85.0], "higher")
    assert (higher.mean, higher.spread, higher.step, higher.step_to) == (85.0, 10.0, 10.0, 2)
    # Near to zero: from 1 away to 3 away, whatever the sign.
    zero = trend_of([1, 2], [1.0, -3.0], "zero")
    assert (zero.spread, zero.step) == (2.0, 2.0)


def test_a_curve_that_only_gets_better_has_no_step():
    found = trend_of([1, 2, 3], [3.0, 2.0, 1.0], "lower")
    assert found.step == 0
    assert math.isnan(found.step_to)


@pytest.mark.parametrize("values", [[1.0, NAN, 2.0], [1.0, math.inf, 2.0], [1.0], []])
def test_a_curve_with_gaps_has_no_trend(values):
    found = trend_of(range(len(values)), values, "lower")
    assert math.isnan(found.mean)
    assert math.isnan(found.step)


def test_bins_that_nobody_has_are_no_gaps():
    """Leaving out a bin that a method fails on would make its mean better."""
    values = {"a": family("gap", [1, NAN, 3]), "b": family("gap", [1, NAN, NAN])}
    (found,) = degradations(board(values, empty=("gap_2",)), protocol())
    assert found.filled == (True, False, True)
    assert found.trend("a").mean == 2
    assert found.trend("a").step_to == 3
    assert math.isnan(found.trend("b").mean)


def test_from_a_run(build):
    names = [f"gap_{n}" for n in range(1, 5)]
    made = build.protocol(scores=[{"metric": "mae", "region": names}], given_regions=names)
    scores = {
        f"mae@gap_{n}": Score(float(n), 10, 0, unit="px") if n < 4 else Score(NAN, 0, 0, unit="px")
        for n in range(1, 5)
    }
    run = build.assemble(made, {("a", 0): {"s": scores}}, {})
    (found,) = degradations(make_board(run), made)
    assert found.lines["a"] == pytest.approx((1, 2, 3, NAN), nan_ok=True)
    assert found.filled == (True, True, True, False)
    assert found.trend("a").mean == 2
