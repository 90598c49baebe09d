"""Scores by tags as a table in any format."""

from __future__ import annotations

from depthgauge._tables import show_number, show_share
from depthgauge.analysis.strata import Value
from depthgauge.analysis.tagged.strata import StrataTable, Stratum
from depthgauge.report.tables.formats import Table, TableCell, TableColumn, TableRow
from depthgauge.report.tables.leaderboard import PLAIN, TableStyle

_FIELDS = ("", " half width of 95 % interval", " samples")


def strata_text_table(table: StrataTable, source: str = "", style: TableStyle = PLAIN) -> Table:
    """Rows are strata, columns are methods."""
    columns = (
        TableColumn("kind", align="left"),
        TableColumn("tag", align="left"),
        TableColumn("samples"),
        TableColumn("share"),
        *(
            TableColumn(label, table.unit, table.better, fields=tuple(label + f for f in _FIELDS))
            for label in table.labels
        ),
    )
    rows = [_row(table, each, style) for each in (table.all, *table.strata)]
    notes = (
        "A value is the mean over scenes; +- is half its 95 % interval (Student's t over scenes).",
        "Share: of the samples, or of the pixels with truth.",
        *table.notes,
    )
    title = f"{table.score} by tags"
    return Table(title, columns, tuple(rows), notes, "strata", source, style.caption)


def _row(table: StrataTable, each: Stratum, style: TableStyle) -> TableRow:
    cells = [
        TableCell(each.kind or "all"),
        TableCell(each.tag),
        TableCell(str(each.samples), fields=(each.samples,)),
        TableCell(show_share(each.share), fields=(each.share,)),
        *(_cell(each.values[label], style) for label in table.labels),
    ]
    return TableRow(tuple(cells))


def _cell(value: Value, style: TableStyle) -> TableCell:
    fields = (value.value, value.half, value.used)
    if value.dash:
        return TableCell("-", value.dash, fields=fields)
    known = value.half == value.half and style.intervals
    detail = f"+- {show_number(value.half, style.digits)}" if known else ""
    return TableCell(show_number(value.value, style.digits), detail, fields=fields)
