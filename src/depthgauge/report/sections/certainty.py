"""How certain the main score is: intervals, ties, and the probability of each rank."""

from __future__ import annotations

import math

from markupsafe import Markup

from depthgauge.report.charts.forest import forest_plot
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render, render_charts
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.heat import Cell, HeatTable

_RANKS = (
    "The table says how likely each rank is for such samples, by the same rule as the intervals, "
    "so that it agrees with the brackets. Rows add up to 100; ranks may be shared."
)

SPEC = SectionSpec("certainty", "How certain is {main}?", "Certainty", order=30)


def body(page: Page) -> Markup:
    """The main score with its intervals, and how likely each rank is."""
    level = f"{100 * page.board.level:g} %"
    cells = [row.cells[page.board.main] for row in page.board.rows if page.board.main in row.cells]
    text = "There are no intervals: the order of methods holds for these samples only."
    if any(math.isfinite(cell.low) for cell in cells):
        text = (
            f"Lines are intervals at {level}: where the score would be for other samples of "
            "the same kind. A bracket joins methods that cannot be told apart."
        )
    parts = [forest_plot(page.board, page.styles)] if cells else []
    tables = [_rank_table(page)] if page.rank_probabilities else []
    texts = [text, *([_RANKS] if tables else [])]
    return render_charts(texts=texts, charts=parts, tables=tables)


def _rank_table(page: Page) -> Markup:
    """The probability of each rank of each method for other samples of the same kind."""
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


def _chance(share: float) -> Cell:
    if math.isnan(share):
        return Cell("-")
    percent = 100 * share
    text = "\u00b7" if percent == 0 else "<1" if percent < 1 else f"{percent:.0f}"
    return Cell(text, f"{share:.2f}", value=sortable(share))
