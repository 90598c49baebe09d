"""Pivots as text, Markdown, CSV and LaTeX: plain tables plus headings over groups of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from depthgauge.report import sanitize
from depthgauge.report.tables.formats import (
    Table,
    TableCell,
    TableColumn,
    TableRow,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from depthgauge.report.tables.paper_names import region_name
from depthgauge.report.tables.pivot import INPUT_HEADING, Pivot

Format = Literal["text", "markdown", "csv", "latex"]


def render_pivots(found: Sequence[Pivot], kind: Format) -> str:
    """All tables, one below the other; in CSV they are a single table."""
    if kind == "csv":
        return to_csv(_together(found))
    render = {"text": _to_text, "markdown": _to_markdown, "latex": _to_latex}[kind]
    return "\n".join(render(pivot) for pivot in found)


def _to_text(pivot: Pivot) -> str:
    text = to_text(pivot.table)
    if not pivot.groups:
        return text
    title, head, rule, *rest = text.split("\n")
    widths = [len(part) for part in rule.split("  ")]
    return "\n".join([title, _group_line(pivot.groups, widths), head, rule, *rest])


def _group_line(groups: Sequence[tuple[str, int]], widths: Sequence[int]) -> str:
    """Each heading in the middle of a line over its columns."""
    parts, start = [], 0
    for name, span in groups:
        room = sum(widths[start : start + span]) + 2 * (span - 1)
        parts.append(_centred(sanitize.clean(name), room))
        start += span
    return "  ".join(parts).rstrip()


def _centred(name: str, room: int) -> str:
    if not name:
        return " " * room
    while name and sanitize.width(name) > room:
        name = name[:-1]
    spare = room - sanitize.width(name)
    if spare < 4:
        return name + " " * spare
    before = (spare - 2) // 2
    return "-" * before + f" {name} " + "-" * (spare - 2 - before)


def _to_markdown(pivot: Pivot) -> str:
    """Markdown has no cell over several columns, so each heading says all."""
    if not pivot.groups:
        return to_markdown(pivot.table)
    names = [name for name, span in pivot.groups for _ in range(span)]
    heads = tuple(
        replace(column, heading=f"{name}, {column.heading}" if name else column.heading)
        if pivot.in_words
        else _with_id(column)
        for name, column in zip(names, pivot.table.columns, strict=True)
    )
    return to_markdown(replace(pivot.table, columns=heads))


def _with_id(column: TableColumn) -> TableColumn:
    return replace(column, heading=column.fields[0]) if column.fields else column


def _to_latex(pivot: Pivot) -> str:
    text = to_latex(pivot.table)
    if not pivot.groups:
        return text
    cells, rules, start = [], [], 1
    for name, span in pivot.groups:
        if name:
            cells.append(rf"\multicolumn{{{span}}}{{c}}{{{region_name(name)}}}")
            rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        else:
            cells += [""] * span
        start += span
    lines = f"    {' & '.join(cells)} \\\\\n    {' '.join(rules)}"
    return text.replace("    \\toprule\n", f"    \\toprule\n{lines}\n", 1)


def _together(found: Sequence[Pivot]) -> Table:
    """One table; if each belongs to a method, a first column names the method."""
    if not any(pivot.method for pivot in found):
        return found[0].table
    heads = (TableColumn("method"), TableColumn(INPUT_HEADING), *found[0].table.columns)
    rows = tuple(
        TableRow((TableCell(pivot.method), TableCell(pivot.resolution), *row.cells), row.apart)
        for pivot in found
        for row in pivot.table.rows
    )
    return replace(found[0].table, columns=heads, rows=rows)
