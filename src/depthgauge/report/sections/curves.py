"""The percentage of correct pixels over thresholds."""

from __future__ import annotations

import math

from markupsafe import Markup

from depthgauge.report.charts.lines import threshold_curves
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render_charts
from depthgauge.report.sections._section import SectionSpec

_MISSING = {
    "bad": "a missing pixel is never correct. ",
    "skip": "missing pixels are left out. ",
    "interpolate": "missing pixels are filled in first. ",
}


SPEC = SectionSpec("curves", "Correct pixels by threshold", "Thresholds", order=90)


def body(page: Page) -> Markup | None:
    """The share of correct pixels over thresholds."""
    if page.curves is None or not page.curves.lines:
        return None
    text = (
        f"How many pixels of region '{page.curves.region}' have an error of at most each "
        f"threshold; {_MISSING.get(page.curves.missing, '')}Dotted: the thresholds that are scored."
    )
    if any(not math.isnan(p.low) for points in page.curves.lines.values() for p in points):
        text += f" Bands: intervals at {100 * page.board.level:g} %."
    charts = [threshold_curves(page.curves, page.styles)]
    return render_charts(texts=[text], charts=charts)
