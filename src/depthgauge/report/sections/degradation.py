"""Degradation curves on the page: a legend, one small chart per family, and the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.degradation import Degradation
from depthgauge.report.charts.axes import AxisLines, axis_chart
from depthgauge.report.charts.styles import Style, legend
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS
from depthgauge.report.tables.heat import Cell, HeatTable, heat_of

ABOUT = (
    "Scores of regions that are numbered along an axis of difficulty, in the regions' order from "
    "left to right. Where a line has a gap, the method has no estimate there, or no sample has "
    "such pixels."
)
MEANING = (
    "Spread: from the method's best bin to its worst. Largest step: how much it gets worse from "
    "one bin to the next. A method whose largest step is most of its spread breaks "
    "at once; one with small steps degrades gracefully."
)


SPEC = SectionSpec("degradation", "How scores degrade with difficulty", "Degradation", order=70)


def body(page: Page) -> Markup | None:
    """The families of scores along axes of difficulty; None if no sample has pixels of any."""
    if not any(any(each.filled) for each in page.degradations):
        return None
    return degradation_html(page.degradations, page.styles)


def degradation_html(found: Sequence[Degradation], styles: Mapping[str, Style]) -> Markup:
    """All families; charts are side by side if there is room.

    Families without pixels in any sample are only listed.
    """
    absent = [f"{each.metric}@{each.stem}" for each in found if not any(each.filled)]
    found = [each for each in found if any(each.filled)]
    labels = list(dict.fromkeys(label for each in found for label in each.lines))
    tables = [render("heat_table.html.j2", table=_table(each)) for each in found]
    return render(
        "curves.html.j2",
        texts=[ABOUT, *([f"No sample here has pixels of {', '.join(absent)}."] if absent else [])],
        legend=legend(labels, styles),
        charts=[
            axis_chart(lines_of(each), styles, f"degradation{k}") for k, each in enumerate(found)
        ],
        folded=[("Values of every bin, and what the curves say", [MEANING], tables)],
    )


def lines_of(found: Degradation) -> AxisLines:
    """The chart of one family."""
    return AxisLines(
        title=_score(found),
        x_title=f"{found.label} in {found.axis_unit}" if found.axis_unit else found.label,
        x=found.bins,
        lines=found.lines,
        unit=found.unit,
    )


def _score(found: Degradation) -> str:
    unit = f" in {found.unit}" if found.unit else ""
    return f"{found.metric}@{found.stem}{unit} {ARROWS.get(found.better, '')}".strip()


def _table(found: Degradation) -> HeatTable:
    """Every bin of every method, worse values in stronger colours, and the trends."""
    heats = heat_of(list(found.lines.values()), found.better)
    rows = []
    for (label, line), strengths in zip(found.lines.items(), heats, strict=True):
        cells = [
            Cell(show_number(value), f"{strength:.2f}", value=sortable(value))
            for value, strength in zip(line, strengths, strict=True)
        ]
        rows.append((label, [*_trend(found, label), *cells]))
    title = f"{_score(found)} by {found.label}"
    heads = ["mean", "spread", "largest step", "to"]
    heads += [f"{x:g} {found.axis_unit}".strip() for x in found.bins]
    return HeatTable(title, "method", heads, found.better, rows)


def _trend(found: Degradation, label: str) -> list[Cell]:
    trend = found.trend(label)
    to = "-" if math.isnan(trend.step_to) else f"{trend.step_to:g} {found.axis_unit}".strip()
    numbers = (trend.mean, trend.spread, trend.step)
    return [
        *(Cell(show_number(number), value=sortable(number)) for number in numbers),
        Cell(to, value=sortable(trend.step_to)),
    ]
