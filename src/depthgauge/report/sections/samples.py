"""Tables with coloured cells: the scores of every sample, and how likely each rank is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge.analysis.board import Column
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.report.page.model import Page, RankStability
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.tables.formats import ARROWS
from depthgauge.report.tables.leaderboard import sample_names, sample_table
from depthgauge.report.tables.numbers import show_number

MANY_SAMPLES = 30
"""Longer tables are folded."""
MOST_CELLS = 20_000
"""What all tables of the page may hold together, but for that of the main score."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with the strength of its colour."""

    text: str
    heat: str = "0"
    """0 (good) to 1 (bad)."""
    mark: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class HeatTable:
    """A table of numbers."""

    title: str
    corner: str
    heads: Sequence[str]
    sort: str
    rows: Sequence[tuple[str, Sequence[Cell]]]
    kind: str = ""
    """`chance`: colours of likelihood instead of badness."""


def samples_html(page: Page) -> Markup:
    """The main score of every sample, the other scores folded below it."""
    labels, names = list(page.samples), sample_names(page.samples)
    columns = [c for c in page.columns if _occurs(page, c.id)]
    columns.sort(key=lambda column: column.id != page.board.main)
    fit = max(1, MOST_CELLS // max(1, len(labels) * len(names)))
    tables = [_sample_table(page, column) for column in columns]
    first, others = tables[:1], tables[1:fit]
    left = len(tables) - len(first) - len(others)
    notes = [f"{left} more scores are in the run folder; they would not fit here."] if left else []
    long = len(names) > MANY_SAMPLES
    folded = [(f"{first[0].title} of all {len(names)} samples", first)] if first and long else []
    folded += [(f"The same of {len(others)} other scores", others)] if others else []
    return render(
        "samples.html.j2",
        shown=[] if long else first,
        folded=folded,
        notes=["The stronger the colour, the worse; bold: best of the sample.", *notes],
    )


def rank_table_html(page: Page) -> Markup:
    """How likely each method has each rank if other samples had been drawn."""
    chances = page.rank_probabilities
    count = max((len(shares) for shares in chances.values()), default=0)
    rows = [
        (label, [_chance(share) for share in (*shares, *[0.0] * (count - len(shares)))])
        for label, shares in chances.items()
    ]
    heads = [f"rank {k + 1}" for k in range(count)]
    title = f"How likely each rank is by {page.board.main}, in percent"
    table = HeatTable(title, "method", heads, "higher", rows, "chance")
    return render("heat_table.html.j2", table=table)


def stability_table_html(stability: RankStability) -> Markup:
    """What was ranked at each threshold."""
    rows = []
    for label, values in stability.values.items():
        ranks = stability.ranks.get(label, [None] * len(values))
        cells = [
            Cell(show_number(value), mark="best" if rank == 1 else "", value=sortable(value))
            for value, rank in zip(values, ranks, strict=True)
        ]
        rows.append((label, cells))
    heads = [f"{threshold:g} {stability.unit}".strip() for threshold in stability.thresholds]
    table = HeatTable(f"{stability.what} at each threshold", "method", heads, "lower", rows)
    return render("heat_table.html.j2", table=table)


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


def heat_of(values: Sequence[Sequence[float]], better: str) -> list[list[float]]:
    """How bad each value is: 0 for the best of the table, 1 from the worst twentieth on.

    >>> heat_of([[1.0, 2.0], [3.0, float("nan")]], "lower")
    [[0.0, 0.5], [1.0, 0.0]]
    """
    keys = sorted(rank_key(v, better) for row in values for v in row if math.isfinite(v))
    if not keys:
        return [[0.0 for _ in row] for row in values]
    low, high = keys[0], keys[min(len(keys) - 1, math.ceil(0.95 * (len(keys) - 1)))]
    reach = (high - low) or 1.0

    def strength(value: float) -> float:
        if math.isnan(value):
            return 0.0
        return min(1.0, max(0.0, (rank_key(value, better) - low) / reach))

    return [[strength(value) for value in row] for row in values]


def _number(field: object) -> float:
    return float(field) if isinstance(field, (int, float)) else math.nan


def _chance(share: float) -> Cell:
    if math.isnan(share):
        return Cell("-")
    percent = 100 * share
    text = "\u00b7" if percent == 0 else "<1" if percent < 1 else f"{percent:.0f}"
    return Cell(text, f"{share:.2f}", value=sortable(share))
