"""The leaderboard as HTML: the content of every cell, as the template needs it."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.boards.board import Board, Column, Row
from depthgauge.report.charts.radar import varied
from depthgauge.report.charts.styles import Style, style_for, swatch
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import clean, sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS, to_csv, to_latex, to_markdown
from depthgauge.report.tables.leaderboard import (
    column_marks,
    leaderboard_table,
    show_cell,
    show_density,
    show_interval,
    tie_groups,
)
from depthgauge.report.words.reading import left_out

_WHY_TIED = {
    "interval": "their difference may be chance",
    "practical": "their difference is too small to matter",
}


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one column."""

    text: Markup
    unit: str
    sort: str
    """`lower`, `higher`, `zero` or `text`."""
    kind: str = ""
    """`main` for the score that sorts the rows; `medium` and `wide` for columns that narrower
    windows hide in the first table, `rest` for those that it never has."""


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


@dataclass(frozen=True, slots=True)
class BoardView:
    """A table of methods."""

    caption: str
    groups: Sequence[tuple[str, int]]
    """Headings over neighbouring columns; empty if there are none."""
    heads: Sequence[Head]
    bodies: Sequence[tuple[str, Sequence[str], Sequence[Line]]]
    """Kind, title (or nothing), rows."""
    width: int
    """Columns, the names included."""


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
        first=_table(first, page.styles, f"Best {board.main} first", grouped=False),
        whole=_table(board, page.styles, f"{every} of every method, best {board.main} first"),
        count=f"{count} score{'s' if count > 1 else ''}",
        copies=[(name, Markup.escape(text)) for name, text in copies.items()],
    )


def first_scores(board: Board, most: int = FIRST_SCORES) -> list[str]:
    """The scores that are seen at once: the main one, one more of its metric, then one of each."""
    main = board.column(board.main)
    ids = varied(board.columns, main)
    kin = [column.id for column in board.columns if column.metric == main.metric]
    return list(dict.fromkeys([*kin[:2], *ids]))[:most]


def _table(
    board: Board, styles: Mapping[str, Style], caption: str, *, grouped: bool = True
) -> BoardView:
    lines = [_line(row, board, styles) for row in board.rows]
    ranked = [line for line, row in zip(lines, board.rows, strict=True) if not row.oracle]
    oracles = [line for line, row in zip(lines, board.rows, strict=True) if row.oracle]
    bodies = [("methods", "", ranked)]
    if board.tiers:
        tiers = {row.label: row.tier for row in board.rows}
        bodies = [
            ("methods", f"Tier {name}", [line for line in ranked if tiers[line.label] == name])
            for name in board.tiers
        ]
    bodies += [("oracles", "Oracles, not ranked", oracles)] if oracles else []
    heads = _heads(board, grouped)
    return BoardView(
        caption=caption,
        groups=_groups(board) if grouped else (),
        heads=heads,
        bodies=[(kind, [title] if title else [], body) for kind, title, body in bodies],
        width=len(heads) + 1,
    )


def main_first(board: Board) -> Board:
    """The same board with the main score in front, then the other scores of its metric."""
    main = board.column(board.main)
    columns = sorted(board.columns, key=lambda c: (c != main, c.metric != main.metric))
    return replace(board, columns=tuple(columns))


def _groups(board: Board) -> list[tuple[str, int]]:
    """Neighbouring columns of one metric under one heading."""
    groups = [
        (metric, len(list(members)))
        for metric, members in itertools.groupby(board.columns, key=lambda c: c.metric)
    ]
    extra = len(_extra_heads(board))
    return [*groups, ("other", extra)] if extra else groups


def _heads(board: Board, grouped: bool) -> list[Head]:
    """One head for each column; if metrics have no heading of their own, they are here."""
    heads = []
    for place, column in enumerate(board.columns):
        unit = f"{column.unit} {ARROWS.get(column.better, '')}".strip()
        region = column.region or "whole"
        main = "main" if column.id == board.main else ""
        text = Markup.escape(region) if grouped else _breakable(column.metric)
        small = unit if grouped else f"{region}, {unit}"
        heads.append(Head(text, small, column.better, f"{main} {_ROOMS[min(place, 2)]}".strip()))
    return [*heads, *_extra_heads(board)]


_ROOMS = ("", "medium", "wide")
"""On which screens the first columns are: on all, not on phones, on wide ones only."""


def _breakable(name: str) -> Markup:
    """A name that may continue on the next line after each underscore."""
    return Markup("_<wbr>").join(clean(part) for part in name.split("_"))


def _extra_heads(board: Board) -> list[Head]:
    heads = []
    mains = [row.cells[board.main] for row in board.rows if board.main in row.cells]
    if any(not math.isnan(cell.mean_rank) for cell in mains):
        heads.append(Head(Markup("mean rank"), board.main, "lower", "rest"))
    if any(not math.isnan(row.time_s) for row in board.rows):
        heads.append(Head(Markup("time"), "s, median", "lower", "medium"))
    if any(not math.isnan(row.peak_memory_mb) for row in board.rows):
        heads.append(Head(Markup("memory"), "MB, peak", "lower", "wide"))
    if any(row.failed for row in board.rows):
        heads.append(Head(Markup("failed"), "samples", "lower", "medium"))
    return heads


def _line(row: Row, board: Board, styles: Mapping[str, Style]) -> Line:
    cell = row.cells.get(board.main)
    letters = _letters(board)
    slots = [
        _slot(row, column, board, _ROOMS[min(place, 2)])
        for place, column in enumerate(board.columns)
    ]
    for head in _extra_heads(board):
        value = {
            "mean rank": cell.mean_rank if cell is not None else math.nan,
            "time": row.time_s,
            "memory": row.peak_memory_mb,
            "failed": float(len(row.failed)),
        }[str(head.text)]
        text = f"{value:.0f}" if head.text in ("memory", "failed") else show_number(value)
        slots.append(Slot("-" if math.isnan(value) else text, sortable(value), head.kind))
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


def _slot(row: Row, column: Column, board: Board, room: str) -> Slot:
    cell = row.cells.get(column.id)
    if cell is None:
        return Slot("-", kind=room)
    mark = "" if row.oracle else column_marks(board, column.id).get(row.label, "")
    kinds = [mark, "main" if column.id == board.main else "", room]
    lines: Sequence[str] = (show_interval(cell), show_density(column, cell))
    return Slot(
        show_cell(cell),
        sortable(cell.value),
        " ".join(filter(None, kinds)),
        tuple(line for line in lines if line),
    )
