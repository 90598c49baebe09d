"""Truth against estimate, over all pixels of the samples with pictures."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.charts.density import density_plot
from depthgauge.report.charts.styles import HIGHLIGHTED
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._section import SectionSpec

SPEC = SectionSpec("scatter", "Truth against estimate", "Scatter", order=130)


def body(page: Page) -> Markup | None:
    """Truth against estimate of all pixels."""
    if not page.scatter:
        return None
    labels = list(page.scatter)[:HIGHLIGHTED]
    plots = [
        density_plot(page.scatter[label], label, page.unit, f"scatter{k}")
        for k, label in enumerate(labels)
    ]
    text = (
        "A perfect method has all pixels on the line. Colours show counts of pixels on "
        "a logarithmic scale; bright means many."
    )
    more = len(page.scatter) - len(labels)
    texts = [text, *([f"{more} more methods are not shown."] if more else [])]
    return render("multiples.html.j2", texts=texts, charts=plots)
