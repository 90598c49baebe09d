"""A board and the scores of samples as tables, with best, second and incomplete values marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from depthgauge._shorten import first_few
from depthgauge._tables import show_number, show_share
from depthgauge.analysis.boards.board import Board, Cell, Column, Row
from depthgauge.analysis.bootstrap.pooling import MIN_UNITS
from depthgauge.analysis.seeds import SampleValues
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.errors import Unavailable
from depthgauge.metrics import METRICS
from depthgauge.report.tables.formats import Mark, Table, TableCell, TableColumn, TableRow
from depthgauge.report.tables.paper_names import score_names

ORACLE_NOTE = "Oracles (\u2020) need the truth or the other estimates; they are not ranked."
_DENSE = 0.9995


@dataclass(frozen=True, slots=True)
class TableStyle:
    """How numbers are shown to people; programs get all digits in any case."""

    digits: int | None = None
    """Decimals; by default three, and more for small numbers."""
    intervals: bool = True
    """Whether intervals stand beside values."""
    caption: str = ""
    """In LaTeX; by default one line that says what is sorted by what."""


PLAIN = TableStyle()


def leaderboard_table(
    board: Board,
    columns: Sequence[str] | None = None,
    *,
    title: str = "",
    source: str = "",
    style: TableStyle = PLAIN,
) -> Table:
    """All methods and the chosen scores, best first.

    Args:
        board: What to show.
        columns: Score ids in the desired order; by default all of the board.
        title: Above the table.
        source: Benchmark, version and protocol hash, for a separate line.
        style: Digits, intervals and caption.
    """
    shown = [board.column(name) for name in columns] if columns is not None else board.columns
    marks = {column.id: column_marks(board, column.id) for column in shown}
    failing = any(row.failed for row in board.rows)
    return Table(
        title=title or f"Methods by {board.main}",
        columns=(
            TableColumn("method", align="left"),
            *([TableColumn("tier", align="left")] if board.tiers else []),
            *(
                replace(_column(board, column), latex=name)
                for column, name in zip(shown, score_names(shown), strict=True)
            ),
            *([TableColumn("failed")] if failing else []),
        ),
        rows=tuple(_row(row, board, shown, marks, failing, style) for row in board.rows),
        notes=tuple(board_notes(board, shown)),
        name=f"leaderboard-{board.main}",
        source=source,
        caption=style.caption,
    )


def sample_table(
    values: SampleValues,
    column: Column,
    *,
    samples: Sequence[str] | None = None,
    source: str = "",
    style: TableStyle = PLAIN,
) -> Table:
    """One score of every sample and method; the best of each sample is marked.

    Args:
        values: By label, sample and score id; NaN or absent if there is none.
        column: Which score.
        samples: In this order; by default all that occur.
        source: Benchmark, version and protocol hash, for a separate line.
        style: Digits and caption.

    Raises:
        Unavailable: Only the whole dataset has this score.
    """
    if column.level == "dataset":
        raise Unavailable(
            f"{column.id} has a value only over the whole dataset, none of single samples; "
            "choose another score."
        )
    names = list(samples) if samples is not None else sample_names(values)
    rows = []
    for sample in names:
        found = [values[label].get(sample, {}).get(column.id, math.nan) for label in values]
        marks = value_marks(found, column.better)
        cells = [
            TableCell(show_number(value, style.digits), mark=mark, fields=(value,))
            for value, mark in zip(found, marks, strict=True)
        ]
        rows.append(TableRow((TableCell(sample), *cells)))
    heads = [TableColumn(label, column.unit, column.better) for label in values]
    return Table(
        title=f"{column.id} of every sample",
        columns=(TableColumn("sample", align="left"), *heads),
        rows=tuple(rows),
        name=f"samples-{column.id}",
        source=source,
        caption=style.caption,
    )


def sample_names(values: SampleValues) -> list[str]:
    """All samples, in order of their first occurrence."""
    return list(dict.fromkeys(sample for found in values.values() for sample in found))


def column_marks(board: Board, score_id: str) -> dict[str, Mark]:
    """Best (all of rank 1) and second (the next rank) of one column, by label; no oracles."""
    cells = {row.label: row.cells[score_id] for row in board.rows if score_id in row.cells}
    ranked = {
        row.label: cells[row.label].rank
        for row in board.rows
        if not row.oracle and row.label in cells and not math.isnan(cells[row.label].value)
    }
    ranks = sorted({rank for rank in ranked.values() if rank is not None})
    marks: dict[str, Mark] = {}
    for label, cell in cells.items():
        if is_incomplete(cell):
            marks[label] = "incomplete"
        elif ranks[:1] == [1] and ranked.get(label) is not None:
            marks[label] = _mark(ranks.index(ranked[label]))  # type: ignore[arg-type]  # not None
    return marks


def value_marks(values: Sequence[float], better: str) -> list[Mark]:
    """Best and second of plain values; equal values share a mark.

    >>> value_marks([2.0, 1.0, float("nan"), 1.0, 3.0], "lower")
    ['second', 'best', '', 'best', '']
    """
    keys = [rank_key(value, better) for value in values]
    order = sorted({key for key, value in zip(keys, values, strict=True) if value == value})
    return [
        _mark(order.index(key)) if value == value else ""
        for key, value in zip(keys, values, strict=True)
    ]


def _mark(place: int) -> Mark:
    return "best" if place == 0 else "second" if place == 1 else ""


def is_incomplete(cell: Cell) -> bool:
    """Whether the value is missing because estimates are."""
    return math.isnan(cell.value) and cell.used < cell.all


def show_cell(cell: Cell, digits: int | None = None) -> str:
    """The value, with its deviation over seeds, or why there is none."""
    if is_incomplete(cell):
        return f"incomplete {cell.used}/{cell.all}"
    if math.isnan(cell.deviation) or math.isnan(cell.value):
        return show_number(cell.value, digits)
    return f"{show_number(cell.value, digits)} \u00b1 {show_number(cell.deviation, digits)}"


def show_interval(cell: Cell, digits: int | None = None) -> str:
    """The interval, empty if there is none."""
    if math.isnan(cell.low) or math.isnan(cell.high):
        return ""
    return f"[{show_number(cell.low, digits)}, {show_number(cell.high, digits)}]"


def show_density(column: Column, cell: Cell) -> str:
    """The density beside a metric without a worst value, if estimates are missing; else empty."""
    if not is_unbounded(column) or math.isnan(cell.density) or cell.density >= _DENSE:
        return ""
    return f"at {show_share(cell.density)}"


def is_unbounded(column: Column) -> bool:
    """Whether a missing pixel cannot be given a worst value.

    What only a whole dataset has is bounded; a twin's own ids go by their unit.
    """
    if column.level == "dataset":
        return False
    name = column.name or column.metric.partition(":")[0]
    return math.isinf(METRICS[name].worst) if name in METRICS else column.unit != "%"


def tie_groups(board: Board, score_id: str) -> list[list[str]]:
    """Methods that cannot be told apart by that score, if there is more than one."""
    groups: dict[int, list[str]] = {}
    for row in board.rows:
        group = row.cells[score_id].group if score_id in row.cells else None
        if group is not None and not row.oracle:
            groups.setdefault(group, []).append(row.label)
    return [members for _, members in sorted(groups.items()) if len(members) > 1]


def board_notes(board: Board, shown: Sequence[Column]) -> list[str]:
    """What a reader of the table must know."""
    notes = list(board.notes)
    cells = [(c, row.cells[c.id]) for row in board.rows for c in shown if c.id in row.cells]
    if few := [column.id for column in shown if column.id in board.too_few]:
        notes.append(
            f"Fewer than {MIN_UNITS} samples have {first_few(few, 5)}: no intervals there."
        )
    if any(not math.isnan(cell.deviation) for _, cell in cells):
        notes.append("After \u00b1: standard deviation over seeds.")
    if any(show_density(column, cell) for column, cell in cells):
        notes.append("at n %: only that share of the pixels has an estimate.")
    notes += [
        f"Cannot be told apart by {board.main}: {', '.join(members)}."
        for members in tie_groups(board, board.main)
    ]
    if any(row.oracle for row in board.rows):
        notes.append(ORACLE_NOTE)
    return notes


def _column(board: Board, column: Column) -> TableColumn:
    """The head of a score; in CSV only with those fields that any method has."""
    cells = [row.cells[column.id] for row in board.rows if column.id in row.cells]
    extra = [name for name in _EXTRA if any(_field(cell, name) is not None for cell in cells)]
    fields = (column.id, *(f"{column.id} {name}" for name in extra))
    return TableColumn(column.id, column.unit, column.better, fields=fields)


_EXTRA = ("low", "high", "deviation", "density", "rank", "group")


def _field(cell: Cell, name: str) -> float | None:
    value: float | None = getattr(cell, name)
    return None if value is None or math.isnan(value) else value


def _row(
    row: Row,
    board: Board,
    shown: Sequence[Column],
    marks: Mapping[str, Mapping[str, Mark]],
    failing: bool,
    style: TableStyle,
) -> TableRow:
    label = f"{row.label} \u2020" if row.oracle else row.label
    cells = [TableCell(label, fields=(row.label,))]
    cells += [TableCell(row.tier or "-")] if board.tiers else []
    for column in shown:
        head = _column(board, column)
        mark = "" if row.oracle else marks[column.id].get(row.label, "")
        cells.append(_cell(row.cells.get(column.id), column, head, mark, style))
    if failing:
        cells.append(TableCell(str(len(row.failed)), fields=(len(row.failed),)))
    return TableRow(tuple(cells), apart=row.oracle)


def _cell(
    cell: Cell | None, column: Column, head: TableColumn, mark: Mark, style: TableStyle
) -> TableCell:
    if cell is None:
        return TableCell("-", fields=(None,) * len(head.fields))
    names = [name.removeprefix(f"{column.id} ") for name in head.fields[1:]]
    interval = show_interval(cell, style.digits) if style.intervals else ""
    details = (interval, show_density(column, cell))
    return TableCell(
        show_cell(cell, style.digits),
        detail=" ".join(filter(None, details)),
        mark=mark,
        fields=(cell.value, *(_field(cell, name) for name in names)),
    )
