"""What is best, second, tied, incomplete or apart."""

import math
from dataclasses import replace

import pytest
from tests.report.conftest import column

from depthgauge.analysis.boards.board import Cell
from depthgauge.report.tables.leaderboard import (
    board_notes,
    column_marks,
    leaderboard_table,
    sample_table,
    show_cell,
    show_density,
    tie_groups,
)
from depthgauge.report.words.headline import headline

MAIN = "badpix:2@all"


def test_all_of_rank_one_are_best_and_the_next_rank_is_second(board):
    assert column_marks(board, MAIN) == {"a": "best", "b": "second", "c": ""}
    assert column_marks(board, "delta:1.25@all") == {"a": "best", "b": "best", "c": "second"}


def test_what_is_incomplete_is_marked_and_never_best(board):
    assert column_marks(board, "mae@all")["c"] == "incomplete"
    only = replace(board, rows=(board.rows[2],))
    assert column_marks(only, "mae@all") == {"c": "incomplete"}


def test_oracles_are_apart_and_never_marked(board):
    table = leaderboard_table(board)
    assert [row.apart for row in table.rows] == [False, False, False, True]
    assert all(cell.mark == "" for cell in table.rows[-1].cells)
    assert table.rows[-1].cells[0].text == "best \u2020"


def test_cells_say_interval_deviation_and_why_there_is_none():
    assert show_cell(Cell(12.3)) == "12.300"
    assert show_cell(Cell(12.3, deviation=0.25)) == "12.300 \u00b1 0.250"
    assert show_cell(Cell(math.nan, used=11, all=12)) == "incomplete 11/12"
    assert show_cell(Cell(math.nan, used=0, all=0)) == "-"


def test_intervals_stand_behind_the_value(board):
    cell = leaderboard_table(board, [MAIN]).rows[0].cells[1]
    assert (cell.text, cell.detail) == ("12.300", "[11.800, 13.100]")


@pytest.mark.parametrize(
    ("name", "unit", "density", "shown"),
    [
        ("mae@all", "px", 0.982, "at 98.2 %"),
        ("mae@all", "px", 1.0, ""),
        ("badpix:2@all", "%", 0.5, ""),
        ("avgErr@all", "px", 0.5, "at 50.0 %"),
    ],
)
def test_density_stands_beside_what_has_no_worst_value(name, unit, density, shown):
    assert show_density(column(name, unit), Cell(1.0, density=density)) == shown


def test_ties(board):
    assert tie_groups(board, MAIN) == [["a", "b"]]
    assert f"Cannot be told apart by {MAIN}: a, b." in board_notes(board, board.columns)


def test_chosen_columns_come_in_the_order_wanted(board):
    table = leaderboard_table(board, ["mae@all", MAIN])
    assert [c.heading for c in table.columns] == ["method", "mae@all", MAIN, "failed"]


def test_a_method_without_a_score_has_a_dash(board):
    cells = {key: cell for key, cell in board.rows[1].cells.items() if key != "mae@all"}
    rows = (board.rows[0], replace(board.rows[1], cells=cells))
    table = leaderboard_table(replace(board, rows=rows), ["mae@all"])
    assert table.rows[1].cells[1].text == "-"
    assert len(table.rows[1].cells[1].fields) == len(table.columns[1].fields)


def test_samples_mark_the_best_of_each(board):
    values = {
        "a": {"x": {MAIN: 3.0}, "y": {MAIN: math.nan}},
        "b": {"x": {MAIN: 2.0}, "y": {MAIN: 1.0}},
        "c": {"y": {MAIN: 1.0}},
    }
    rows = sample_table(values, board.column(MAIN)).rows
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["x", "3.000", "2.000", "-"],
        ["y", "-", "1.000", "1.000"],
    ]
    assert [cell.mark for cell in rows[0].cells] == ["", "second", "best", ""]
    assert [cell.mark for cell in rows[1].cells] == ["", "", "best", "best"]


def test_the_headline_names_the_winner_and_its_ties(board):
    assert headline(board) == (
        "a has the lowest badpix:2@all: 12.300 % [11.800, 13.100], but cannot be told apart from b."
    )
    alone = replace(board, rows=board.rows[2:])
    assert headline(alone) == "c has a badpix:2@all of 30.000 % [25.000, 36.000]."
    ods = replace(
        board,
        main="ods",
        columns=(replace(board.column(MAIN), id="ods"),),
        rows=(replace(board.rows[2], cells={"ods": board.rows[2].cells[MAIN]}),),
    )
    assert headline(ods) == "c has an ods of 30.000 % [25.000, 36.000]."
    assert headline(replace(board, rows=board.rows[3:])) == "No method was scored."
    higher = replace(board, main="delta:1.25@all")
    assert headline(higher) == "a and b share the highest delta:1.25@all: 90.000 %."
    nothing = replace(board, rows=(board.rows[2],), main="mae@all")
    assert headline(nothing) == "No method has a complete mae@all: estimates are missing."


def test_a_score_of_any_name_is_bounded_as_its_metric_is():
    cell = Cell(1.0, density=0.5)
    named = column("mean", "deg")
    assert show_density(named, cell) == "at 50.0 %"
    assert show_density(replace(named, name="mean_angle"), cell) == ""
    assert show_density(replace(named, name="mae"), cell) == "at 50.0 %"
    assert show_density(replace(column("ap", ""), level="dataset"), cell) == ""
