"""One line of caveats, and everything else on demand."""

import math
from dataclasses import replace

import pytest
from tests.report.conftest import full_page
from tests.report.page.test_html import Reader

from depthgauge.analysis.boards.board import BoardWarning, Cell, Row
from depthgauge.report.page.html import render_report
from depthgauge.report.page.model import Page
from depthgauge.report.words.reading import reading_of

MAIN = "badpix:2@all"


def page_of(board, count=8, methods=2, low=1.0, failed=(), warnings=()):
    rows = tuple(
        Row(
            f"m{n}",
            {MAIN: Cell(3.0 + n, low=low, high=9.0, used=count, all=count, rank=n + 1)},
            failed=dict.fromkeys(failed, "crashed") if n == 0 else {},
        )
        for n in range(methods)
    )
    doubts = tuple(BoardWarning("code", text, "Do it.", ("m1",), ("s",)) for text in warnings)
    board = replace(board, columns=board.columns[:1], rows=rows, warnings=doubts)
    return Page(board, "t", "bench", 1, "ab" * 32)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "Intervals (95 %) are over 8 samples; among many scores, some differ by chance."),
        ({"methods": 1}, "Intervals (95 %) are over 8 samples."),
        (
            {"count": 4, "low": math.nan},
            "Only 4 samples: the order holds for these samples only.",
        ),
        (
            {"count": 1, "low": math.nan},
            "Only 1 sample: the order holds for these samples only.",
        ),
        (
            {"count": 20, "low": math.nan},
            "No intervals: the order holds for these samples only.",
        ),
        ({"failed": ["s"]}, "m0 has samples without a usable estimate."),
        ({"failed": ["s"], "warnings": ("Why?",)}, "m1: Why?"),
        ({"warnings": ("One.", "Two.", "Three.")}, "m1: One. (2 more below)"),
    ],
)
def test_the_most_important_caveat_comes_first(board, changes, line):
    page = page_of(board, **changes)
    assert reading_of(page).line == line
    assert line in Reader(render_report(page)).texts


def test_an_incomplete_method_is_said_at_once(board):
    page = page_of(board)
    gone = Cell(math.nan, used=3, all=4, rank=2)
    rows = (page.board.rows[0], replace(page.board.rows[1], cells={MAIN: gone}))
    line = reading_of(replace(page, board=replace(page.board, rows=rows))).line
    assert line == f"One method is incomplete in {MAIN} and ranked last."


def test_all_notes_are_behind_how_to_read_this(board):
    notes = ("Intervals say something.", "Nothing is corrected.", "A third note.")
    doubt = BoardWarning("sign", "Doubtful.", "Turn it.", ("<m>", "b"), ("s1", "s2"))
    page = full_page(replace(board, notes=notes, warnings=(doubt, doubt)))
    text = render_report(page)
    above, _, rest = text.partition('<details class="reading">')
    folded, _, below = rest.partition("</details>")
    for note in (
        *notes,
        "Turn it.",
        "(s1, s2): Doubtful.",
        "Bold: best, underlined: second best.",
        "same letter",
    ):
        assert note not in above
        assert note in folded
    assert not any(note in below.partition("<pre")[0] for note in notes)
    # One line is seen: the summary. Nothing else stands above the table.
    assert folded.count("<summary>") == 1
    assert text.index('class="board first') < text.index(
        '<ul class="notes"', len(above) + len(folded)
    )


def test_the_main_score_is_defined(board):
    board = replace(board, columns=(replace(board.columns[0], name="badpix"), *board.columns[1:]))
    page = full_page(board, how=[("Metric badpix", "Share of bad pixels."), ("Metric mae", "|e|")])
    assert f"{MAIN}: Share of bad pixels." in reading_of(page).notes


def test_times_are_explained_where_there_are_any(board):
    said = "Time is the median over samples, memory the largest."
    some = [note for note in reading_of(full_page(board)).notes if note.startswith(said)]
    assert some == [f"{said} Estimates that were read from files have neither."]
    timed = tuple(replace(row, time_s=1.0) for row in board.rows)
    assert said in reading_of(full_page(replace(board, rows=timed))).notes
    none = tuple(replace(row, time_s=math.nan) for row in board.rows)
    notes = reading_of(full_page(replace(board, rows=none))).notes
    assert not any("memory" in note for note in notes)
