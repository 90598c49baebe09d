"""Scores by tags on the page: weather, lighting, hazards of pixels."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge._tables import show_number, show_share
from depthgauge.analysis.tagged.strata import StrataTable, Stratum, hardest
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sanitize import sortable
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.tables.heat import Cell, HeatTable, heat_of

SPEC = SectionSpec("strata", "Scores by tags", "Tags", order=75)
ABOUT = (
    "What was noted about samples (weather, lighting, hazards), and regions of pixels. A value is "
    "the mean over scenes. A sample may have several tags of a kind."
)


def body(page: Page) -> Markup | None:
    """A table for each score; None where there are no tags."""
    if not page.strata:
        return None
    texts = [ABOUT, *(note for each in page.strata for note in each.notes)]
    for table in page.strata:
        texts += [
            f"{table.score}: {label} is worst on {stratum.tag} "
            f"({show_number(stratum.values[label].value)} {table.unit}; "
            f"{show_number(table.all.values[label].value)} everywhere)."
            for label, stratum in hardest(table)
        ]
    said = [Markup('<p class="explain">{}</p>').format(text) for text in texts]
    tables = [render("heat_table.html.j2", table=_heat(table)) for table in page.strata]
    return Markup("\n").join([*said, *tables])


def _heat(table: StrataTable) -> HeatTable:
    strata = (table.all, *table.strata)
    values = [[each.values[label].value for label in table.labels] for each in strata]
    heat = heat_of(values, table.better)
    rows = [
        (
            _name(each),
            [
                Cell(show_number(v), f"{h:.2f}", value=sortable(v))
                for v, h in zip(line, strengths, strict=True)
            ],
        )
        for each, line, strengths in zip(strata, values, heat, strict=True)
    ]
    title = f"{table.score}{f' in {table.unit}' if table.unit else ''}"
    return HeatTable(title, "tag", list(table.labels), table.better, rows)


def _name(each: Stratum) -> str:
    if not each.kind:
        return "everything"
    return f"{each.kind}: {each.tag} ({each.samples}, {show_share(each.share)})"
