"""Strengths and weaknesses: several scores at once, and which methods are dominated."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge._shorten import first_few
from depthgauge.analysis.boards.board import Board
from depthgauge.report.charts.radar import NORMALISATION, radar_chart
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render_charts
from depthgauge.report.sections._section import SectionSpec

_MOST_BEATEN = 4
FEWEST_METHODS = 3
"""Fewer shapes are not an overview; the table says the same."""


SPEC = SectionSpec("strengths", "Strengths and weaknesses", "Strengths", order=40)


def body(page: Page) -> Markup | None:
    """Several scores at once, and which methods are dominated."""
    pareto = pareto_sentences(page.board)
    radar = page.radar
    if radar is not None and len(radar.values) < FEWEST_METHODS:
        radar = None
    if radar is None and not pareto:
        return None
    return render_charts(
        texts=[NORMALISATION] if radar is not None and len(radar.axes) > 2 else [],
        charts=[radar_chart(radar, page.styles)] if radar is not None else [],
        notes=pareto,
    )


def pareto_sentences(board: Board) -> list[str]:
    """Which methods are not beaten in everything, and which are beaten by which others."""
    rows = [row for row in board.rows if not row.oracle]
    beaten = [row for row in rows if row.dominated_by]
    if not beaten:
        return []
    front = [row.label for row in rows if not row.dominated_by]
    sentences = [
        f"At least as good as {row.label} in every score, and better in one: "
        f"{first_few(row.dominated_by, 4)}."
        for row in beaten[:_MOST_BEATEN]
    ]
    if beaten[_MOST_BEATEN:]:
        rest = ", ".join(row.label for row in beaten[_MOST_BEATEN:])
        sentences.append(f"Some method is also at least as good in every score as: {rest}.")
    first = f"No single method is at least as good in every score as: {', '.join(front)}."
    return [first, *sentences]
