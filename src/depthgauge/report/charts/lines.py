"""Threshold curves and the bump chart of ranks: lines with labels at their ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.analysis.thresholds import CurvePoint, Curves, RankStability
from depthgauge.report.charts.styles import Style, back_to_front, marker, style_for
from depthgauge.report.charts.svg import (
    Scale,
    chart,
    log_ticks,
    nice_ticks,
    path,
    room_for,
    shorten,
    spread,
    tag,
    words,
)

_WIDTH, _LEFT, _TOP, _LINE = 760.0, 46.0, 26.0, 15.0
_BELOW_MARKS = 42.0


def threshold_curves(
    curves: Curves, styles: Mapping[str, Style], name: str = "curves-chart"
) -> Markup:
    """Percentage of correct pixels against the threshold, on a logarithmic axis."""
    lines = {label: _usable(points) for label, points in curves.lines.items()}
    lines = {label: points for label, points in lines.items() if points}
    thresholds = [point.threshold for points in lines.values() for point in points] or [0.1, 10.0]
    shown = [label for label in lines if style_for(styles, label).place >= 0] or list(lines)[:8]
    right, bottom = room_for(shown) + 44, 346.0
    x = Scale(min(thresholds), max(thresholds), _LEFT, _WIDTH - right, log=True)
    y = Scale(0, 100, bottom, _BELOW_MARKS)
    parts = [*_frame(x, y, curves.unit), *_thresholds(curves.marks, x, y)]
    parts += [_band(lines[label], style_for(styles, label), x, y) for label in shown]
    for label in back_to_front(lines, styles):
        points = [(x(p.threshold), y(p.percent)) for p in lines[label]]
        parts.append(tag("path", d=path(points), class_=f"line {style_for(styles, label).class_}"))
    ends = {label: y(lines[label][-1].percent) for label in shown}
    parts += _end_labels(ends, styles, x.end, (_BELOW_MARKS, bottom))
    about = "; ".join(
        f"{label}: {', '.join(_at(lines[label], mark) for mark in curves.marks)}" for label in lines
    )
    return chart(name, "Correct pixels by threshold", about, (_WIDTH, bottom + 46), *parts)


def _usable(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    return [point for point in points if point.threshold > 0 and math.isfinite(point.percent)]


def _frame(x: Scale, y: Scale, unit: str) -> list[Markup]:
    parts = []
    for tick in nice_ticks(0, 100):
        parts.append(tag("path", d=path([(x.start, y(tick)), (x.end, y(tick))]), class_="grid"))
        parts.append(words(f"{tick:g}", _LEFT - 8, y(tick) + 4, "tick", "end"))
    for tick in log_ticks(x.low, x.high):
        ends = [(x(tick), y.start), (x(tick), y.start + 4)]
        parts.append(tag("path", d=path(ends), class_="frame"))
        parts.append(words(f"{tick:g}", x(tick), y.start + 17, "tick", "middle"))
    parts.append(tag("path", d=path([(x.start, y.start), (x.end, y.start)]), class_="frame"))
    title = f"threshold in {unit}" if unit else "threshold"
    parts.append(words(title, _LEFT, y.start + 38, "axis-title"))
    parts.append(words("correct pixels in %", 0, 11, "axis-title"))
    return parts


def _thresholds(marks: Sequence[float], x: Scale, y: Scale) -> list[Markup]:
    parts = []
    for mark in marks:
        if x.low <= mark <= x.high:
            parts.append(
                tag("path", d=path([(x(mark), y.end - 6), (x(mark), y.start)]), class_="threshold")
            )
            parts.append(
                tag(
                    "text",
                    f"{mark:g}",
                    x=x(mark),
                    y=y.end - 10,
                    class_="tick",
                    text_anchor="middle",
                )
            )
    return parts


def _band(points: Sequence[CurvePoint], style: Style, x: Scale, y: Scale) -> Markup:
    known = [p for p in points if math.isfinite(p.low) and math.isfinite(p.high)]
    if not known:
        return Markup("")
    edge = [(x(p.threshold), y(p.high)) for p in known]
    edge += [(x(p.threshold), y(p.low)) for p in reversed(known)]
    return tag("path", d=path(edge, closed=True), class_=f"band {style.class_}")


def _end_labels(
    ends: Mapping[str, float], styles: Mapping[str, Style], x: float, room: tuple[float, float]
) -> list[Markup]:
    """Labels beside the ends of the lines, moved apart, each with a leader to its line."""
    parts = []
    heights = spread(list(ends.values()), _LINE, *room)
    for (label, end), height in zip(ends.items(), heights, strict=True):
        style = style_for(styles, label)
        leader = path([(x + 3, end), (x + 16, height), (x + 32, height)])
        parts.append(tag("path", d=leader, class_=f"line leader {style.class_}"))
        parts.append(words(shorten(label), x + 38, height + 4, "label"))
    return parts


def _at(points: Sequence[CurvePoint], threshold: float) -> str:
    nearest = min(points, key=lambda point: abs(math.log(point.threshold / threshold)))
    return f"{show_number(nearest.percent)} % at {nearest.threshold:g}"


def bump_chart(
    stability: RankStability, styles: Mapping[str, Style], name: str = "ranks-chart"
) -> Markup:
    """The rank of every method at every threshold, best on top."""
    labels = list(stability.ranks)
    count = len(labels)
    left = room_for(labels) + 34
    row = 26.0 if count <= 14 else 18.0
    bottom = _TOP + row * max(count - 1, 1)
    steps = max(len(stability.thresholds) - 1, 1)
    x = Scale(0, steps, left, _WIDTH - left)
    y = Scale(1, max(count, 2), _TOP, bottom)
    heights = {label: _heights(stability.ranks, label, y) for label in labels}
    parts = []
    for i, threshold in enumerate(stability.thresholds):
        parts.append(tag("path", d=path([(x(i), _TOP - 8), (x(i), bottom + 8)]), class_="grid"))
        parts.append(words(f"{threshold:g}", x(i), bottom + 24, "tick", "middle"))
    for label in back_to_front(labels, styles):
        style = style_for(styles, label)
        points = [(x(i), h) for i, h in enumerate(heights[label])]
        parts.append(tag("path", d=path(points), class_=f"line thick {style.class_}"))
        parts += [marker(px, py, style, 4.2) for px, py in points if not math.isnan(py)]
    parts += _bump_labels(heights, left)
    title = f"threshold of {stability.what} in {stability.unit}"
    parts.append(words(title, left, bottom + 44, "axis-title"))
    about = "; ".join(
        f"{label}: ranks {', '.join('-' if r is None else str(r) for r in stability.ranks[label])}"
        for label in labels
    )
    return chart(name, "Ranks by threshold", about, (_WIDTH, bottom + 52), *parts)


def _heights(ranks: Mapping[str, Sequence[int | None]], label: str, y: Scale) -> list[float]:
    """The height of a label's rank at each threshold; those of equal rank are side by side."""
    found = []
    for i, rank in enumerate(ranks[label]):
        if rank is None:
            found.append(math.nan)
            continue
        equal = [other for other in ranks if ranks[other][i] == rank]
        found.append(y(rank) + 3.5 * (equal.index(label) - (len(equal) - 1) / 2))
    return found


def _bump_labels(heights: Mapping[str, Sequence[float]], left: float) -> list[Markup]:
    parts = []
    for side, x, anchor in ((0, left - 14, "end"), (-1, _WIDTH - left + 14, "start")):
        known = {label: h[side] for label, h in heights.items() if h and not math.isnan(h[side])}
        moved = spread(list(known.values()), _LINE, _TOP, math.inf)
        for label, height in zip(known, moved, strict=True):
            parts.append(words(shorten(label), x, height + 4, "label", anchor))
    return parts
