"""Several scores of several methods at once: the centre is perfect, small shapes are good."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.boards.board import Board, Column
from depthgauge.analysis.degradation import Degradation, table_columns
from depthgauge.report.charts.styles import HIGHLIGHTED, Style, back_to_front, marker, style_for
from depthgauge.report.charts.svg import chart, path, room_for, shorten, tag, words
from depthgauge.report.page.model import Radar, RadarAxis
from depthgauge.report.tables.numbers import show_amount

NORMALISATION = (
    "Each axis starts in the centre at the perfect value: 0 for errors, 100 % if a higher "
    "percentage is better, otherwise the best method. Its outer ring is at the worst method, or "
    "at twice the median method if that is nearer; hollow marks on the ring are beyond it. "
    "So small shapes are good, and an axis shows by what factor methods differ."
)
_WIDTH, _HEIGHT, _RADIUS = 900.0, 430.0, 158.0
_CENTRE = (365.0, _HEIGHT / 2)


def radar_of(
    board: Board,
    scores: Sequence[str] | None = None,
    most: int = 12,
    degradations: Sequence[Degradation] = (),
) -> Radar:
    """A radar of a board's scores.

    Args:
        board: Where the values come from.
        scores: Score ids, one per axis; by default the main score, one of every other
            metric, then the main metric on other regions.
        most: How many axes at most.
        degradations: Families of scores; long ones get no axes unless `scores` names them.
    """
    if scores is None:
        shown = [board.column(name) for name in table_columns(board, degradations)]
        scores = varied(shown, board.column(board.main))[:most]
    columns = [board.column(name) for name in scores]
    return Radar(
        tuple(RadarAxis(column.id, column.unit, column.better) for column in columns),
        {
            row.label: tuple(
                row.cells[c.id].value if c.id in row.cells else float("nan") for c in columns
            )
            for row in board.rows
            if not row.oracle
        },
    )


def varied(columns: Sequence[Column], main: Column) -> list[str]:
    """The main score, one of every other metric, then the main metric on other regions.

    Of several scores of one metric, the one on the main score's region is used, else the first.
    Density alone is not a strength.
    """
    first = {_name(main): main.id}
    for column in sorted(columns, key=lambda c: c.region != main.region):
        if _name(column) != "density":
            first.setdefault(_name(column), column.id)
    others = [column.id for column in columns if first.get(_name(column)) == column.id]
    kin = [column.id for column in columns if column.metric == main.metric]
    return list(dict.fromkeys([main.id, *others, *kin]))


def _name(column: Column) -> str:
    """The metric without its parameters."""
    return column.metric.partition(":")[0]


@dataclass(frozen=True, slots=True)
class AxisScale:
    """Where an axis begins and ends, in the score's own unit."""

    perfect: float
    ring: float

    def radius(self, value: float) -> float:
        """0 in the centre, 1 on the ring, more beyond it; NaN if there is no value."""
        reach, distance = abs(self.ring - self.perfect), abs(value - self.perfect)
        if reach:
            return distance / reach
        return math.nan if math.isnan(value) else 0.0 if distance == 0 else math.inf


def axis_scale(axis: RadarAxis, values: Sequence[float]) -> AxisScale:
    """The scale of one axis, as `NORMALISATION` says.

    >>> axis_scale(RadarAxis("mae", "px"), [1.0, 2.0, 30.0])
    AxisScale(perfect=0.0, ring=4.0)
    >>> axis_scale(RadarAxis("delta", "%", "higher"), [90.0, 80.0, 85.0])
    AxisScale(perfect=100.0, ring=80.0)
    """
    known = [value for value in values if math.isfinite(value)]
    perfect = _perfect(axis, known)
    distances = [abs(value - perfect) for value in known]
    worst = max(distances, default=0.0)
    median = statistics.median(distances) if distances else 0.0
    reach = min(worst, 2 * median) if median else worst
    return AxisScale(perfect, perfect - reach if axis.better == "higher" else perfect + reach)


def _perfect(axis: RadarAxis, known: Sequence[float]) -> float:
    if axis.better == "higher":
        top = max(known, default=0.0)
        return 100.0 if axis.unit == "%" and top <= 100 else top
    lowest = min(known, default=0.0)
    return lowest if axis.better == "lower" and lowest < 0 else 0.0


def radar_chart(radar: Radar, styles: Mapping[str, Style], name: str = "radar-chart") -> Markup:
    """A radar with one axis per score; bars if there are fewer than three."""
    if len(radar.axes) < 3:
        return _bars(radar, styles, name)
    scales = scales_of(radar)
    parts = [*_rings(len(radar.axes)), *_axes(radar, scales)]
    shown = [label for label in radar.values if style_for(styles, label).place >= 0]
    shown = shown or list(radar.values)[:HIGHLIGHTED]
    grey = [label for label in radar.values if label not in shown]
    for label in [*grey, *back_to_front(shown, styles)]:
        parts += _shape(radar, scales, label, style_for(styles, label))
    parts += _legend(shown, len(grey), styles)
    return chart(name, "Scores of every method", _about(radar), (_WIDTH, _HEIGHT), *parts)


def scales_of(radar: Radar) -> list[AxisScale]:
    """The scale of every axis."""
    return [
        axis_scale(axis, [values[i] for values in radar.values.values()])
        for i, axis in enumerate(radar.axes)
    ]


def _point(i: int, count: int, radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * i / count - math.pi / 2
    x, y = _CENTRE
    return x + _RADIUS * radius * math.cos(angle), y + _RADIUS * radius * math.sin(angle)


def _rings(count: int) -> list[Markup]:
    return [
        tag(
            "path",
            d=path([_point(i, count, share) for i in range(count)], closed=True),
            class_="grid" if share < 1 else "frame",
        )
        for share in (0.25, 0.5, 0.75, 1.0)
    ]


def _axes(radar: Radar, scales: Sequence[AxisScale]) -> list[Markup]:
    parts = []
    for i, (axis, scale) in enumerate(zip(radar.axes, scales, strict=True)):
        count = len(radar.axes)
        parts.append(tag("path", d=path([_CENTRE, _point(i, count, 1)]), class_="grid"))
        x, y = _point(i, count, 1.1)
        side = "middle" if abs(x - _CENTRE[0]) < 8 else "start" if x > _CENTRE[0] else "end"
        y += 4 - (10 if y < _CENTRE[1] - 60 else -2 if y > _CENTRE[1] + 60 else 5)
        if side == "middle":  # out of the way of its neighbours, which begin beside it
            y += math.copysign(9, y - _CENTRE[1])
        parts.append(
            tag(
                "text",
                shorten(axis.name, 280 if side == "middle" else 185),
                x=x,
                y=y,
                class_="label",
                text_anchor=side,
            )
        )
        ring = f"ring at {show_amount(scale.ring, axis.unit)}"
        parts.append(words(ring, x, y + 13, "tick", side))
    return parts


def _shape(radar: Radar, scales: Sequence[AxisScale], label: str, style: Style) -> list[Markup]:
    """The outline of one method; an axis without a value leaves a gap."""
    radii = [scale.radius(value) for scale, value in zip(scales, radar.values[label], strict=True)]
    count = len(radii)
    points = [_point(i, count, min(radius, 1.0)) for i, radius in enumerate(radii)]
    whole = not any(math.isnan(radius) for radius in radii)
    outline = path(points if whole else [*points, points[0]], closed=whole)
    parts = [tag("path", d=outline, class_=f"line {style.class_}")]
    if style.place >= 0:
        parts += [
            marker(x, y, style, 3.2, hollow=radius > 1 + 1e-9)
            for (x, y), radius in zip(points, radii, strict=True)
            if not math.isnan(radius)
        ]
    return parts


def _legend(shown: Sequence[str], grey: int, styles: Mapping[str, Style]) -> list[Markup]:
    x = _WIDTH - 128
    y = _CENTRE[1] - 11 * len(shown)
    parts = []
    for k, label in enumerate(shown):
        style, height = style_for(styles, label), y + 22 * k
        line = path([(x - 34, height), (x - 10, height)])
        parts.append(tag("path", d=line, class_=f"line {style.class_}"))
        parts.append(marker(x - 22, height, style, 3.6))
        parts.append(words(shorten(label, 128), x, height + 4, "label"))
    if grey:
        text = f"grey: {grey} more"
        parts.append(words(text, x, y + 22 * len(shown) + 4, "tick"))
    return parts


def _about(radar: Radar) -> str:
    rows = []
    for label, values in radar.values.items():
        texts = [
            f"{axis.name} {show_amount(value, axis.unit)}"
            for axis, value in zip(radar.axes, values, strict=True)
        ]
        rows.append(f"{label}: {', '.join(texts)}")
    return "; ".join(rows)


def _bars(radar: Radar, styles: Mapping[str, Style], name: str) -> Markup:
    """One group of bars for each axis; their length is the value itself."""
    left = room_for(list(radar.values)) + 14
    room = _WIDTH - left - 110
    parts, y = [], 0.0
    for i, axis in enumerate(radar.axes):
        y += 22
        parts.append(words(f"{axis.name} [{axis.unit}]".replace(" []", ""), 0, y, "axis-title"))
        sizes = [abs(values[i]) for values in radar.values.values() if math.isfinite(values[i])]
        longest = max(sizes, default=0.0) or 1.0
        for label, values in radar.values.items():
            y += 22
            style, value = style_for(styles, label), values[i]
            parts.append(words(shorten(label), left - 14, y, "label", "end"))
            length = room * abs(value) / longest if math.isfinite(value) else 0.0
            parts.append(
                tag("rect", x=left, y=y - 11, width=length, height=13, class_=f"bar {style.class_}")
            )
            parts.append(words(show_number(value), left + length + 8, y, "number"))
    return chart(name, "Scores of every method", _about(radar), (_WIDTH, y + 12), *parts)
