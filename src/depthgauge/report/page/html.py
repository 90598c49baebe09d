"""The report: one HTML file that needs nothing else, no network, and no script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from markupsafe import Markup

from depthgauge.io import write_text
from depthgauge.report.charts.styles import styles_of
from depthgauge.report.page.model import Page
from depthgauge.report.page.size_limit import LIMIT_BYTES, fitted
from depthgauge.report.page.templates import asset, content_hash, render
from depthgauge.report.sections.chart_sections import (
    Styles,
    curves_section,
    degradation_section,
    forest_section,
    precision_recall_section,
    profiles_section,
    radar_section,
    scatter_section,
    stability_section,
)
from depthgauge.report.sections.leaderboard import board_html
from depthgauge.report.sections.pictures import pictures_html
from depthgauge.report.sections.pivot import pivot_section
from depthgauge.report.sections.protocol import how_html
from depthgauge.report.sections.samples import samples_html
from depthgauge.report.sections.section import Section
from depthgauge.report.tables.leaderboard import sample_names
from depthgauge.report.words.collapse_ranges import shortened
from depthgauge.report.words.headline import headline

_LONG = 12
"""Longer lists are folded."""


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
    styles = styles_of(page.board)
    sections = [section for make in _SECTIONS if (section := make(page, styles)) is not None]
    return render_sections(page.title, headline(page.board), _facts(page), sections)


def render_sections(
    title: str, headline: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]
) -> str:
    """A whole page with what every page has: style, script, policy, and links to its parts.

    Args:
        title: Of the document.
        headline: What came out, in one sentence.
        facts: Names and short texts below it.
        sections: The parts, in order.
    """
    script = asset("report.js")
    return str(
        render(
            "report.html.j2",
            title=title,
            headline=headline,
            facts=facts,
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
    body = how_html(page.about, page.how)
    return Section("how", "What was measured, and how", "Protocol", body)


def _board(page: Page, styles: Styles) -> Section:
    return Section("leaderboard", "Leaderboard", "Leaderboard", board_html(page, styles))


def _samples(page: Page, styles: Styles) -> Section | None:
    if not sample_names(page.samples):
        return None
    return Section("samples", "Every sample", "Samples", samples_html(page))


def _pictures(page: Page, styles: Styles) -> Section | None:
    if not page.pictures:
        return None
    body = pictures_html(page.pictures, page.unit, page.kind)
    return Section("pictures", "Where the errors are", "Pictures", body)


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
    hashes = list({"protocol": page.protocol_hash, **made.hashes}.items())
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
    left_out = shortened(made.left_out)
    body = render(
        "provenance.html.j2",
        notes=[notes] if notes else [],
        commands=[made.commands] if made.commands else [],
        lists=[(title, rows) for title, rows in lists if 0 < len(rows) <= _LONG],
        folded=[(title, rows) for title, rows in lists if len(rows) > _LONG],
        left_out=[(Markup("") if len(left_out) > _LONG else Markup(" open"), left_out)]
        if left_out
        else [],
    )
    return Section("provenance", "Where this comes from", "Provenance", body)


_OF_VALUES = ("threshold curves", "rank stability", "scatter plots")
"""What makes sense only where the error of a pixel is a difference of values."""


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
    unasked = set(_OF_VALUES) if page.kind != "values" else set()
    if all(column.level == "dataset" for column in page.board.columns):
        unasked.add("scores of single samples")
    lacking = [name for name, part in parts.items() if not part and name not in unasked]
    return [f"The run did not keep, so this page does not show: {', '.join(lacking)}."] * bool(
        lacking
    )


_SECTIONS: tuple[Callable[[Page, Styles], Section | None], ...] = (
    _how,
    _board,
    forest_section,
    radar_section,
    profiles_section,
    pivot_section,
    degradation_section,
    precision_recall_section,
    curves_section,
    stability_section,
    _samples,
    _pictures,
    scatter_section,
    _failures,
    _provenance,
)
