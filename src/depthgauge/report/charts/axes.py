"""Scores along an axis of difficulty: small charts side by side, one line per method."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge.report.charts.styles import Style, back_to_front, marker, style_for
from depthgauge.report.charts.svg import (
    CHARACTER,
    Scale,
    chart,
    log_ticks,
    nice_ticks,
    path,
    shorten,
    tag,
    words,
)
from depthgauge.report.tables.numbers import show_amount

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 380.0, 44.0, 12.0, 28.0, 214.0
_FEW, _FAR, _APART = 8, 50.0, 20.0


@dataclass(frozen=True, slots=True)
class AxisLines:
    """What one chart shows."""

    title: str
    """The score and its unit."""
    x_title: str
    x: tuple[float, ...]
    """The positions of the points of every line, from easy to hard."""
    lines: Mapping[str, Sequence[float]]
    """One value per point and method; NaN leaves a gap."""
    unit: str = ""


def axis_chart(shown: AxisLines, styles: Mapping[str, Style], name: str) -> Markup:
    """The chart; the first point is on the left, regardless of its value."""
    x, places = _x_scale(shown.x)
    y = _y_scale([v for line in shown.lines.values() for v in line if math.isfinite(v)], shown)
    parts = [*_x_axis(shown, x, places), *_y_axis(shown, y)]
    for label in back_to_front(shown.lines, styles):
        style = style_for(styles, label)
        points = [
            (x(place), y(value) if _drawable(value, y) else math.nan)
            for place, value in zip(places, shown.lines[label], strict=True)
        ]
        parts.append(tag("path", d=path(points), class_=f"line {style.class_}"))
        size = 3.0 if style.place >= 0 else 1.6
        parts += [marker(px, py, style, size) for px, py in points if not math.isnan(py)]
    about = "; ".join(_about(label, line, shown) for label, line in shown.lines.items())
    title = f"{shown.title} over {shown.x_title}"
    return chart(name, title, about, (_WIDTH, _BOTTOM + 42), *parts, class_="axis")


def _drawable(value: float, y: Scale) -> bool:
    return math.isfinite(value) and (value > 0 or not y.log)


def _x_scale(values: Sequence[float]) -> tuple[Scale, Sequence[float]]:
    """The scale, and the position of each point; by its index if values are not monotonic."""
    pairs = list(itertools.pairwise(values))
    places: Sequence[float] = values
    if not all(a < b for a, b in pairs) and not all(a > b for a, b in pairs):
        places = range(len(values))
    log = min(places) > 0 and max(places) / min(places) >= _FAR
    return Scale(places[0], places[-1], _LEFT + 8, _WIDTH - _RIGHT - 4, log=log), places


def _y_scale(values: Sequence[float], shown: AxisLines) -> Scale:
    """Starts at 0 if that keeps the lines apart; logarithmic if methods differ greatly."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    middles = [statistics.median(known) for line in shown.lines.values() if (known := _known(line))]
    if middles and low > 0 and max(middles) / min(middles) >= _APART:
        return Scale(low / 1.2, high * 1.2, _BOTTOM, _TOP, log=True)
    if low >= 0 and low < 0.6 * high:
        low = 0.0
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    top = 100.0 if shown.unit == "%" and high <= 100 < high + room else high + room
    return Scale(low if low == 0 else low - room, top, _BOTTOM, _TOP)


def _known(line: Sequence[float]) -> list[float]:
    return [value for value in line if math.isfinite(value)]


def _x_axis(shown: AxisLines, x: Scale, places: Sequence[float]) -> list[Markup]:
    parts = [tag("path", d=path([(_LEFT, _BOTTOM), (_WIDTH - _RIGHT, _BOTTOM)]), class_="frame")]
    last = -math.inf
    for place, text in sorted(_x_ticks(shown, x, places), key=lambda tick: x(tick[0])):
        room = len(text) * CHARACTER / 2
        parts.append(tag("path", d=path([(x(place), _BOTTOM), (x(place), _BOTTOM + 4)]),
                         class_="frame"))  # fmt: skip
        if x(place) - room >= last:
            parts.append(words(text, x(place), _BOTTOM + 17, "tick", "middle"))
            last = x(place) + room + 6
    parts.append(words(shorten(shown.x_title, 1.15 * _WIDTH), 0, _BOTTOM + 36, "axis-title"))
    return parts


def _x_ticks(shown: AxisLines, x: Scale, places: Sequence[float]) -> list[tuple[float, str]]:
    """At the points if there are few or they are placed by index, else at round values."""
    if len(places) <= _FEW or places is not shown.x:
        return [(place, f"{v:g}") for place, v in zip(places, shown.x, strict=True)]
    low, high = sorted((x.low, x.high))
    ticks = log_ticks(low, high) if x.log else nice_ticks(low, high)
    return [(tick, f"{tick:g}") for tick in ticks]


def _y_axis(shown: AxisLines, y: Scale) -> list[Markup]:
    ticks = (log_ticks if y.log else nice_ticks)(y.low, y.high)
    parts = []
    for tick in ticks if len(ticks) > 1 else [y.low, y.high]:
        line = path([(_LEFT, y(tick)), (_WIDTH - _RIGHT, y(tick))])
        parts.append(tag("path", d=line, class_="grid"))
        parts.append(words(f"{tick:.4g}", _LEFT - 6, y(tick) + 4, "tick", "end"))
    title = f"{shown.title}{', logarithmic' if y.log else ''}"
    parts.append(words(shorten(title, _WIDTH), 0, 12, "label strong"))
    return parts


def _about(label: str, line: Sequence[float], shown: AxisLines) -> str:
    """The ends of one line in words."""
    known = [(x, v) for x, v in zip(shown.x, line, strict=True) if math.isfinite(v)]
    if not known:
        return f"{label}: no values"
    ends = [f"{show_amount(v, shown.unit)} at {x:g}" for x, v in known]
    return f"{label}: from {ends[0]} to {ends[-1]}"
