"""Regions and metrics crossed, on the page: a folded table for each method."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from depthgauge.analysis.boards.board import Column
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS, TableCell
from depthgauge.report.tables.heat import Cell, HeatTable, heat_of
from depthgauge.report.tables.pivot import Pivot, pivots, region_name

FEWEST = 2
"""A table needs at least this many regions and metrics."""
MOST_METHODS = 24
_TEXT = (
    "One table for each method: which regions are hard for it, by each metric. Stronger "
    "colours are worse, on one scale per column in all tables; bold: best of all methods."
)


SPEC = SectionSpec("regions", "Regions by method", "Regions", order=60)


def body(page: Page) -> Markup | None:
    """The scores of every method on every region, if there are several regions and metrics."""
    # Scores on a single region are in the leaderboard.
    count = Counter(column.metric for column in page.columns)
    columns = [column for column in page.columns if count[column.metric] >= FEWEST]
    regions = {region_name(column) for column in columns}
    metrics = list(dict.fromkeys(column.metric for column in columns))
    if min(len(regions), len(metrics)) < FEWEST:
        return None
    found = pivots(page.board, "regions", columns=[column.id for column in columns])
    shown, more = found[:MOST_METHODS], len(found) - MOST_METHODS
    heats = _heats(shown, columns, metrics)
    folded = [
        (pivot.table.title, [_heat_table(pivot, heat)])
        for pivot, heat in zip(shown, heats, strict=True)
    ]
    notes = [_TEXT, *([f"{more} more methods are not shown."] if more > 0 else [])]
    return render("samples.html.j2", shown=[], folded=folded, notes=notes)


def _heats(
    found: Sequence[Pivot], columns: Sequence[Column], metrics: Sequence[str]
) -> list[list[list[float]]]:
    """How bad each cell of each table is; a metric has one scale for all tables."""
    better = {column.metric: column.better for column in columns}
    heats = [[[0.0] * len(metrics) for _ in pivot.table.rows] for pivot in found]
    for place, metric in enumerate(metrics):
        values = [[_value(row.cells[place + 1]) for row in p.table.rows] for p in found]
        for table, strengths in zip(heats, heat_of(values, better[metric]), strict=True):
            for row, strength in zip(table, strengths, strict=True):
                row[place] = strength
    return heats


def _heat_table(pivot: Pivot, heat: Sequence[Sequence[float]]) -> HeatTable:
    rows = []
    for row, strengths in zip(pivot.table.rows, heat, strict=True):
        cells = [
            Cell(
                f"{cell.text} {cell.detail}".strip(),
                f"{strength:.2f}",
                cell.mark,
                sortable(_value(cell)),
            )
            for cell, strength in zip(row.cells[1:], strengths, strict=True)
        ]
        rows.append((row.cells[0].text, cells))
    heads = [
        " ".join(filter(None, (c.heading, c.unit, ARROWS.get(c.better, ""))))
        for c in pivot.table.columns[1:]
    ]
    return HeatTable(pivot.table.title, "region", heads, "lower", rows)


def _value(cell: TableCell) -> float:
    value = cell.fields[0] if cell.fields else None
    return float(value) if isinstance(value, int | float) else math.nan
