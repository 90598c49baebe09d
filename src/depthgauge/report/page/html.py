"""The report: one self-contained HTML file that needs neither network nor scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from depthgauge.io import write_text
from depthgauge.report.page.model import Page
from depthgauge.report.page.size_limit import LIMIT_BYTES, fitted
from depthgauge.report.page.templates import asset, content_hash, render
from depthgauge.report.sections import ordered_sections
from depthgauge.report.tables.leaderboard import sample_names
from depthgauge.report.words.headline import headline
from depthgauge.report.words.reading import Reading, reading_of


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with its heading."""

    id: str
    title: str
    nav: str
    """A word or two for the list at the top."""
    body: Markup


def write_report(path: Path, page: Page, *, limit: int = LIMIT_BYTES) -> None:
    """Writes the report, completely or not at all; the same page gives the same bytes.

    Args:
        path: The HTML file.
        page: What it shows.
        limit: Largest size in bytes; pictures shrink to keep it.
    """
    write_text(path, fitted(page, render_report, limit))


def render_report(page: Page) -> str:
    """The report as HTML: every section that has something to show, in the declared order."""
    sections = []
    for each in ordered_sections():
        spec, body = each.spec, each.body(page)
        if body is not None:
            title = spec.title.replace("{main}", page.board.main)
            sections.append(Section(spec.name, title, spec.link, body))
    return render_sections(
        page.title, headline(page.board), _facts(page), sections, reading_of(page)
    )


def render_sections(
    title: str,
    headline: str,
    facts: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    reading: Reading | None = None,
) -> str:
    """A whole page with what every page has: style, script, policy, and links to its parts.

    Args:
        title: Title of the document.
        headline: The result in one sentence.
        facts: Names and short texts below it.
        sections: The parts, in order.
        reading: One line of caveats, and how to read the page; None if there is nothing to say.
    """
    script = asset("report.js")
    return str(
        render(
            "report.html.j2",
            title=title,
            headline=headline,
            readings=[] if reading is None else [reading],
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
        ("date", page.provenance.date.partition("T")[0]),
        ("protocol", page.protocol_hash[:12]),
    ]
    return [(name, text) for name, text in facts if text]
