"""Robustness curves as a page, and as a table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.degradation import degradations
from depthgauge.analysis.robustness import Robustness
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.io import write_text
from depthgauge.report.charts.axes import AxisLines, axis_chart
from depthgauge.report.charts.radar import varied
from depthgauge.report.charts.styles import legend
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.model import Page, start_page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections import leaderboard
from depthgauge.report.sections.protocol import how_html
from depthgauge.report.tables.formats import (
    ARROWS,
    Table,
    TableCell,
    TableColumn,
    TableRow,
    to_text,
)
from depthgauge.report.tables.heat import Cell, HeatTable, heat_of
from depthgauge.report.tables.leaderboard import value_marks
from depthgauge.report.tables.numbers import show_amount

_MOST_CHARTS = 6


def robustness_text(found: Robustness) -> str:
    """The main score of every method at every level, for a terminal."""
    return to_text(robustness_table(found))


def robustness_table(found: Robustness, score_id: str | None = None) -> Table:
    """One score of every method at every level, and its largest loss.

    Args:
        found: What to show.
        score_id: Which score; the main one by default.
    """
    column = found.board.column(score_id or found.board.main)
    lines = found.lines[column.id]
    marks = [
        value_marks([line[n] for line in lines.values()], column.better)
        for n in range(len(found.levels))
    ]
    rows = []
    for k, (label, line) in enumerate(lines.items()):
        cells = [
            TableCell(show_number(value), mark=marks[n][k], fields=(value,))
            for n, value in enumerate(line)
        ]
        loss = found.largest_loss(column.id, label)
        rows.append(TableRow((TableCell(label), *cells, TableCell(show_number(loss)))))
    heads = [TableColumn(f"{level:g}", column.unit, column.better) for level in found.levels]
    protocol = found.protocol
    return Table(
        title=f"{column.id} by {_axis(found)}",
        columns=(
            TableColumn("method", align="left"),
            *heads,
            TableColumn("largest loss", column.unit, "lower"),
        ),
        rows=tuple(rows),
        notes=found.notes,
        name=f"robustness-{found.effect}-{column.id}",
        source=f"{protocol.id} v{protocol.version}, protocol {protocol.hash[:12]} and others",
    )


def write_robustness_page(path: Path, found: Robustness) -> None:
    """Writes the page, completely or not at all; the same runs give the same bytes."""
    write_text(path, render_robustness(found))


def render_robustness(found: Robustness) -> str:
    """The page as HTML."""
    title = f"{found.protocol.title or found.protocol.id} under {found.effect}"
    families = degradations(found.board, found.protocol)
    page = start_page(found.protocol, found.board, title=title, degradations=families)
    name = f"Leaderboard at {found.effect} {found.levels[found.base]:g}"
    sections = [
        Section("robustness", "Scores by level", "Curves", _curves(found, page)),
        Section("leaderboard", name, "Leaderboard", leaderboard.body(page)),
        Section("how", "What was measured, and how", "Protocol", how_html(page.about, page.how)),
        Section("provenance", "Where this comes from", "Provenance", _provenance(found)),
    ]
    return render_sections(title, robustness_headline(found), _facts(found), sections)


def robustness_headline(found: Robustness) -> str:
    """Which method leads by the main score at the base level, and which at the strongest one."""
    base = found.levels[found.base]
    last = max(range(len(found.levels)), key=lambda n: abs(found.levels[n] - base))
    before, after = _leader(found, found.base), _leader(found, last)
    if not before or not after:
        return f"No method has a complete {found.board.main} at every level of {found.effect}."
    start, end = (f"{found.effect} {found.levels[n]:g}" for n in (found.base, last))
    score = found.board.main
    if before[0] == after[0]:
        return f"{before[0]} is best at {start} and at {end}: {score} {before[1]} and {after[1]}."
    return (
        f"At {start}, {before[0]} is best, with a {score} of {before[1]}; at {end} it is "
        f"{after[0]}, with {after[1]}."
    )


def _leader(found: Robustness, level: int) -> tuple[str, str] | None:
    """The best method at a level, and its main score in words."""
    column = found.board.column(found.board.main)
    values = {label: line[level] for label, line in found.lines[column.id].items()}
    known = {label: value for label, value in values.items() if not math.isnan(value)}
    if not known:
        return None
    best = min(known, key=lambda label: rank_key(known[label], column.better))
    return best, show_amount(known[best], column.unit)


def _facts(found: Robustness) -> list[tuple[str, str]]:
    protocol = found.protocol
    facts = [
        ("benchmark", f"{protocol.id}, version {protocol.version}"),
        ("effect", found.effect),
        ("levels", f"{', '.join(f'{level:g}' for level in found.levels)} {found.unit}".strip()),
        ("views", found.views),
        ("besides", found.beside),
        ("methods", str(len(found.board.rows))),
        ("protocol without it", protocol.hash[:12] if not protocol.perturb else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _provenance(found: Robustness) -> Markup:
    """The protocol's hash at every level."""
    hashes = [
        (f"{found.effect} {level:g}", digest)
        for level, digest in zip(found.levels, found.hashes, strict=True)
    ]
    return render(
        "provenance.html.j2",
        notes=[],
        commands=[],
        lists=[("Protocols (SHA-256)", hashes)],
        folded=[],
        left_out=[],
    )


def _axis(found: Robustness) -> str:
    return f"{found.effect} in {found.unit}" if found.unit else found.effect


def shown_scores(page: Page) -> list[str]:
    """The scores that are drawn: of every metric one, then the main one on other regions.

    Density is included: a method that gives up pixels seems to improve in the others.
    """
    main = page.board.column(page.board.main)
    density = [column.id for column in page.columns if column.metric == "density"][:1]
    shown = varied(page.columns, main)[: _MOST_CHARTS - len(density)]
    return list(dict.fromkeys([*shown, *density]))


def _curves(found: Robustness, page: Page) -> Markup:
    styles, shown = page.styles, shown_scores(page)
    kinds = [("Values at every level", False), ("Losses at every level", True)]
    about = (
        f"Every method on the same images with increasing damage. A loss is how much worse a "
        f"score is than at {found.effect} {found.levels[found.base]:g}, in the score's unit."
    )
    return render(
        "curves.html.j2",
        texts=[about, *found.notes],
        legend=legend([row.label for row in found.board.rows], styles),
        charts=[
            axis_chart(_lines(found, name), styles, f"level{k}") for k, name in enumerate(shown)
        ],
        folded=[
            (title, [], [_html(_table(found, name, losses)) for name in shown])
            for title, losses in kinds
        ],
    )


def _lines(found: Robustness, score_id: str) -> AxisLines:
    unit = found.board.column(score_id).unit
    return AxisLines(_score(found, score_id), _axis(found), found.levels, found.lines[score_id],
                     unit)  # fmt: skip


def _score(found: Robustness, score_id: str) -> str:
    column = found.board.column(score_id)
    unit = f" in {column.unit}" if column.unit else ""
    return f"{column.id}{unit} {ARROWS.get(column.better, '')}".strip()


def _html(table: HeatTable) -> Markup:
    return render("heat_table.html.j2", table=table)


def _table(found: Robustness, score_id: str, losses: bool) -> HeatTable:
    lines: dict[str, Sequence[float]] = {
        label: found.loss(score_id, label) if losses else line
        for label, line in found.lines[score_id].items()
    }
    better = "lower" if losses else found.board.column(score_id).better
    heats = heat_of(list(lines.values()), better)
    rows = [
        (
            label,
            [
                Cell(show_number(value), f"{strength:.2f}", value=sortable(value))
                for value, strength in zip(line, strengths, strict=True)
            ],
        )
        for (label, line), strengths in zip(lines.items(), heats, strict=True)
    ]
    what = f"Loss of {_score(found, score_id)}" if losses else _score(found, score_id)
    heads = [f"{level:g}" for level in found.levels]
    return HeatTable(f"{what} by {_axis(found)}", "method", heads, better, rows)
