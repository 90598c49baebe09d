"""The leaderboard: the main scores first, all of them on demand, and copies to take along."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from depthgauge.analysis.boards.board import Board
from depthgauge.report.charts.radar import varied
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.board_view import board_html
from depthgauge.report.tables.formats import to_csv, to_latex, to_markdown
from depthgauge.report.tables.leaderboard import leaderboard_table
from depthgauge.report.words.reading import left_out

SPEC = SectionSpec("leaderboard", "Leaderboard", "Leaderboard", order=10)

FIRST_SCORES = 5
"""How many scores the first table has: with costs they fit a window of 1300 px."""


def body(page: Page) -> Markup:
    """The main scores, all scores on demand, and copies of the table."""
    board = main_first(replace(page.board, columns=page.columns))
    first = replace(board, columns=tuple(board.column(name) for name in first_scores(board)))
    source = f"{page.benchmark} version {page.version}, protocol {page.protocol_hash}"
    table = leaderboard_table(board, title=page.title, source=source)
    whole = leaderboard_table(main_first(page.board), title=page.title, source=source)
    copies = {"Markdown": to_markdown(table), "LaTeX": to_latex(table), "CSV": to_csv(whole)}
    every = "Scores" if left_out(page) else "Every score"
    count = len(board.columns)
    return render(
        "leaderboard.html.j2",
        first=board_html(
            first, f"Best {board.main} first", kind="first", grouped=False, styles=page.styles
        ),
        whole=board_html(
            board, f"{every} of every method, best {board.main} first", styles=page.styles
        ),
        count=f"{count} score{'s' if count > 1 else ''}",
        copies=[(name, Markup.escape(text)) for name, text in copies.items()],
    )


def first_scores(board: Board, most: int = FIRST_SCORES) -> list[str]:
    """The scores that are seen at once: the main one, one more of its metric, then one of each."""
    main = board.column(board.main)
    ids = varied(board.columns, main)
    kin = [column.id for column in board.columns if column.metric == main.metric]
    return list(dict.fromkeys([*kin[:2], *ids]))[:most]


def main_first(board: Board) -> Board:
    """The same board with the main score in front, then the other scores of its metric."""
    main = board.column(board.main)
    columns = sorted(board.columns, key=lambda c: (c != main, c.metric != main.metric))
    return replace(board, columns=tuple(columns))
