"""Precision and recall of boundaries over thresholds."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.charts.precision_recall import precision_recall_chart
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render_charts
from depthgauge.report.sections._section import SectionSpec

SPEC = SectionSpec("precision-recall", "Precision and recall", "Precision", order=80)


def body(page: Page) -> Markup | None:
    """Precision and recall of boundaries over thresholds."""
    if not page.precision_recall:
        return None
    text = (
        "Each curve covers the thresholds above which a pixel counts as a boundary, from many "
        "pixels (right) to few (left). Precision is how many estimated pixels are right, recall "
        "how many true ones are found, both over the whole dataset. A mark is where their "
        "harmonic mean F is largest; along a grey line F is the same."
    )
    chart = precision_recall_chart(page.precision_recall, page.styles)
    return render_charts(texts=[text], charts=[chart])
