"""The best method for each application: ranks by profile, with reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from depthgauge._tables import show_share
from depthgauge.analysis.profiles import ProfileRanking
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.heat import Cell, HeatTable
from depthgauge.report.words.headline import listing

ABOUT = (
    "A profile is a list of priorities, each with a weight. A method's cost is the weighted mean "
    "over its scores: 0 is perfect, 0.5 is the median method, 1 is the worst possible. The "
    "percentage after each profile is the part of its weight that these scores cover."
)


SPEC = SectionSpec("profiles", "Which method for which application?", "Profiles", order=50)


def body(page: Page) -> Markup | None:
    """The order of the methods for different applications."""
    return profiles_html(page.profiles) if page.profiles else None


def profiles_html(rankings: Sequence[ProfileRanking]) -> Markup:
    """Ranks under every profile side by side, then the reasons for each."""
    return render(
        "profiles.html.j2",
        about=ABOUT,
        overview=render("heat_table.html.j2", table=_overview(rankings)),
        profiles=[(_summary(each), each, _weights(each)) for each in rankings],
    )


def _overview(rankings: Sequence[ProfileRanking]) -> HeatTable:
    """One row per method; the colour is its cost."""
    rows = []
    labels = list(dict.fromkeys(row.label for each in rankings for row in each.rows))
    for label in labels:
        found = [next(row for row in each.rows if row.label == label) for each in rankings]
        cells = [
            Cell(
                "-" if math.isnan(row.cost) else f"{row.rank} ({row.cost:.2f})",
                "0" if math.isnan(row.cost) else f"{row.cost:.2f}",
                "best" if row.rank == 1 else "",
                sortable(row.cost),
            )
            for row in found
        ]
        rows.append((label, cells))
    heads = [f"{each.profile.id} ({show_share(each.covered)})" for each in rankings]
    return HeatTable("Rank by profile (cost)", "method", heads, "lower", rows)


def _summary(ranking: ProfileRanking) -> str:
    first = [row.label for row in ranking.rows if row.rank == 1 and not math.isnan(row.cost)]
    return f"{ranking.profile.title}: {listing(first) if first else 'nobody'}"


def _weights(ranking: ProfileRanking) -> list[tuple[str, str, str, str]]:
    """Aspect, share, the scores that measure it, and why it matters."""
    weights = ranking.profile.weights
    total = math.fsum(weight.weight for weight in weights)
    return [
        (
            weight.aspect,
            f"{100 * weight.weight / total:.0f} %",
            ", ".join(s.id for s in ranking.scores if s.aspect == weight.aspect) or "none here",
            weight.why,
        )
        for weight in weights
    ]
