"""One table, four formats: text, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from depthgauge.report import sanitize

Mark = Literal["", "best", "second", "incomplete"]
Field = str | float | int | None

ARROWS = {"lower": "\u2193", "higher": "\u2191", "zero": "\u21920"}
"""Which way is better."""
_LATEX_ARROWS = {"lower": r"$\downarrow$", "higher": r"$\uparrow$", "zero": r"$\to 0$"}
_LEGEND = {
    "text": "* best, + second best",
    "markdown": "**Bold**: best, *italic*: second best",
    "latex": "Bold: best, underlined: second best",
}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """The head of a column."""

    heading: str
    unit: str = ""
    better: str = ""
    """`lower`, `higher`, `zero`, or empty if no direction is better."""
    align: Literal["left", "right"] = "right"
    fields: tuple[str, ...] = ()
    """Headings of its columns in CSV; empty: one column with the heading."""
    latex: str = ""
    """The heading in LaTeX, as papers write it; empty: the plain one."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell: rounded for people in `text`, in full precision for programs in `fields`."""

    text: str
    detail: str = ""
    """Shown after the text in lighter type: an interval, a density."""
    mark: Mark = ""
    fields: tuple[Field, ...] = ()
    """One for each of the column's fields; empty: the text."""
    latex: str = ""
    """The text in LaTeX, as papers write it; empty: the plain one."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line of a table."""

    cells: tuple[TableCell, ...]
    apart: bool = False
    """Shown below a rule, in slanted type: an oracle."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, independent of any format."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    """Sentences below it."""
    name: str = "table"
    """For a label that refers to it."""
    source: str = ""
    """Where the numbers come from: benchmark, version, protocol hash."""
    caption: str = ""
    """In LaTeX, in place of the title and the legend."""


def to_text(table: Table) -> str:
    """Columns that line up in a terminal."""
    marks = {"best": "*", "second": "+"}
    marked = _marked_columns(table)

    def shown(column: int, cell: TableCell) -> str:
        text = sanitize.clean(f"{cell.text} {cell.detail}".strip())
        return text + (marks.get(cell.mark, " ") if marked[column] else "")

    head = [sanitize.clean(_heading(column)) for column in table.columns]
    head = [text + " " * mark for text, mark in zip(head, marked, strict=True)]
    body = [[shown(i, cell) for i, cell in enumerate(row.cells)] for row in table.rows]
    widths = [max(map(sanitize.width, column)) for column in zip(head, *body, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    lines = [sanitize.clean(table.title)] if table.title else []
    lines += [_line(head, widths, table.columns), rule]
    for row, cells, before in zip(table.rows, body, (None, *table.rows), strict=False):
        if row.apart and before is not None and not before.apart:
            lines.append(rule)
        lines.append(_line(cells, widths, table.columns))
    lines += [sanitize.clean(note) for note in (*_notes(table, "text"), table.source) if note]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """A GitHub-flavoured Markdown table; the best is bold, the second in italics."""
    around = {"best": "**", "second": "*"}

    def shown(cell: TableCell, apart: bool) -> str:
        text, detail = sanitize.markdown(cell.text), sanitize.markdown(cell.detail)
        sign = around.get(cell.mark, "") if not apart else ""
        return f"{sign}{text}{sign} {detail}".strip()

    lines = [f"**{sanitize.markdown(table.title)}**", ""] if table.title else []
    lines.append(_pipes(sanitize.markdown(_heading(column)) for column in table.columns))
    lines.append(_pipes({"left": ":--", "right": "--:"}[c.align] for c in table.columns))
    lines += [_pipes(shown(cell, row.apart) for cell in row.cells) for row in table.rows]
    if any(_marked_columns(table)):
        lines += ["", _LEGEND["markdown"] + "."]
    for note in filter(None, (*table.notes, table.source)):
        lines += ["", sanitize.markdown(note)]
    return "\n".join(lines) + "\n"


def to_csv(table: Table, *, foreign: bool = False) -> str:
    """RFC 4180 with one header row and full precision; missing numbers are empty fields.

    Args:
        table: What to write.
        foreign: Names come from strangers: those that a spreadsheet would run as a formula get an
            apostrophe.
    """
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    heads = [name for column in table.columns for name in column.fields or [column.heading]]
    writer.writerow([_csv(name, foreign) for name in heads])
    for row in table.rows:
        fields = [field for cell in row.cells for field in cell.fields or [cell.text]]
        writer.writerow([_csv(field, foreign) for field in fields])
    return target.getvalue()


def to_latex(table: Table) -> str:
    """A complete `table` environment in booktabs style, ready to paste.

    The caption is one line; notes stand above it as comments.
    """
    lines = ["% needs \\usepackage{booktabs}"]
    lines += [f"% {sanitize.clean(note)}" for note in (table.source, *table.notes) if note]
    aligns = "".join({"left": "l", "right": "r"}[column.align] for column in table.columns)
    lines += [
        r"\begin{table}[t]",
        r"  \centering",
        f"  \\caption{{{_caption(table)}}}",
        f"  \\label{{tab:{re.sub('[^a-z0-9]+', '-', table.name.lower()).strip('-')}}}",
        f"  \\begin{{tabular}}{{{aligns}}}",
        r"    \toprule",
        f"    {' & '.join(map(_latex_heading, table.columns))} \\\\",
        r"    \midrule",
    ]
    for row, before in zip(table.rows, (None, *table.rows), strict=False):
        if row.apart and before is not None and not before.apart:
            lines.append(r"    \midrule")
        lines.append(f"    {' & '.join(_latex_cell(cell, row.apart) for cell in row.cells)} \\\\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _heading(column: TableColumn) -> str:
    unit = f"[{column.unit}]" if column.unit else ""
    return " ".join(part for part in (column.heading, unit, ARROWS.get(column.better, "")) if part)


def _csv(field: Field, foreign: bool) -> str:
    if field is None or (isinstance(field, float) and math.isnan(field)):
        return ""
    if not isinstance(field, str):
        return repr(field)
    return sanitize.spreadsheet(field) if foreign else sanitize.clean(field)


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[TableColumn]) -> str:
    padded = []
    for text, width, column in zip(cells, widths, columns, strict=True):
        space = " " * (width - sanitize.width(text))
        padded.append(text + space if column.align == "left" else space + text)
    return "  ".join(padded).rstrip()


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _marked_columns(table: Table) -> list[bool]:
    """Which columns have marked cells, so that all their cells leave room for a mark."""
    return [
        any(row.cells[i].mark in ("best", "second") for row in table.rows)
        for i in range(len(table.columns))
    ]


def _notes(table: Table, kind: str) -> list[str]:
    legend = [f"{_LEGEND[kind]}."] if any(_marked_columns(table)) else []
    return [*legend, *table.notes]


def _caption(table: Table) -> str:
    if table.caption:
        return _latex_sentence(table.caption)
    legend = _LEGEND["latex"] if any(_marked_columns(table)) else ""
    return " ".join(filter(None, map(_latex_sentence, (table.title, legend))))


def _latex_sentence(text: str) -> str:
    """A sentence with a capital and a full stop, for a caption."""
    text = sanitize.latex(text.strip())
    return text if not text or text[-1] in ".!?" else f"{text}."


def _latex_heading(column: TableColumn) -> str:
    unit = f"{{[}}{sanitize.latex(column.unit)}]" if column.unit else ""
    arrow = _LATEX_ARROWS.get(column.better, "")
    heading = column.latex or sanitize.latex(column.heading)
    return " ".join(part for part in (heading, unit, arrow) if part)


def _latex_cell(cell: TableCell, apart: bool) -> str:
    text = cell.latex or sanitize.latex(cell.text)
    if apart:
        text = rf"\textit{{{text}}}"
    elif cell.mark == "best":
        text = rf"\textbf{{{text}}}"
    elif cell.mark == "second":
        text = rf"\underline{{{text}}}"
    return rf"{text} {{\scriptsize {sanitize.latex(cell.detail)}}}" if cell.detail else text
