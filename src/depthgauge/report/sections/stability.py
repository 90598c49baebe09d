"""The order of the methods over thresholds."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.thresholds import RankStability
from depthgauge.report.charts.lines import bump_chart
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render, render_charts
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.heat import Cell, HeatTable

SPEC = SectionSpec("stability", "Does the order depend on the threshold?", "Ranks", order=100)


def body(page: Page) -> Markup | None:
    """The order of the methods over thresholds."""
    if page.stability is None or not page.stability.ranks:
        return None
    text = "Where lines cross, the order of methods depends on what counts as an error."
    folded = [("Values", _table(page.stability))] if page.stability.values else []
    charts = [bump_chart(page.stability, page.styles)]
    return render_charts(texts=[text], charts=charts, folded=folded)


def _table(stability: RankStability) -> Markup:
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
