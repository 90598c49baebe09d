"""At which difficulty methods fail: psychometric curves, and the place of 50 % on each axis."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.analysis.difficulty.axes import POOR_FIT, AxisDifficulty
from depthgauge.report.charts.psychometric import psychometric_chart
from depthgauge.report.charts.styles import legend
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.difficulty import NOTE, interval, place
from depthgauge.report.tables.heat import Cell, HeatTable

ABOUT = (
    "A psychometric curve is fitted to the failures of each method in the bins of an axis (small "
    "marks). Large marks are where 50 % fail, bars hold that place with 95 %. The further to the "
    "right, the more difficulty a method bears."
)

SPEC = SectionSpec("difficulty", "At which difficulty methods fail", "Difficulty", order=72)


def body(page: Page) -> Markup | None:
    """Curves and places of all axes; None if no axis has percentages of failures."""
    found = page.difficulties
    if not found:
        return None
    labels = list(dict.fromkeys(label for each in found for label in each.methods))
    poor = [note for each in found for note in _poor(each)]
    table = render("heat_table.html.j2", table=_table(found, labels))
    return render(
        "curves.html.j2",
        texts=[ABOUT, *poor],
        legend=legend(labels, page.styles),
        charts=[
            psychometric_chart(each, page.styles, f"psychometric{k}")
            for k, each in enumerate(found)
        ],
        folded=[("Difficulty at 50 % failure", [NOTE], [table])],
    )


def _poor(found: AxisDifficulty) -> list[str]:
    """Whose failures do not follow a curve."""
    names = [label for label, one in found.methods.items() if one.curve.residual > POOR_FIT]
    if not names:
        return []
    score = f"{found.axis.metric}@{found.axis.stem}"
    return [f"On {score}, failures of {', '.join(names)} do not grow along a curve."]


def _table(found: tuple[AxisDifficulty, ...], labels: list[str]) -> HeatTable:
    rows = [(label, [_cell(each, label) for each in found]) for label in labels]
    heads = [f"{each.axis.metric}@{each.axis.stem}" for each in found]
    return HeatTable("Difficulty at 50 % failure, in bins", "method", heads, "higher", rows)


def _cell(found: AxisDifficulty, label: str) -> Cell:
    if label not in found.methods:
        return Cell("-")
    one, count = found.methods[label], len(found.axis.bins)
    text = place(one, count)
    if one.curve.reaches:
        text = f"{text} {interval(one)}"
    value = min(max(one.curve.difficulty, 0.0), count + 1.0)
    return Cell(text, f"{1 - value / (count + 1):.2f}", value=sortable(value))
