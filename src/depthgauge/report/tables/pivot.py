"""Scores of metrics by regions, as in the tables of papers: rows are methods or regions."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from depthgauge._registry import unknown
from depthgauge.analysis.boards.board import Board, Column, Row
from depthgauge.report.tables import paper_names
from depthgauge.report.tables.formats import Mark, Table, TableCell, TableColumn, TableRow
from depthgauge.report.tables.leaderboard import (
    ORACLE_NOTE,
    PLAIN,
    TableStyle,
    column_marks,
    show_cell,
    show_density,
)
from depthgauge.report.tables.paper_names import metric_name

Rows = Literal["methods", "regions"]

WHOLE = "whole"
"""The heading for scores without a region."""
INPUT_HEADING = "input res."


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table, and which of its columns share a heading."""

    table: Table
    groups: tuple[tuple[str, int], ...] = ()
    """Headings and how many columns each spans, the first column first; empty: there are none."""
    method: str = ""
    """The method, if the table has the scores of only one."""
    resolution: str = ""
    """The size of the images as the method sees them."""
    in_words: bool = False
    """Whether headings without cells over several columns are group and heading, not score ids."""


def pivots(
    board: Board,
    rows: Rows,
    *,
    columns: Sequence[str] | None = None,
    regions: Sequence[str] | None = None,
    source: str = "",
    style: TableStyle = PLAIN,
) -> list[Pivot]:
    """Metrics and regions of a board crossed.

    - `methods`: one table. Rows are methods, with the size at which they look at their pictures;
      columns are metrics, in one group for each region.
    - `regions`: a table for each method. Rows are regions, columns are metrics. What is marked is
      best or second among the *methods* in that score.

    Args:
        board: All scores.
        rows: What the rows are.
        columns: Score ids to show; None for all of the board.
        regions: Regions to show, in this order; None for all.
        source: Benchmark, version and protocol hash, for a separate line.
        style: Digits and caption.

    Raises:
        UnknownName: The board has no such score or region.
    """
    shown = _chosen(board, columns, regions)
    if rows == "methods":
        found = [_by_method(board, shown, source, style)]
    else:
        found = [_by_region(board, row, shown, source, style) for row in board.rows]
    return [replace(each, table=replace(each.table, caption=style.caption)) for each in found]


def _chosen(board: Board, ids: Sequence[str] | None, regions: Sequence[str] | None) -> list[Column]:
    """The scores, those of one region together."""
    found = [board.column(name) for name in ids] if ids is not None else list(board.columns)
    known = list(dict.fromkeys(region_name(column) for column in found))
    for name in regions or ():
        if name not in known:
            raise unknown("region", name, known)
    order = list(dict.fromkeys(regions or known))
    kept = [column for column in found if region_name(column) in order]
    return sorted(kept, key=lambda column: order.index(region_name(column)))


def region_name(column: Column) -> str:
    """The region of a score as a heading."""
    return column.region or WHOLE


# --- rows are methods ---------------------------------------------------------------------------


def _by_method(board: Board, shown: Sequence[Column], source: str, style: TableStyle) -> Pivot:
    groups = [
        (name, [(column, _head(column, (column.id,))) for column in members])
        for name, members in itertools.groupby(shown, key=region_name)
    ]
    title, name = f"Methods by {board.main}", "methods-by-region"
    return grouped_pivot(board, groups, title=title, name=name, source=source, style=style)


def grouped_pivot(
    board: Board,
    groups: Sequence[tuple[str, Sequence[tuple[Column, TableColumn]]]],
    *,
    title: str,
    name: str,
    source: str = "",
    style: TableStyle = PLAIN,
) -> Pivot:
    """A row for each method, scores in groups.

    Args:
        board: All scores.
        groups: Headings, and the scores below each with how they are headed.
        title: Above the table.
        name: For a label that refers to it.
        source: Benchmark, version and protocol hash, for a separate line.
        style: Digits and caption.
    """
    shown = [column for _, members in groups for column, _ in members]
    resolutions = {row.label: input_resolution(row.options) for row in board.rows}
    has_inputs = any(resolutions.values())
    heads = [TableColumn("method", align="left")]
    heads += [TableColumn(INPUT_HEADING, align="left")] if has_inputs else []
    rows = []
    for row in board.rows:
        first = [TableCell(_label(row), fields=(row.label,))]
        first += [TableCell(resolutions[row.label])] if has_inputs else []
        cells = (_cell(board, row, column, style) for column in shown)
        rows.append(TableRow((*first, *cells), apart=row.oracle))
    table = Table(
        title=title,
        columns=(*heads, *(head for _, members in groups for _, head in members)),
        rows=tuple(rows),
        notes=tuple(_notes(board, board.rows, shown, has_inputs)),
        name=name,
        source=source,
    )
    spans = [("", len(heads)), *((heading, len(members)) for heading, members in groups)]
    return Pivot(table, tuple(spans))


# --- rows are regions ---------------------------------------------------------------------------


def _by_region(
    board: Board, row: Row, shown: Sequence[Column], source: str, style: TableStyle
) -> Pivot:
    metrics = list(dict.fromkeys(column.metric for column in shown))
    heads = {metric: next(c for c in shown if c.metric == metric) for metric in metrics}
    by_place = {(region_name(column), column.metric): column for column in shown}
    rows = []
    for region in dict.fromkeys(region_name(column) for column in shown):
        columns = [by_place.get((region, metric)) for metric in metrics]
        cells = [_cell(board, row, column, style) for column in columns]
        label = TableCell(region, latex=paper_names.region_name(region))
        rows.append(TableRow((label, *cells)))
    resolution = input_resolution(row.options)
    notes = _notes(board, [row], shown, bool(resolution))
    table = Table(
        title=f"{_label(row)}, input {resolution}" if resolution else _label(row),
        columns=(
            TableColumn("region", align="left"),
            *(_head(heads[metric], (metric,)) for metric in metrics),
        ),
        rows=tuple(rows),
        notes=tuple([*notes, *_mark_note(rows)]),
        name=f"regions-{row.label}",
        source=source,
    )
    return Pivot(table, method=row.label, resolution=resolution)


def _mark_note(rows: Sequence[TableRow]) -> list[str]:
    if not any(cell.mark in ("best", "second") for row in rows for cell in row.cells):
        return []
    return ["Best and second best are among all methods."]


# --- both ---------------------------------------------------------------------------------------


def _label(row: Row) -> str:
    return f"{row.label} \u2020" if row.oracle else row.label


def _head(column: Column, fields: tuple[str, ...]) -> TableColumn:
    name = metric_name(column)
    return TableColumn(column.metric, column.unit, column.better, fields=fields, latex=name)


def _cell(board: Board, row: Row, column: Column | None, style: TableStyle) -> TableCell:
    cell = row.cells.get(column.id) if column is not None else None
    if cell is None or column is None:
        return TableCell("-", fields=(None,))
    return TableCell(
        show_cell(cell, style.digits),
        detail=show_density(column, cell),
        mark=_mark(board, row, column),
        fields=(cell.value,),
    )


def _mark(board: Board, row: Row, column: Column) -> Mark:
    """As in the leaderboard; a single method is not marked."""
    if row.oracle or sum(not other.oracle for other in board.rows) < 2:
        return ""
    return column_marks(board, column.id).get(row.label, "")


def _notes(
    board: Board, rows: Sequence[Row], shown: Sequence[Column], has_inputs: bool
) -> list[str]:
    cells = [(c, row.cells[c.id]) for row in rows for c in shown if c.id in row.cells]
    notes = [NOTE] if has_inputs else []
    if any(not math.isnan(cell.deviation) for _, cell in cells):
        notes.append("After \u00b1: standard deviation over seeds.")
    if any(show_density(column, cell) for column, cell in cells):
        notes.append("at n %: only that share of the pixels has an estimate.")
    if any(row.oracle for row in rows):
        notes.append(ORACLE_NOTE)
    return notes


FULL, HALF, QUARTER = "F", "H", "Q"
_SCALES = {1.0: FULL, 0.5: HALF, 0.25: QUARTER}
_WORDS = {"full": FULL, "half": HALF, "quarter": QUARTER}
NOTE = (
    "F, H, Q: full, half and quarter of the pictures' width and height; "
    "of two pictures of different size, of the smaller one by default."
)


def input_resolution(options: Mapping[str, Any]) -> str:
    """`F`, `H` or `Q`, another factor, a size in px, or nothing if no option says it.

    `input_size` comes before `input_scale`. For pictures of two sizes (`match_size`), a scale is
    relative to the smaller one, or to the larger one, which is then stated.

    >>> input_resolution({"input_scale": 0.25}), input_resolution({"input_size": "320x192"})
    ('Q', '320\u00d7192')
    >>> input_resolution({"input_scale": 0.5, "match_size": "larger"}), input_resolution({})
    ('H of larger', '')
    """
    if size := options.get("input_size"):
        return _WORDS.get(str(size), re.sub(r"(?<=\d)x(?=\d)", "\u00d7", str(size)))
    scale = options.get("input_scale")
    if not isinstance(scale, int | float) or isinstance(scale, bool):
        return ""
    text = _SCALES.get(float(scale), f"{scale:g}")
    return f"{text} of larger" if options.get("match_size") == "larger" else text
