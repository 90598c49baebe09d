"""The main score of every method as a dot with its interval; ties are bracketed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from markupsafe import Markup

from depthgauge.analysis.boards.board import Board, Cell, Row
from depthgauge.report.charts.styles import Style, marker, style_for
from depthgauge.report.charts.svg import (
    Scale,
    chart,
    nice_ticks,
    path,
    room_for,
    shorten,
    tag,
    words,
)
from depthgauge.report.tables.formats import ARROWS
from depthgauge.report.tables.leaderboard import show_cell, show_interval, tie_groups

_WIDTH, _ROW, _TOP, _GAP = 760.0, 26.0, 10.0, 14.0
_LANE, _LANES = 4.0, 3


def forest_plot(board: Board, styles: Mapping[str, Style], name: str = "forest-chart") -> Markup:
    """Dot and interval of each method's main score, in the board's order, oracles below."""
    rows = [row for row in board.rows if board.main in row.cells]
    column = board.column(board.main)
    left = room_for([row.label for row in rows]) + 14
    texts = [_value_text(row.cells[board.main]) for row in rows]
    right = room_for(texts, 230) + 26
    places = _places(rows)
    bottom = (places[-1] if places else 0.0) + _ROW / 2 + 4
    x = _scale([row.cells[board.main] for row in rows], left, _WIDTH - right)
    arrow = ARROWS.get(column.better, "")
    unit = f" in {column.unit}" if column.unit else ""
    axis_title = f"{board.main}{unit} {arrow} {column.better} is better".replace(
        "zero is better", "nearer to zero is better"
    )
    parts = [*_grid(x, bottom)]
    for row, y, text in zip(rows, places, texts, strict=True):
        parts += _line(row, row.cells[board.main], style_for(styles, row.label), x, y, left)
        parts.append(words(text, _WIDTH - right + 22, y + 4, "number"))
    parts += _brackets(board, dict(zip([r.label for r in rows], places, strict=True)), right)
    parts.append(words(axis_title, left, bottom + 38, "axis-title"))
    about = "; ".join(f"{row.label} {text}" for row, text in zip(rows, texts, strict=True))
    return chart(
        name,
        f"{board.main} of every method",
        about,
        (_WIDTH, bottom + 46),
        *parts,
    )


def _places(rows: list[Row]) -> list[float]:
    """The height of each row, oracles a little apart."""
    places, y = [], _TOP + _ROW / 2
    for before, row in zip([None, *rows], rows, strict=False):
        y += _GAP if before is not None and row.oracle and not before.oracle else 0
        places.append(y)
        y += _ROW
    return places


def _value_text(cell: Cell) -> str:
    return f"{show_cell(cell)} {show_interval(cell)}".strip()


def _scale(cells: list[Cell], start: float, end: float) -> Scale:
    values = [
        value
        for cell in cells
        for value in (cell.value, cell.low, cell.high)
        if math.isfinite(value)
    ]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if 0 < low < 0.4 * high:
        low = 0.0
    pad = 0.03 * ((high - low) or abs(high) or 1.0)
    return Scale(low - pad * (low != 0), high + pad, start, end)


def _grid(x: Scale, bottom: float) -> list[Markup]:
    parts = []
    for tick in nice_ticks(x.low, x.high):
        parts.append(tag("path", d=path([(x(tick), _TOP), (x(tick), bottom)]), class_="grid"))
        parts.append(words(f"{tick:g}", x(tick), bottom + 16, "tick", "middle"))
    return parts


def _line(row: Row, cell: Cell, style: Style, x: Scale, y: float, left: float) -> list[Markup]:
    label = shorten(f"{row.label} \u2020" if row.oracle else row.label)
    parts = [words(label, left - 14, y + 4, "label", "end")]
    if math.isfinite(cell.low) and math.isfinite(cell.high):
        ends = path([(x(cell.low), y), (x(cell.high), y)])
        parts.append(tag("path", d=ends, class_=f"interval {style.class_}"))
    if math.isfinite(cell.value):
        parts.append(marker(x(cell.value), y, style, 4.5, hollow=row.oracle))
    return parts


def _brackets(board: Board, places: Mapping[str, float], right: float) -> list[Markup]:
    """One bracket for each group of methods that cannot be told apart, with a tooth at each.

    Groups may reach past each other, since a method that varies a lot is tied with ones far ahead;
    their brackets then stand side by side.
    """
    parts = []
    ends: list[float] = []
    """How far down each lane is taken."""
    for members in tie_groups(board, board.main):
        heights = sorted(places[label] for label in members if label in places)
        if len(heights) < 2:
            continue
        lane = next((k for k, end in enumerate(ends) if end < heights[0]), len(ends))
        ends[lane:] = [heights[-1], *ends[lane + 1 :]]
        x = _WIDTH - right + 5 + _LANE * min(lane, _LANES - 1)
        teeth = [path([(x, y), (x + 5, y)]) for y in heights]
        spine = path([(x + 5, heights[0]), (x + 5, heights[-1])])
        parts.append(tag("path", d=" ".join([spine, *teeth]), class_="bracket"))
    return parts
