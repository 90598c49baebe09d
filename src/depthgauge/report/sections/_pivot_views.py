"""Tables with headings over groups of columns, as the page shows them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.report.sanitize import sortable
from depthgauge.report.tables.formats import ARROWS, TableCell, TableColumn
from depthgauge.report.tables.pivot import Pivot


@dataclass(frozen=True, slots=True)
class HeadView:
    """The head of a column."""

    text: str
    unit: str
    sort: str
    """`lower`, `higher`, `zero` or `text`."""
    kind: str = ""
    """`start` for the first column of a group."""


@dataclass(frozen=True, slots=True)
class CellView:
    """A number."""

    text: str
    detail: str
    kind: str
    value: str
    """The value to sort by; empty sorts last."""


@dataclass(frozen=True, slots=True)
class TableView:
    """One table."""

    title: str
    spans: Sequence[int]
    groups: Sequence[tuple[str, int]]
    heads: Sequence[HeadView]
    rows: Sequence[tuple[str, Sequence[CellView]]]
    notes: Sequence[str] = ()


def table_view(pivot: Pivot) -> TableView:
    """A table as its template needs it."""
    table = pivot.table
    spans = [span for _, span in pivot.groups]
    starts = set(itertools.accumulate(spans[:-1]))
    heads = [_head(column, k in starts) for k, column in enumerate(table.columns)]
    rows = [
        (row.cells[0].text, [_cell(c, k in starts) for k, c in enumerate(row.cells) if k])
        for row in table.rows
    ]
    return TableView(
        title=table.title,
        spans=spans,
        groups=pivot.groups[1:],
        heads=heads,
        rows=rows,
        notes=table.notes,
    )


def _head(column: TableColumn, starts: bool) -> HeadView:
    unit = f"{column.unit} {ARROWS.get(column.better, '')}".strip()
    sort = "text" if column.align == "left" else column.better or "higher"
    return HeadView(column.heading, unit, sort, "start" if starts else "")


def _cell(cell: TableCell, starts: bool) -> CellView:
    field = cell.fields[0] if cell.fields else None
    value = float(field) if isinstance(field, (int, float)) else math.nan
    kind = f"{cell.mark} start" if starts else cell.mark
    return CellView(cell.text, cell.detail, kind.strip(), sortable(value))
