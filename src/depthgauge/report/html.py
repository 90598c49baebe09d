"""The report: one HTML file that needs nothing else, no network, and no script."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from depthgauge.io import write_text
from depthgauge.report._templates import asset, content_hash, render
from depthgauge.report.board_view import board_html, pareto_sentences
from depthgauge.report.forest import forest_plot
from depthgauge.report.headline import headline
from depthgauge.report.heat import density_plot
from depthgauge.report.leaderboard import sample_names
from depthgauge.report.line_chart import bump_chart, threshold_curves
from depthgauge.report.page import Page
from depthgauge.report.pictures_view import pictures_html
from depthgauge.report.radar import NORMALISATION, radar_chart
from depthgauge.report.samples_view import rank_table_html, samples_html, stability_table_html
from depthgauge.report.series import HIGHLIGHTED, Style, styles_of
from depthgauge.report.size_limit import LIMIT_BYTES, fitted

Styles = Mapping[str, Style]
_LONG = 12
"""Longer lists are folded."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the page."""

    id: str
    title: str
    nav: str
    """A word or two for the list at the top."""
    body: Markup


def write_report(path: Path, page: Page, *, limit: int = LIMIT_BYTES) -> None:
    """Writes the report, whole or not at all; the same page gives the same bytes.

    Args:
        path: The HTML file.
        page: What it shows.
        limit: Largest size in bytes; pictures shrink to keep it.
    """
    write_text(path, fitted(page, render_report, limit))


def render_report(page: Page) -> str:
    """The report as HTML."""
    script = asset("report.js")
    styles = styles_of(page.board)
    sections = [section for make in _SECTIONS if (section := make(page, styles)) is not None]
    return str(
        render(
            "report.html.j2",
            page=page,
            headline=headline(page.board),
            facts=_facts(page),
            sections=sections,
            css=asset("report.css"),
            script=script,
            script_hash=content_hash(str(script)),
        )
    )


def _facts(page: Page) -> list[tuple[str, str]]:
    rows = page.board.rows
    samples = len(sample_names(page.samples)) or max(
        (cell.all for row in rows for cell in row.cells.values()), default=0
    )
    facts = [
        ("benchmark", f"{page.benchmark}, version {page.version}"),
        ("quantity", f"{page.quantity} [{page.unit}]".replace(" []", "")),
        ("methods", str(sum(not row.oracle for row in rows))),
        ("samples", str(samples) if samples else ""),
        ("date", page.provenance.date),
        ("protocol", page.protocol_hash[:12]),
    ]
    return [(name, text) for name, text in facts if text]


def _how(page: Page, styles: Styles) -> Section | None:
    if not page.how and not page.about:
        return None
    details = ("Region ", "Metric ", "Option ")
    first = [(term, text) for term, text in page.how if not term.startswith(details)]
    rest = [(term, text) for term, text in page.how if term.startswith(details)]
    body = render(
        "how.html.j2",
        about=[page.about] if page.about else [],
        first=first,
        rest=[rest] if rest else [],
    )
    return Section("how", "What was measured, and how", "Protocol", body)


def _board(page: Page, styles: Styles) -> Section:
    return Section("leaderboard", "Leaderboard", "Leaderboard", board_html(page, styles))


def _forest(page: Page, styles: Styles) -> Section:
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


def _radar(page: Page, styles: Styles) -> Section | None:
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


def _curves(page: Page, styles: Styles) -> Section | None:
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


def _stability(page: Page, styles: Styles) -> Section | None:
    if page.stability is None or not page.stability.ranks:
        return None
    text = "Where lines cross, the order of methods depends on what one calls an error."
    folded = [("Values", stability_table_html(page.stability))] if page.stability.values else []
    charts = [bump_chart(page.stability, styles)]
    body = _charts(texts=[text], charts=charts, folded=folded)
    return Section("stability", "Does the order depend on the threshold?", "Ranks", body)


def _samples(page: Page, styles: Styles) -> Section | None:
    if not sample_names(page.samples):
        return None
    return Section("samples", "Every sample", "Samples", samples_html(page))


def _pictures(page: Page, styles: Styles) -> Section | None:
    if not page.pictures:
        return None
    return Section("pictures", "Where the errors are", "Pictures", pictures_html(page.pictures))


def _scatter(page: Page, styles: Styles) -> Section | None:
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


def _failures(page: Page, styles: Styles) -> Section | None:
    rows = [
        (row.label, sample, reason)
        for row in page.board.rows
        for sample, reason in row.failed.items()
    ]
    if not rows:
        return None
    body = render("failures.html.j2", rows=rows, caption="Samples without a usable estimate")
    return Section("failures", "Failures", "Failures", body)


def _provenance(page: Page, styles: Styles) -> Section:
    made = page.provenance
    facts = [("date", made.date), ("host", made.host), *made.versions.items()]
    hashes = [("protocol", page.protocol_hash), *made.hashes.items()]
    options = [
        (row.label, ", ".join(f"{key} = {value}" for key, value in row.options.items()))
        for row in page.board.rows
        if row.options
    ]
    lists = [
        ("How it was made", [(name, text) for name, text in facts if text]),
        ("Options of methods", options),
        ("Hashes (SHA-256)", hashes),
    ]
    notes = [*page.notes, *made.notes, *_absent(page)]
    body = render(
        "provenance.html.j2",
        notes=[notes] if notes else [],
        commands=[made.commands] if made.commands else [],
        lists=[(title, rows) for title, rows in lists if 0 < len(rows) <= _LONG],
        folded=[(title, rows) for title, rows in lists if len(rows) > _LONG],
        left_out=[made.left_out] if made.left_out else [],
    )
    return Section("provenance", "Where this comes from", "Provenance", body)


def _absent(page: Page) -> list[str]:
    """One sentence on what a reader may look for in vain."""
    parts: dict[str, object] = {
        "scores of single samples": page.samples,
        "pictures": page.pictures,
        "threshold curves": page.curves,
        "rank stability": page.stability,
        "scatter plots": page.scatter,
        "rank probabilities": page.rank_probabilities,
    }
    lacking = [name for name, part in parts.items() if not part]
    return [f"The run did not keep, so this page does not show: {', '.join(lacking)}."] * bool(
        lacking
    )


_SECTIONS: tuple[Callable[[Page, Styles], Section | None], ...] = (
    _how,
    _board,
    _forest,
    _radar,
    _curves,
    _stability,
    _samples,
    _pictures,
    _scatter,
    _failures,
    _provenance,
)
