"""Error rate against sparsity over the settings of methods."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.charts.roc import roc_chart
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render_charts
from depthgauge.report.sections._section import SectionSpec

SPEC = SectionSpec("settings", "Errors against density, by setting", "Settings", order=94)


def body(page: Page) -> Markup | None:
    """The settings of methods that were run with several, if any leaves out pixels."""
    found = page.settings_roc
    if found is None or not any(s.sparsity for s in found.boundary.settings):
        return None
    text = (
        "Each mark is one entry of a method that was run with several options: how many pixels it "
        "leaves without an estimate, and how many of its estimates are wrong, over all samples. "
        "Hollow marks are beaten in both by another setting of the method. The dotted line is the "
        "feasibility boundary: the best that any entry reaches. The area is the mean error over "
        "all sparsities of the best setting that is no sparser; where there is none, it is 100 %."
    )
    return render_charts(texts=[text], charts=[roc_chart(found)])
