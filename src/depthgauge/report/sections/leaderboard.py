"""The leaderboard as HTML: the content of every cell, as the template needs it."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.board import Board, Column, Row
from depthgauge.report.charts.styles import Style, style_for, swatch
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS, to_csv, to_latex, to_markdown
from depthgauge.report.tables.leaderboard import (
    board_notes,
    column_marks,
    leaderboard_table,
    show_cell,
    show_density,
    show_interval,
    tie_groups,
)

_WHY_TIED = {
    "interval": "their difference may be chance",
    "practical": "their difference is too small to matter",
}


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one column."""

    text: str
    unit: str
    sort: str
    """`lower`, `higher`, `zero` or `text`."""
    main: str = ""
    """`main` for the score that sorts the rows."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One cell of the body."""

    text: str
    value: str = ""
    """The value to sort by; empty sorts last."""
    kind: str = ""
    lines: tuple[str, ...] = ()
    """Small lines below."""


@dataclass(frozen=True, slots=True)
class Line:
    """One method."""

    label: str
    swatch: Markup
    rank: str
    tie: str
    """Letter of its tie group."""
    tied: str
    """What the letter means."""
    seeds: str
    slots: tuple[Slot, ...]


SPEC = SectionSpec("leaderboard", "Leaderboard", "Leaderboard", order=20)


def body(page: Page) -> Markup:
    """The table, its notes, and copies of the table as Markdown, LaTeX and CSV."""
    board = main_first(replace(page.board, columns=page.columns))
    heads, groups = _heads(board), _groups(board)
    lines = [_line(row, board, page.styles) for row in board.rows]
    ranked = [line for line, row in zip(lines, board.rows, strict=True) if not row.oracle]
    oracles = [line for line, row in zip(lines, board.rows, strict=True) if row.oracle]
    bodies = [("methods", "", ranked)]
    bodies += [("oracles", "Oracles, not ranked", oracles)] if oracles else []
    source = f"{page.benchmark} version {page.version}, protocol {page.protocol_hash}"
    table = leaderboard_table(board, title=page.title, source=source)
    whole = leaderboard_table(main_first(page.board), title=page.title, source=source)
    copies = {"Markdown": to_markdown(table), "LaTeX": to_latex(table), "CSV": to_csv(whole)}
    return render(
        "leaderboard.html.j2",
        groups=groups,
        heads=heads,
        bodies=[(kind, [title] if title else [], body) for kind, title, body in bodies],
        width=len(heads) + 1,
        caption=f"{'Scores' if _left_out(page) else 'Every score'} of every method, "
        f"best {board.main} first",
        notes=[*_notes(board), *_left_out(page)],
        copies=[(name, Markup.escape(text)) for name, text in copies.items()],
    )


def main_first(board: Board) -> Board:
    """The same board with the main score in front, then the other scores of its metric."""
    main = board.column(board.main)
    columns = sorted(board.columns, key=lambda c: (c != main, c.metric != main.metric))
    return replace(board, columns=tuple(columns))


def _notes(board: Board) -> list[str]:
    notes = [n for n in board_notes(board, board.columns) if not n.startswith("Cannot be told")]
    if tie_groups(board, board.main):
        notes.insert(0, f"Methods with the same letter cannot be told apart by {board.main}.")
    return ["Bold: best, underlined: second best.", *notes]


def _left_out(page: Page) -> list[str]:
    """A note on long families of scores, which are shown elsewhere."""
    absent = {i for each in page.degradations if not any(each.filled) for i in each.score_ids}
    here = absent.union(column.id for column in page.columns)
    count = sum(column.id not in here for column in page.board.columns)
    if not count:
        return []
    return [f"{count} scores of numbered regions are drawn as curves below; the CSV has them too."]


def _groups(board: Board) -> list[tuple[str, int]]:
    """Neighbouring columns of one metric under one heading."""
    groups = [
        (metric, len(list(members)))
        for metric, members in itertools.groupby(board.columns, key=lambda c: c.metric)
    ]
    extra = len(_extra_heads(board))
    return [*groups, ("other", extra)] if extra else groups


def _heads(board: Board) -> list[Head]:
    heads = []
    for column in board.columns:
        unit = f"{column.unit} {ARROWS.get(column.better, '')}".strip()
        main = "main" if column.id == board.main else ""
        heads.append(Head(column.region or "whole", unit, column.better, main))
    return [*heads, *_extra_heads(board)]


def _extra_heads(board: Board) -> list[Head]:
    heads = []
    mains = [row.cells[board.main] for row in board.rows if board.main in row.cells]
    if any(not math.isnan(cell.mean_rank) for cell in mains):
        heads.append(Head("mean rank", board.main, "lower"))
    if any(not math.isnan(row.time_s) for row in board.rows):
        heads.append(Head("time", "s, median", "lower"))
    if any(not math.isnan(row.peak_memory_mb) for row in board.rows):
        heads.append(Head("memory", "MB, peak", "lower"))
    if any(row.failed for row in board.rows):
        heads.append(Head("failed", "samples", "lower"))
    return heads


def _line(row: Row, board: Board, styles: Mapping[str, Style]) -> Line:
    cell = row.cells.get(board.main)
    letters = _letters(board)
    slots = [_slot(row, column, board) for column in board.columns]
    for head in _extra_heads(board):
        value = {
            "mean rank": cell.mean_rank if cell is not None else math.nan,
            "time": row.time_s,
            "memory": row.peak_memory_mb,
            "failed": float(len(row.failed)),
        }[head.text]
        text = f"{value:.0f}" if head.text in ("memory", "failed") else show_number(value)
        slots.append(Slot("-" if math.isnan(value) else text, sortable(value)))
    others = [label for label in letters if letters[label] == letters.get(row.label)]
    why = _WHY_TIED.get(cell.why_tied, "") if cell is not None else ""
    return Line(
        label=row.label,
        swatch=swatch(style_for(styles, row.label)),
        rank=str(cell.rank) if cell is not None and cell.rank is not None else "",
        tie=letters.get(row.label, ""),
        tied=": ".join(filter(None, (f"tied are {', '.join(others)}", why))) if others else "",
        seeds=f"{row.seeds} seeds" if row.seeds > 1 else "",
        slots=tuple(slots),
    )


def _letters(board: Board) -> dict[str, str]:
    groups = tie_groups(board, board.main)
    names = (
        "".join(pair).strip()
        for pair in itertools.product(" " + string.ascii_uppercase, string.ascii_uppercase)
    )
    return {label: name for members, name in zip(groups, names, strict=False) for label in members}


def _slot(row: Row, column: Column, board: Board) -> Slot:
    cell = row.cells.get(column.id)
    if cell is None:
        return Slot("-")
    mark = "" if row.oracle else column_marks(board, column.id).get(row.label, "")
    kinds = [mark, "main" if column.id == board.main else ""]
    lines: Sequence[str] = (show_interval(cell), show_density(column, cell))
    return Slot(
        show_cell(cell),
        sortable(cell.value),
        " ".join(filter(None, kinds)),
        tuple(line for line in lines if line),
    )
