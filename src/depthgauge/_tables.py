"""Small tables for people: in a terminal, in Markdown, in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

Columns = Sequence[tuple[str, str]]
"""The heading of each column, and whether it is aligned `left` or `right`."""
Rows = Sequence[Sequence[str]]


def show_number(value: float, digits: int | None = None) -> str:
    """A number for a table: fixed decimals, so that columns line up; more for small ones.

    Args:
        value: The number.
        digits: How many decimals; by default three, and more for small numbers.

    >>> show_number(3.14159265), show_number(0.000123), show_number(12345.678, 1)
    ('3.142', '0.0001230', '12345.7')
    """
    if not math.isfinite(value):
        return "-" if math.isnan(value) else str(value)
    if digits is not None:
        return f"{value:.{digits}f}"
    if value == 0 or abs(value) >= 0.1:
        return f"{value:.3f}"
    decimals = 3 - math.floor(math.log10(abs(value)))
    return f"{value:.{decimals}f}" if decimals <= 9 else f"{value:.3e}"


def show_share(share: float) -> str:
    """A share of pixels in percent."""
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def one_line(text: str) -> str:
    r"""Text that a terminal shows and does not act upon.

    >>> one_line("two\nlines, \x1b[31mred")
    'two\\nlines, \\x1b[31mred'
    """
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def text_table(columns: Columns, rows: Rows) -> str:
    """Lines of text: nothing is folded, and no line ends in spaces.

    >>> print(text_table([("score", "left"), ("value", "right")], [["mae", "1.5"]]))
    score  value
    -----  -----
    mae      1.5
    """
    cells = [[one_line(cell) for cell in row] for row in _with_headings(columns, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(_text_line(columns, widths, row) for row in cells)


def _text_line(columns: Columns, widths: Sequence[int], row: Sequence[str]) -> str:
    padded = (
        text.rjust(width) if justify == "right" else text.ljust(width)
        for text, width, (_, justify) in zip(row, widths, columns, strict=True)
    )
    return "  ".join(padded).rstrip()


def markdown_table(columns: Columns, rows: Rows) -> str:
    r"""The same as Markdown.

    >>> print(markdown_table([("score", "left"), ("value", "right")], [["mae|x", "1.5"]]))
    | score | value |
    | :-- | --: |
    | mae\|x | 1.5 |
    """
    heading, *lines = (
        _pipes(one_line(cell).replace("|", r"\|") for cell in row)
        for row in _with_headings(columns, rows)
    )
    signs = _pipes({"left": ":--", "right": "--:"}[justify] for _, justify in columns)
    return "\n".join([heading, signs, *lines])


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def html_table(columns: Columns, rows: Rows, caption: str = "") -> str:
    """The same as HTML for a notebook; all text is escaped.

    >>> html_table([("score", "left")], [["a & b"]])
    '<table><thead><tr><th style="text-align:left">score</th></tr></thead><tbody><tr><td
    style="text-align:left">a &amp; b</td></tr></tbody></table>'
    """
    from html import escape

    def line(tag: str, row: Sequence[str]) -> str:
        cells = (
            f'<{tag} style="text-align:{justify}">{escape(cell)}</{tag}>'
            for cell, (_, justify) in zip(row, columns, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    head = line("th", [heading for heading, _ in columns])
    body = "".join(line("td", row) for row in rows)
    below = f'<caption style="caption-side:bottom">{escape(caption)}</caption>'
    return f"<table>{below if caption else ''}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _with_headings(columns: Columns, rows: Rows) -> Iterator[Sequence[str]]:
    yield [heading for heading, _ in columns]
    yield from rows
