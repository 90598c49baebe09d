"""Scores by layer and material in the shape of LayeredFlow's tables, and numbers of points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS, TableCell, TableColumn
from depthgauge.report.tables.pivot import Pivot
from depthgauge.report.tables.pivot_formats import render_pivots

SPEC = SectionSpec("layers", "Layers and materials", "Layers", order=15)
_TEXT = (
    "Layers count from the nearest surface. A pixel is bad if a layer is off by more than the "
    "threshold or not estimated; where a method has no estimate at all, its error is 'none'. Bold: "
    "best, underlined: second best."
)


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


def body(page: Page) -> Markup | None:
    """All tables by layer or material, if the benchmark has such scores."""
    if not page.layer_tables:
        return None
    copies = [
        ("Markdown", render_pivots(page.layer_tables, "markdown")),
        ("LaTeX", render_pivots(page.layer_tables, "latex")),
    ]
    tables = [_view(pivot) for pivot in page.layer_tables]
    return render("layers.html.j2", text=_TEXT, tables=tables, copies=copies)


def _view(pivot: Pivot) -> TableView:
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
