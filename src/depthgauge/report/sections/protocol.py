"""What was measured and how, in words."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._section import SectionSpec

_DETAILS = ("Region ", "Metric ", "Shared map ", "Option ")


SPEC = SectionSpec("how", "What was measured, and how", "Protocol", order=135)


def body(page: Page) -> Markup | None:
    """What the benchmark is about, and its protocol."""
    return how_html(page.about, page.how) if page.how or page.about else None


def how_html(about: str, how: Sequence[tuple[str, str]]) -> Markup:
    """The protocol as terms and explanations; definitions of regions and metrics are folded."""
    rest = [(term, text) for term, text in how if term.startswith(_DETAILS)]
    return render(
        "how.html.j2",
        about=[about] if about else [],
        first=[(term, text) for term, text in how if not term.startswith(_DETAILS)],
        rest=[rest] if rest else [],
    )
