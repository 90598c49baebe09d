"""Psychometric curves along one axis: failures of bins, the fitted curves, and where 50 % fail."""

from __future__ import annotations

import math
from collections.abc import Mapping

from markupsafe import Markup

from depthgauge.analysis.difficulty.axes import AxisDifficulty, Difficulty
from depthgauge.report.charts.styles import Style, back_to_front, marker, style_for
from depthgauge.report.charts.svg import CHARACTER, Scale, chart, path, shorten, tag, words
from depthgauge.report.tables.difficulty import in_words

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 380.0, 44.0, 14.0, 28.0, 214.0
_BAR, _BARS = 5.0, 8
"""Distance of the bars of intervals, and how many there are room for."""


def psychometric_chart(found: AxisDifficulty, styles: Mapping[str, Style], name: str) -> Markup:
    """The chart; difficulty grows to the right."""
    count = len(found.axis.bins)
    x = Scale(0.5, count + 0.5, _LEFT, _WIDTH - _RIGHT)
    y = Scale(0.0, 100.0, _BOTTOM, _TOP)
    parts = [*_x_axis(found, x), *_y_axis(found, y)]
    order = back_to_front(found.methods, styles)
    for label in order:
        curve, style = found.methods[label].curve, style_for(styles, label)
        line = [(x(at), y(100 * rate)) for at, rate in zip(curve.places, curve.rates, strict=True)]
        parts.append(tag("path", d=path(line), class_=f"line {style.class_}"))
        parts += [
            marker(x(k), y(value), style, 1.8)
            for k, value in enumerate(found.axis.lines[label], start=1)
            if math.isfinite(value)
        ]
    shown = [label for label in order if found.methods[label].curve.reaches][-_BARS:]
    first = y(50.0) - _BAR * (len(shown) - 1) / 2
    for k, label in enumerate(shown):
        parts += _bar(found.methods[label], style_for(styles, label), x, first + k * _BAR)
    about = "; ".join(f"{label}: {in_words(found, label)}" for label in found.methods)
    title = f"Failures over {found.axis.label}"
    return chart(name, title, about, (_WIDTH, _BOTTOM + 42), *parts, class_="axis")


def _bar(found: Difficulty, style: Style, x: Scale, y: float) -> list[Markup]:
    """The interval of the difficulty, open ends up to the border, and its place."""
    low, high = (min(max(end, x.low), x.high) for end in (found.curve.low, found.curve.high))
    bar = tag("path", d=path([(x(low), y), (x(high), y)]), class_=f"interval {style.class_}")
    return [bar, marker(x(found.curve.difficulty), y, style, 4.0)]


def _x_axis(found: AxisDifficulty, x: Scale) -> list[Markup]:
    parts = [tag("path", d=path([(_LEFT, _BOTTOM), (_WIDTH - _RIGHT, _BOTTOM)]), class_="frame")]
    last = -math.inf
    for k, value in enumerate(found.axis.bins, start=1):
        text = f"{value:.3g}"
        room = len(text) * CHARACTER / 2
        tick = path([(x(k), _BOTTOM), (x(k), _BOTTOM + 4)])
        parts.append(tag("path", d=tick, class_="frame"))
        if x(k) - room >= last:
            parts.append(words(text, x(k), _BOTTOM + 17, "tick", "middle"))
            last = x(k) + room + 6
    unit = f" in {found.axis.axis_unit}" if found.axis.axis_unit and found.has_values else ""
    title = shorten(f"{found.axis.label}{unit}", 1.15 * _WIDTH)
    return [*parts, words(title, 0, _BOTTOM + 36, "axis-title")]


def _y_axis(found: AxisDifficulty, y: Scale) -> list[Markup]:
    parts = []
    for tick in (0, 25, 50, 75, 100):
        line = path([(_LEFT, y(tick)), (_WIDTH - _RIGHT, y(tick))])
        parts.append(tag("path", d=line, class_="frame" if tick == 50 else "grid"))
        parts.append(words(f"{tick}", _LEFT - 6, y(tick) + 4, "tick", "end"))
    title = f"{found.axis.metric}@{found.axis.stem} in %"
    return [*parts, words(shorten(title, _WIDTH), 0, 12, "label strong")]
