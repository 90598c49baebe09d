"""A leaderboard as the cells of an HTML table, for reports and for sites."""

from __future__ import annotations

import functools
import itertools
import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from depthgauge._shorten import first_few
from depthgauge._tables import show_number
from depthgauge.analysis.boards.board import Board, Column, Row
from depthgauge.report.charts.styles import Style, style_for, swatch
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import clean, sortable
from depthgauge.report.tables.formats import ARROWS, Mark
from depthgauge.report.tables.leaderboard import (
    column_marks,
    show_cell,
    show_density,
    show_interval,
    tie_groups,
)

_MOST_TIED = 12
"""How many methods of a tie group are named."""
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
    score: str = ""
    """A stable name, for addresses and exports of a site; a report needs none."""


@dataclass(frozen=True, slots=True)
class CellLink:
    """Where the number of a cell leads."""

    href: str
    picture: str = ""
    """Shown beside the cell while the pointer is on it."""
    about: str = ""
    """What the picture shows."""


@dataclass(frozen=True, slots=True)
class RowExtras:
    """What a site knows of a method."""

    href: str = ""
    badges: tuple[str, ...] = ()
    """Words behind the name, such as `baseline`."""
    baseline: bool = False
    tags: str = ""
    """Further words that readers may look for."""
    texts: tuple[str, ...] = ()
    """Further columns."""
    cells: Mapping[str, CellLink] = field(default_factory=dict)
    """Links by score id."""


_PLAIN = RowExtras()


@dataclass(frozen=True, slots=True)
class Slot:
    """One cell of the body."""

    text: str
    value: str = ""
    """The value to sort by; empty sorts last."""
    kind: str = ""
    lines: tuple[str, ...] = ()
    """Small lines below."""
    link: CellLink | None = None


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
    extras: RowExtras = _PLAIN


@dataclass(frozen=True, slots=True)
class BoardView:
    """A table of methods."""

    caption: str
    order: str
    """The end of the caption that is about the order of the rows; may be empty."""
    groups: Sequence[tuple[str, int]]
    """Headings over neighbouring columns; empty if there are none."""
    heads: Sequence[Head]
    bodies: Sequence[tuple[str, Sequence[str], Sequence[Line]]]
    """Kind, title (or nothing), rows."""
    width: int
    """Columns, the names included."""


def board_html(
    board: Board,
    caption: str,
    *,
    kind: str = "whole",
    grouped: bool = True,
    styles: Mapping[str, Style] | None = None,
    order: str = "",
    texts: Sequence[str] = (),
    extras: Mapping[str, RowExtras] | None = None,
    show: Callable[[float], str] | None = None,
) -> Markup:
    """The table of a leaderboard.

    Args:
        board: What to show.
        caption: Above the table.
        kind: `first` for a table that leaves columns out on narrow windows.
        grouped: Whether neighbouring columns of one metric have one heading.
        styles: How methods are drawn in charts beside the table; by default there are none.
        order: The end of the caption that is only true of the given order of rows.
        texts: Headings of further columns, whose words are in `extras`.
        extras: Links, badges and further columns of each method, by label; with them, columns
            have stable names, too.
        show: How a single value is written; by default with three decimals or more.
    """
    made = _Maker(board, grouped, styles, tuple(texts), extras, show)
    return render("board_table.html.j2", table=made.view(caption, order), kind=kind)


@dataclass(frozen=True)
class _Maker:
    """Writes the lines of one board; what all lines need is found once."""

    board: Board
    grouped: bool
    styles: Mapping[str, Style] | None
    texts: tuple[str, ...]
    extras: Mapping[str, RowExtras] | None
    show: Callable[[float], str] | None

    def view(self, caption: str, order: str) -> BoardView:
        board = self.board
        lines = [self._line(row) for row in board.rows]
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
        named = self.extras is not None
        heads = [*_heads(board, self.grouped, named), *_text_heads(self.texts)]
        return BoardView(
            caption=caption,
            order=order,
            groups=_groups(board, len(self.texts)) if self.grouped else (),
            heads=heads,
            bodies=[(kind, [title] if title else [], body) for kind, title, body in bodies],
            width=len(heads) + 1,
        )

    @functools.cached_property
    def _letters(self) -> dict[str, str]:
        return _letters(self.board)

    @functools.cached_property
    def _marks(self) -> dict[str, dict[str, Mark]]:
        return {column.id: column_marks(self.board, column.id) for column in self.board.columns}

    def _line(self, row: Row) -> Line:
        cell, letters = row.cells.get(self.board.main), self._letters
        extras = (self.extras or {}).get(row.label, _PLAIN)
        slots = [
            self._slot(row, column, _ROOMS[min(place, 2)], extras)
            for place, column in enumerate(self.board.columns)
        ]
        slots += _extra_slots(row, self.board)
        slots += [Slot(text, kind="text") for text in extras.texts]
        others = [x for x in letters if letters[x] == letters.get(row.label)]
        why = _WHY_TIED.get(cell.why_tied, "") if cell is not None else ""
        return Line(
            label=row.label,
            swatch=Markup() if self.styles is None else swatch(style_for(self.styles, row.label)),
            rank=str(cell.rank) if cell is not None and cell.rank is not None else "",
            tie=letters.get(row.label, ""),
            tied=": ".join(filter(None, (f"tied are {_few(others)}", why))) if others else "",
            seeds=f"{row.seeds} seeds" if row.seeds > 1 else "",
            slots=tuple(slots),
            extras=extras,
        )

    def _slot(self, row: Row, column: Column, room: str, extras: RowExtras) -> Slot:
        cell = row.cells.get(column.id)
        if cell is None:
            return Slot("-", kind=room)
        mark = "" if row.oracle else self._marks[column.id].get(row.label, "")
        kinds = [mark, "main" if column.id == self.board.main else "", room]
        lines: Sequence[str] = (show_interval(cell), show_density(column, cell))
        plain = self.show is not None and math.isfinite(cell.value)
        return Slot(
            self.show(cell.value) if self.show is not None and plain else show_cell(cell),
            sortable(cell.value),
            " ".join(filter(None, kinds)),
            tuple(line for line in lines if line),
            extras.cells.get(column.id),
        )


def _groups(board: Board, texts: int) -> list[tuple[str, int]]:
    """Neighbouring columns of one metric under one heading."""
    groups = [
        (metric, len(list(members)))
        for metric, members in itertools.groupby(board.columns, key=lambda c: c.metric)
    ]
    extra = len(_extra_heads(board)) + texts
    return [*groups, ("other", extra)] if extra else groups


def _heads(board: Board, grouped: bool, named: bool) -> list[Head]:
    """One head for each column; if metrics have no heading of their own, they are here."""
    heads = []
    for place, column in enumerate(board.columns):
        unit = f"{column.unit} {ARROWS.get(column.better, '')}".strip()
        region = column.region or "whole"
        main = "main" if column.id == board.main else ""
        text = Markup.escape(region) if grouped else _breakable(column.metric)
        small = unit if grouped else f"{region}, {unit}"
        kind = f"{main} {_ROOMS[min(place, 2)]}".strip()
        heads.append(Head(text, small, column.better, kind, column.id if named else ""))
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


def _text_heads(texts: Sequence[str]) -> list[Head]:
    return [Head(Markup.escape(text), "", "text", "text", text) for text in texts]


def _extra_slots(row: Row, board: Board) -> list[Slot]:
    cell = row.cells.get(board.main)
    slots = []
    for head in _extra_heads(board):
        value = {
            "mean rank": cell.mean_rank if cell is not None else math.nan,
            "time": row.time_s,
            "memory": row.peak_memory_mb,
            "failed": float(len(row.failed)),
        }[str(head.text)]
        text = f"{value:.0f}" if head.text in ("memory", "failed") else show_number(value)
        slots.append(Slot("-" if math.isnan(value) else text, sortable(value), head.kind))
    return slots


def _few(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _MOST_TIED else first_few(labels, _MOST_TIED)


def _letters(board: Board) -> dict[str, str]:
    groups = tie_groups(board, board.main)
    names = (
        "".join(pair).strip()
        for pair in itertools.product(" " + string.ascii_uppercase, string.ascii_uppercase)
    )
    return {label: name for members, name in zip(groups, names, strict=False) for label in members}
