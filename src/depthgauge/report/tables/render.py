"""Whole tables of a run as text, Markdown, CSV or LaTeX: for a terminal, a paper or a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.degradation import degradations, table_columns
from depthgauge.analysis.seeds import values_of
from depthgauge.engine.store.record import Run
from depthgauge.report.tables import formats
from depthgauge.report.tables.leaderboard import PLAIN, TableStyle, leaderboard_table, sample_table
from depthgauge.report.tables.pivot import Rows, pivots
from depthgauge.report.tables.pivot_formats import Format, render_pivots
from depthgauge.report.words.protocol import source_line

FORMATS: dict[str, Callable[[formats.Table], str]] = {
    "text": formats.to_text,
    "markdown": formats.to_markdown,
    "csv": formats.to_csv,
    "latex": formats.to_latex,
}


def leaderboard_text(
    run: Run,
    board: Board,
    form: Format,
    columns: Sequence[str] | None = None,
    style: TableStyle = PLAIN,
) -> str:
    """The leaderboard.

    Args:
        run: The run of the table.
        board: What is shown.
        form: The format.
        columns: Ids of the scores; by default all in CSV, elsewhere those that a table has room
            for.
        style: Digits, intervals and caption.
    """
    shown = columns or (None if form == "csv" else roomy_columns(run, board))
    source = source_line(run.protocol)
    table = leaderboard_table(board, shown, source=source, style=style)
    if form == "latex":
        name = run.protocol.title or run.protocol.id
        table = replace(table, title=f"{name}, {len(run.samples)} samples")
    return FORMATS[form](table)


def samples_text(
    run: Run,
    board: Board,
    form: Format,
    column: str | None = None,
    style: TableStyle = PLAIN,
) -> str:
    """One score of every sample, the main score by default."""
    score = board.column(column or board.main)
    source = source_line(run.protocol)
    table = sample_table(values_of(run), score, samples=run.samples, source=source, style=style)
    if board.tiers:  # whose methods are not ranked together
        table = replace(table, rows=tuple(_unmarked(row) for row in table.rows))
    return FORMATS[form](table)


def _unmarked(row: formats.TableRow) -> formats.TableRow:
    return replace(row, cells=tuple(replace(cell, mark="") for cell in row.cells))


def pivot_text(
    run: Run,
    board: Board,
    form: Format,
    rows: Rows,
    *,
    columns: Sequence[str] | None = None,
    regions: Sequence[str] | None = None,
    style: TableStyle = PLAIN,
) -> str:
    """Metrics and regions crossed; a requested region is shown even if it is a bin."""
    every = form == "csv" or regions
    shown = columns or (None if every else roomy_columns(run, board))
    source = source_line(run.protocol)
    found = pivots(board, rows, columns=shown, regions=regions or None, source=source, style=style)
    return render_pivots(found, form)


def roomy_columns(run: Run, board: Board) -> list[str]:
    """The scores that a table has room for: those of numbered bins are curves."""
    return table_columns(board, degradations(board, run.protocol))
