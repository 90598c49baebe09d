"""Which method has which colour, dash and marker: the same in every chart of a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge.analysis.boards.board import Board
from depthgauge.report.charts.svg import path, tag

HIGHLIGHTED = 8
"""More colours cannot be distinguished; further methods are grey."""
_SIDES = {0: 0, 1: 4, 2: 3, 3: 4, 4: 5, 5: 3, 6: 6, 7: 4}
_TURNS = {1: 45.0, 2: -90.0, 3: 0.0, 4: -90.0, 5: 90.0, 6: 0.0, 7: 45.0}


@dataclass(frozen=True, slots=True)
class Style:
    """How a method is drawn; the style sheet has the colours and dashes of each class."""

    class_: str
    """`s0` ... `s7`, `rest` or `oracle`."""
    place: int = -1
    """0..7 for the highlighted ones."""


def styles_of(board: Board) -> dict[str, Style]:
    """The first methods of the board in colours, the others grey."""
    styles: dict[str, Style] = {}
    for row in board.rows:
        place = len(styles)
        if row.oracle:
            styles[row.label] = Style("oracle")
        else:
            styles[row.label] = Style(f"s{place}", place) if place < HIGHLIGHTED else Style("rest")
    return styles


def style_for(styles: Mapping[str, Style], label: str) -> Style:
    """The style of a label, grey where the board does not have it."""
    return styles.get(label, Style("rest"))


def back_to_front(labels: Iterable[str], styles: Mapping[str, Style]) -> list[str]:
    """In the order of drawing: grey first, the best method last."""
    return sorted(labels, key=lambda label: -(style_for(styles, label).place % 100))


def marker(x: float, y: float, style: Style, size: float = 4.0, hollow: bool = False) -> Markup:
    """A circle, square, triangle ... so that colour is not the only difference."""
    class_ = f"mark {style.class_}{' hollow' if hollow else ''}"
    sides = _SIDES.get(style.place, 0)
    if not sides:
        return tag("circle", cx=x, cy=y, r=size, class_=class_)
    turn = math.radians(_TURNS[style.place])
    radius = size * (1.15 if sides > 3 else 1.3)
    corners = [
        (
            x + radius * math.cos(turn + 2 * math.pi * k / sides),
            y + radius * math.sin(turn + 2 * math.pi * k / sides),
        )
        for k in range(sides)
    ]
    return tag("path", d=path(corners, closed=True), class_=class_)


def swatch(style: Style) -> Markup:
    """The method's mark as it is in the charts."""
    return tag(
        "svg",
        marker(6, 6, style, 4.2),
        viewBox="0 0 12 12",
        width=12,
        height=12,
        class_="swatch",
        aria_hidden="true",
    )


def legend(labels: Sequence[str], styles: Mapping[str, Style]) -> list[tuple[Markup, str]]:
    """A piece of each method's line with its name; grey methods share one entry."""
    coloured = [label for label in labels if style_for(styles, label).place >= 0][:HIGHLIGHTED]
    grey = len(labels) - len(coloured)
    entries = [(_piece(style_for(styles, label)), label) for label in coloured]
    return [*entries, (_piece(Style("rest")), f"{grey} more")] if grey else entries


def _piece(style: Style) -> Markup:
    line = tag("path", d=path([(0, 6), (28, 6)]), class_=f"line {style.class_}")
    mark = [marker(14, 6, style, 3.4)] if style.place >= 0 else []
    return tag(
        "svg",
        line,
        *mark,
        viewBox="0 0 28 12",
        width=28,
        height=12,
        class_="swatch",
        aria_hidden="true",
    )
