"""The table that is seen at once, and the one with all columns."""

import math
from dataclasses import replace

from tests.report.conftest import column, full_page
from tests.report.page.test_html import Reader, bare

from depthgauge.analysis.boards.board import Cell
from depthgauge.report.page.html import render_report
from depthgauge.report.sections.leaderboard import FIRST_SCORES, first_scores, main_first


def heads(text, kind):
    """The heads of one of the two tables."""
    table = text[text.index(f'<table class="board {kind}') :].partition("</table>")[0]
    return [a for a in Reader(f"{table}</table>").all("th") if a.get("data-column")]


def many(board, ids):
    columns = tuple(column(score_id) for score_id in ids)
    rows = tuple(
        replace(row, cells={i: Cell(1.0, used=4, all=4, rank=1) for i in ids}) for row in board.rows
    )
    return replace(board, columns=columns, rows=rows, main=ids[0])


def test_the_first_table_has_the_main_score_another_of_its_metric_and_one_of_each(board):
    ids = ["mae@thin", "mae@all", "mae@edges", "rms@thin", "rms@all", "density@all", "edges@all"]
    board = replace(many(board, ids), main="mae@all")
    assert first_scores(main_first(board)) == [
        "mae@all",
        "mae@thin",
        "rms@all",
        "edges@all",
        "mae@edges",
    ]
    assert first_scores(main_first(board), most=2) == ["mae@all", "mae@thin"]
    assert first_scores(many(board, ["mae@all"])) == ["mae@all"]


def test_all_columns_are_on_demand(board):
    ids = [f"m{n}@all" for n in range(20)]
    text = render_report(bare(many(board, ids)))
    assert len(heads(text, "first")) == 1 + FIRST_SCORES + 2  # the name, time, failed
    assert len(heads(text, "whole")) == 1 + 20 + 2
    assert "All columns: 20 scores of every method" in text
    before, _, _ = text.partition('<table class="board whole')
    assert before.rstrip().count("<details>") > before.count("</details>") - 1  # it is folded
    assert "1 score of every method" in render_report(bare(many(board, ["mae@all"])))


def test_a_long_name_of_a_metric_may_be_broken(board):
    text = render_report(bare(many(board, ["a_long_<b>_name@all"])))
    assert "a_<wbr>long_<wbr>&lt;b&gt;_<wbr>name" in text


def test_times_and_memory_that_nobody_knows_have_no_column(board):
    rows = tuple(replace(row, time_s=math.nan, failed={}) for row in board.rows)
    text = render_report(full_page(replace(board, rows=rows)))
    assert "s, median" not in text
    assert "MB, peak" not in text
    timed = (replace(rows[0], time_s=1.5, peak_memory_mb=20.0), *rows[1:])
    text = render_report(full_page(replace(board, rows=timed)))
    assert text.count("s, median") == text.count("MB, peak") == 2
