"""Right-view generation: conditions, branches, controls, and curves along the baseline."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from depthgauge.analysis.baselines import BaselineCurve
from depthgauge.report.charts.axes import AxisLines, axis_chart
from depthgauge.report.charts.styles import legend
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._pivot_views import TableView, table_view
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.formats import ARROWS
from depthgauge.report.tables.pivot_formats import render_pivots
from depthgauge.report.tables.views import APART, DASHES

SPEC = SectionSpec("views", "Right views by what methods were given", "Right views", order=12)
_TEXT = (
    "A method is given exactly what it declares: G0 the geometry of the target view, G1 its "
    "camera, G2 the left view alone. Best and second best are those of a tier, never of all "
    "methods."
)
_MOST_CHARTS = 12


def body(page: Page) -> Markup | None:
    """All tables, then a chart for each score; None for other quantities."""
    if not page.view_tables:
        return None
    shown = page.baseline_curves[:_MOST_CHARTS]
    labels = list(dict.fromkeys(label for curve in shown for label in curve.lines))
    return render(
        "views.html.j2",
        texts=[_TEXT, DASHES],
        tables=[_without_common(table_view(pivot)) for pivot in page.view_tables],
        chart_title="Scores along the baseline",
        legend=legend(labels, page.styles),
        charts=[
            axis_chart(_lines(curve), page.styles, f"baseline{k}") for k, curve in enumerate(shown)
        ],
        copies=[
            ("Markdown", render_pivots(page.view_tables, "markdown")),
            ("LaTeX", render_pivots(page.view_tables, "latex")),
        ],
    )


def _without_common(table: TableView) -> TableView:
    """A table without the notes that stand once above all of them."""
    return replace(table, notes=[note for note in table.notes if note not in (DASHES, APART)])


def _lines(curve: BaselineCurve) -> AxisLines:
    unit = f" in {curve.unit}" if curve.unit else ""
    title = f"{curve.score_id}{unit} {ARROWS.get(curve.better, '')}".strip()
    return AxisLines(title, "baseline in cm", curve.centres_cm, curve.lines, curve.unit)
