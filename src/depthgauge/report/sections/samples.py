"""Every sample: the scores of all methods, as tables with coloured cells."""

from __future__ import annotations

import math

from markupsafe import Markup

from depthgauge.analysis.boards.board import Column
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS
from depthgauge.report.tables.heat import Cell, HeatTable, heat_of
from depthgauge.report.tables.leaderboard import sample_names, sample_table

MANY_SAMPLES = 30
"""Longer tables are folded."""
MOST_CELLS = 20_000
"""The most cells in all tables of the page together, not counting the main score's."""


SPEC = SectionSpec("samples", "Every sample", "Samples", order=110)


def body(page: Page) -> Markup | None:
    """The main score of every sample, the other scores folded below it."""
    if not sample_names(page.samples):
        return None
    labels, names = list(page.samples), sample_names(page.samples)
    columns = [c for c in page.columns if _occurs(page, c.id)]
    columns.sort(key=lambda column: column.id != page.board.main)
    fit = max(1, MOST_CELLS // max(1, len(labels) * len(names)))
    tables = [_sample_table(page, column) for column in columns]
    first, others = tables[:1], tables[1:fit]
    left = len(tables) - len(first) - len(others)
    notes = [f"{left} more scores do not fit here; they are in the run folder."] if left else []
    long = len(names) > MANY_SAMPLES
    folded = [(f"{first[0].title} of all {len(names)} samples", first)] if first and long else []
    folded += [(f"The same of {len(others)} other scores", others)] if others else []
    return render(
        "samples.html.j2",
        shown=[] if long else first,
        folded=folded,
        notes=["Stronger colours are worse; bold: best of the sample.", *notes],
    )


def _occurs(page: Page, score_id: str) -> bool:
    return any(score_id in found for each in page.samples.values() for found in each.values())


def _sample_table(page: Page, column: Column) -> HeatTable:
    table = sample_table(page.samples, column)
    values = [[_number(cell.fields[0]) for cell in row.cells[1:]] for row in table.rows]
    heats = heat_of(values, column.better)
    rows = []
    for row, numbers, strengths in zip(table.rows, values, heats, strict=True):
        cells = [
            Cell(cell.text, f"{strength:.2f}", cell.mark, sortable(value))
            for cell, value, strength in zip(row.cells[1:], numbers, strengths, strict=True)
        ]
        rows.append((row.cells[0].text, cells))
    unit = f" in {column.unit}" if column.unit else ""
    title = f"{column.id}{unit} {ARROWS.get(column.better, '')}".strip()
    return HeatTable(title, "sample", list(page.samples), column.better, rows)


def _number(field: object) -> float:
    return float(field) if isinstance(field, (int, float)) else math.nan
