"""The parts of the report that are charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from depthgauge.report.charts.density import density_plot
from depthgauge.report.charts.forest import forest_plot
from depthgauge.report.charts.lines import bump_chart, threshold_curves
from depthgauge.report.charts.precision_recall import precision_recall_chart
from depthgauge.report.charts.radar import NORMALISATION, radar_chart
from depthgauge.report.charts.styles import HIGHLIGHTED, Style
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections.degradation import degradation_html
from depthgauge.report.sections.leaderboard import pareto_sentences
from depthgauge.report.sections.profiles import profiles_html
from depthgauge.report.sections.samples import rank_table_html, stability_table_html
from depthgauge.report.sections.section import Section

Styles = Mapping[str, Style]


def forest_section(page: Page, styles: Styles) -> Section:
    """The main score with its intervals, and how likely each rank is."""
    level = f"{100 * page.board.level:g} %"
    cells = [row.cells[page.board.main] for row in page.board.rows if page.board.main in row.cells]
    text = "There are no intervals: the order of methods holds for these samples only."
    if any(math.isfinite(cell.low) for cell in cells):
        text = (
            f"Lines are intervals at {level}: where the score would lie had other samples of the "
            "same kind been drawn. A bracket joins methods that cannot be told apart."
        )
    parts = [forest_plot(page.board, styles)] if cells else []
    tables = [rank_table_html(page)] if page.rank_probabilities else []
    body = _charts(texts=[text], charts=parts, tables=tables)
    return Section("certainty", f"How certain is {page.board.main}?", "Certainty", body)


def _charts(
    *,
    texts: Sequence[str],
    charts: Sequence[Markup],
    notes: Sequence[str] = (),
    tables: Sequence[Markup] = (),
    folded: Sequence[tuple[str, Markup]] = (),
) -> Markup:
    return render(
        "charts.html.j2",
        texts=texts,
        charts=charts,
        notes=[notes] if notes else [],
        tables=tables,
        folded=folded,
    )


def radar_section(page: Page, styles: Styles) -> Section | None:
    """Several scores at once, and who is beaten in everything."""
    pareto = pareto_sentences(page.board)
    radar = page.radar if page.radar is not None and page.radar.values else None
    if radar is None and not pareto:
        return None
    body = _charts(
        texts=[NORMALISATION] if radar is not None and len(radar.axes) > 2 else [],
        charts=[radar_chart(radar, styles)] if radar is not None else [],
        notes=pareto,
    )
    return Section("strengths", "Strengths and weaknesses", "Strengths", body)


_MISSING = {
    "bad": "a missing pixel is never correct. ",
    "skip": "missing pixels are left out. ",
    "interpolate": "missing pixels are filled in first. ",
}


def curves_section(page: Page, styles: Styles) -> Section | None:
    """The share of correct pixels over thresholds."""
    if page.curves is None or not page.curves.lines:
        return None
    text = (
        f"How many pixels of region '{page.curves.region}' have an error of at most each "
        f"threshold; {_MISSING.get(page.curves.missing, '')}Dotted: the thresholds that are scored."
    )
    if any(not math.isnan(p.low) for points in page.curves.lines.values() for p in points):
        text += f" Bands: intervals at {100 * page.board.level:g} %."
    charts = [threshold_curves(page.curves, styles)]
    body = _charts(texts=[text], charts=charts)
    return Section("curves", "Correct pixels by threshold", "Thresholds", body)


def precision_recall_section(page: Page, styles: Styles) -> Section | None:
    """Precision and recall of boundaries over thresholds."""
    if not page.precision_recall:
        return None
    text = (
        "Each curve goes over the thresholds from which a pixel counts as a boundary, from many "
        "pixels (right) to few (left). Precision is how many estimated pixels are right, recall "
        "how many true ones are found, both over the whole dataset. A mark is where their "
        "harmonic mean F is largest; along a grey line F is the same."
    )
    body = _charts(texts=[text], charts=[precision_recall_chart(page.precision_recall, styles)])
    return Section("precision-recall", "Precision and recall", "Precision", body)


def stability_section(page: Page, styles: Styles) -> Section | None:
    """The order of the methods over thresholds."""
    if page.stability is None or not page.stability.ranks:
        return None
    text = "Where lines cross, the order of methods depends on what one calls an error."
    folded = [("Values", stability_table_html(page.stability))] if page.stability.values else []
    charts = [bump_chart(page.stability, styles)]
    body = _charts(texts=[text], charts=charts, folded=folded)
    return Section("stability", "Does the order depend on the threshold?", "Ranks", body)


def degradation_section(page: Page, styles: Styles) -> Section | None:
    """Scores along the axes of difficulty."""
    if not any(any(each.filled) for each in page.degradations):
        return None
    body = degradation_html(page.degradations, styles)
    return Section("degradation", "How scores degrade with difficulty", "Degradation", body)


def profiles_section(page: Page, styles: Styles) -> Section | None:
    """The order of the methods for different applications."""
    if not page.profiles:
        return None
    body = profiles_html(page.profiles)
    return Section("profiles", "Which method for which application?", "Profiles", body)


def scatter_section(page: Page, styles: Styles) -> Section | None:
    """Truth against estimate of all pixels."""
    if not page.scatter:
        return None
    labels = list(page.scatter)[:HIGHLIGHTED]
    plots = [
        density_plot(page.scatter[label], label, page.unit, f"scatter{k}")
        for k, label in enumerate(labels)
    ]
    text = (
        "A perfect method has all pixels on the line. Colours count pixels on a logarithmic "
        "scale, bright is many."
    )
    more = len(page.scatter) - len(labels)
    texts = [text, *([f"{more} more methods are not shown."] if more else [])]
    body = render("multiples.html.j2", texts=texts, charts=plots)
    return Section("scatter", "Truth against estimate", "Scatter", body)
