"""The difficulty at 50 % failure of the methods of a run."""

import json
import math

import numpy as np
import pytest

from depthgauge.analysis.boards.make_board import leaderboard_json, make_board
from depthgauge.analysis.difficulty.axes import difficulties, value_at
from depthgauge.errors import Misuse
from depthgauge.report.tables.difficulty import difficulty_table, in_words
from depthgauge.report.tables.formats import to_csv, to_text
from depthgauge.types import Score

NAMES = [f"steep_{k}" for k in range(1, 9)]
LINES = {"good": [0, 0, 0, 1, 5, 30, 70, 95], "bad": [2, 30, 70, 98, 100, 100, 100, 100]}


@pytest.fixture
def run(build):
    """Two methods on an axis of eight bins, with values that double."""
    protocol = build.protocol(
        given_regions=NAMES,
        axes={"steep": {"label": "slope", "unit": "px", "values": [2.0**k for k in range(8)]}},
        scores=[{"metric": "mae"}, {"metric": "badpix", "threshold": 1, "region": "steep_{1..8}"}],
    )

    def scores(line, by):
        found = {"mae@all": Score(float(np.mean(line)), 10, 0, unit="px")}
        for name, value in zip(NAMES, line, strict=True):
            found[f"badpix:1@{name}"] = Score(min(value + by, 100.0), 400, 0, unit="%")
        return found

    return build.assemble(
        protocol,
        {
            (label, 0): {sample: scores(line, by) for sample, by in (("x", 0), ("y", 2))}
            for label, line in LINES.items()
        },
        {},
    )


def test_every_method_has_a_place_and_a_value(run):
    (found,) = difficulties(run, make_board(run))
    assert found.id == "difficulty:badpix:1@steep"
    good, bad = found.methods["good"], found.methods["bad"]
    assert good.curve.difficulty == pytest.approx(6.5, abs=0.2)
    assert bad.curve.difficulty == pytest.approx(2.5, abs=0.2)
    assert good.value == pytest.approx(2 ** (good.curve.difficulty - 1))
    assert good.low < good.value < good.high
    assert found.ranking() == ["good", "bad"]
    assert "50 % fail at bin 6." in in_words(found, "good")


def test_both_samples_count(run):
    (both,) = difficulties(run, make_board(run))
    for result in run.results.values():
        del result.samples["y"]
    (one,) = difficulties(run, make_board(run))
    for label in LINES:
        wide, narrow = one.methods[label].curve, both.methods[label].curve
        assert narrow.high - narrow.low < wide.high - wide.low


def test_it_is_in_the_json_and_in_tables(run):
    board = make_board(run)
    body = leaderboard_json(run, board)["difficulty"]["difficulty:badpix:1@steep"]
    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert body["methods"]["good"]["reaches"] == "within"
    low, high = body["methods"]["good"]["bin_interval"]
    assert low < 6.5 < high
    table = difficulty_table(run, board)
    text = to_text(table)
    assert "badpix:1@steep" in text
    assert "higher is better" in text
    head, first, *_ = to_csv(table).splitlines()
    assert head.split(",")[1] == "difficulty:badpix:1@steep bin"
    assert float(first.split(",")[1]) == pytest.approx(6.5, abs=0.2)
    assert first.split(",")[-1] == "within"


def test_the_end_of_an_axis_is_said(run, build):
    for result in run.results.values():
        for scores in result.samples.values():
            for name in NAMES:
                scores[f"badpix:1@{name}"] = Score(0.0, 400, 0, unit="%")
    board = make_board(run)
    (found,) = difficulties(run, board)
    assert found.methods["good"].to_json()["reaches"] == "never"
    assert found.methods["good"].to_json()["value"] is None
    assert "> 8" in to_text(difficulty_table(run, board))
    assert in_words(found, "bad") == "less than 50 % fail on the whole axis"


def test_a_run_without_axes_has_none(build):
    plain = build.from_values({"a": {"x": 1.0, "y": 2.0}})
    board = make_board(plain)
    assert difficulties(plain, board) == ()
    assert "difficulty" not in leaderboard_json(plain, board)
    with pytest.raises(Misuse, match="this run has no difficulty"):
        difficulty_table(plain, board)


@pytest.mark.parametrize(
    ("bins", "place", "value"),
    [
        ([0.0, 0.2, 0.4], 1.5, 0.1),
        ([0.0, 0.2, 0.4], 3.5, 0.5),
        ([0.9, 0.5, 0.1], 2.5, 0.3),
        ([1.0, 0.1, 0.01], 1.5, 10**-0.5),
        ([1.0, 2.0], 2.0, 2.0),
        ([1.0, 2.0, 3.0], math.inf, math.inf),
    ],
)
def test_values_between_bins(bins, place, value):
    assert value_at(bins, place) == pytest.approx(value)
