"""Scores by layer and material in the shape of LayeredFlow's tables, and numbers of points."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._pivot_views import table_view
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.pivot_formats import render_pivots

SPEC = SectionSpec("layers", "Layers and materials", "Layers", order=15)
_TEXT = (
    "Layers count from the nearest surface. A pixel is bad if a layer is off by more than the "
    "threshold or not estimated; where a method has no estimate at all, its error is 'none'. Bold: "
    "best, underlined: second best."
)


def body(page: Page) -> Markup | None:
    """All tables by layer or material, if the benchmark has such scores."""
    if not page.layer_tables:
        return None
    copies = [
        ("Markdown", render_pivots(page.layer_tables, "markdown")),
        ("LaTeX", render_pivots(page.layer_tables, "latex")),
    ]
    tables = [table_view(pivot) for pivot in page.layer_tables]
    return render("layers.html.j2", text=_TEXT, tables=tables, copies=copies)
