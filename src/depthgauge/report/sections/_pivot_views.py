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
    texts = {k for k, column in enumerate(table.columns) if column.align == "left"}
    rows = [
        (
            row.cells[0].text,
            [_cell(c, k in starts, k in texts) for k, c in enumerate(row.cells) if k],
        )
        for row in table.rows
    ]
    return TableView(
        title=table.title,
        spans=spans,
        groups=_groups(pivot),
        heads=heads,
        rows=rows,
        notes=table.notes,
    )


def _groups(pivot: Pivot) -> list[tuple[str, int]]:
    """Headings over all columns but the first, which has none above it."""
    if not pivot.groups:
        return []
    (name, span), *rest = pivot.groups
    return [*([(name, span - 1)] if span > 1 else []), *rest]


def _head(column: TableColumn, starts: bool) -> HeadView:
    unit = f"{column.unit} {ARROWS.get(column.better, '')}".strip()
    sort = "text" if column.align == "left" else column.better or "higher"
    kinds = ["text" if column.align == "left" else "", "start" if starts else ""]
    return HeadView(column.heading, unit, sort, " ".join(filter(None, kinds)))


def _cell(cell: TableCell, starts: bool, text: bool) -> CellView:
    field = cell.fields[0] if cell.fields else None
    value = float(field) if isinstance(field, (int, float)) else math.nan
    kinds = [cell.mark, "start" if starts else "", "text" if text else ""]
    return CellView(cell.text, cell.detail, " ".join(filter(None, kinds)), sortable(value))
