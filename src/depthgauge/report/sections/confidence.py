"""Error against density where pixels are sorted by confidence."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.analysis.confidence_curves import ConfidenceCurves
from depthgauge.report.charts.axes import AxisLines, axis_chart
from depthgauge.report.charts.styles import legend
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._section import SectionSpec

SPEC = SectionSpec("confidence", "Do methods know their errors?", "Confidence", order=96)

ABOUT = (
    "The error of the most confident pixels of a method, from a few (left) to all that it "
    "estimates (right); the mean over samples. If the confidence means something, the line rises "
    "to the right. Grey: the same method if it knew its errors; the area between the two lines is "
    "the score ause. A flat line is a confidence that says nothing."
)


def body(page: Page) -> Markup | None:
    """One chart per kind of error."""
    if not page.confidence:
        return None
    labels = list(dict.fromkeys(label for each in page.confidence for label in each.curves))
    return render(
        "curves.html.j2",
        texts=[ABOUT],
        legend=legend(labels, page.styles),
        charts=[
            axis_chart(lines_of(each), page.styles, f"confidence{k}")
            for k, each in enumerate(page.confidence)
        ],
        folded=[],
    )


def lines_of(found: ConfidenceCurves) -> AxisLines:
    """The chart of one kind of error: every method, and as it would be if it knew its errors."""
    lines = {label: curve.error for label, curve in found.curves.items()}
    lines |= {f"{label}, best order": curve.best for label, curve in found.curves.items()}
    unit = f" in {found.unit}" if found.unit else ""
    return AxisLines(
        title=f"{found.what}{unit}",
        x_title="most confident pixels in %",
        x=found.densities,
        lines=lines,
        unit=found.unit,
    )
