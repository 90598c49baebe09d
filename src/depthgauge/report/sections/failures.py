"""Samples without a usable estimate, and why."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._section import SectionSpec

SPEC = SectionSpec("failures", "Failures", "Failures", order=140)


def body(page: Page) -> Markup | None:
    """One row for each method and sample that failed."""
    rows = [
        (row.label, sample, reason)
        for row in page.board.rows
        for sample, reason in row.failed.items()
    ]
    if not rows:
        return None
    return render("failures.html.j2", rows=rows, caption="Samples without a usable estimate")
