"""The charts of annotations: bars, shares, and the disc of normals, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from depthgauge.annotate.quality.agreement import Mean
from depthgauge.annotate.quality.statistics import Histogram
from depthgauge.report.charts.styles import Style, marker
from depthgauge.report.charts.svg import (
    Scale,
    chart,
    nice_ticks,
    number,
    path,
    room_for,
    tag,
    words,
)

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 380.0, 44.0, 12.0, 34.0, 214.0
_CLASSES = ("s0", "s1", "s2", "rest")


def bar_chart(
    shown: Histogram,
    title: str,
    x_title: str,
    name: str,
    *,
    counted: bool = False,
    each: str = "images",
) -> Markup:
    """A histogram: share of the images in each bin, all bins equally wide.

    Args:
        shown: The counts.
        title: What it shows.
        x_title: What the bins are.
        name: Unique on the page.
        counted: Bins are whole numbers: the tick stands below the bar, not at its edge.
        each: What was counted.
    """
    shares = [100 * n / max(shown.known, 1) for n in shown.counts]
    x = Scale(0, len(shares), _LEFT, _WIDTH - _RIGHT)
    y = Scale(0, max([*shares, 1.0]) * 1.06, _BOTTOM, _TOP)
    parts = _percent_axis(y, f"% of {each}")
    for place, (share, n) in enumerate(zip(shares, shown.counts, strict=True)):
        if n:
            parts.append(_bar(x(place) + 1, y(share), x(place + 1) - x(place) - 2, _BOTTOM))
    parts += _bin_ticks(shown.edges, x, counted)
    parts.append(tag("path", d=path([(x.start, _BOTTOM), (x.end, _BOTTOM)]), class_="frame"))
    parts.append(words(title, 0, 12, "label strong"))
    parts.append(words(x_title, _LEFT, _BOTTOM + 36, "axis-title"))
    if shown.median is None or shown.mean is None:
        parts.append(words("not known of any", _LEFT + 8, _TOP + 20, "tick"))
        about = "nothing is known"
    else:
        about = f"mean {shown.mean:.3g}, median {shown.median:.3g}"
    parts.append(words(about, _WIDTH - _RIGHT, _BOTTOM + 36, "axis-title", "end"))
    size = (_WIDTH, _BOTTOM + 42)
    return chart(name, title, f"{about}; {shown.known} {each}", size, *parts, class_="axis")


def share_bars(rows: Mapping[str, Mapping[str, int]], title: str, name: str) -> Markup:
    """One bar of 100 % per row, divided into kinds; each kind is named below its part."""
    y, parts, told = 40.0, [words(title, 0, 12, "label strong")], []
    for row, counts in rows.items():
        whole = sum(counts.values())
        parts.append(words(row, 0, y, "label"))
        x = Scale(0, max(whole, 1), 0, _WIDTH)
        done = 0
        for class_, n in zip(_CLASSES, counts.values(), strict=False):
            if n:
                parts.append(_bar(x(done), y + 8, x(done + n) - x(done) - 1, y + 32, class_))
            done += n
        parts += _share_legend(counts, whole, y + 50)
        kinds = (f"{kind} {_percent(n, whole)}" for kind, n in counts.items())
        told.append(f"{row}: {', '.join(kinds)}")
        y += 108
    return chart(name, title, "; ".join(told), (_WIDTH, y - 20), *parts, class_="axis")


def normal_disc(counts: Sequence[int], rings: int, title: str, name: str) -> Markup:
    """The half sphere of directions as an equal-area disc; fuller cells are darker.

    Args:
        counts: Of each cell, as `annotate.statistics.normal_cells` numbers them.
        rings: How many rings there are.
        title: What it shows.
        name: Unique on the page.
    """
    radius, cx, cy = 104.0, 130.0, 146.0
    whole, most = sum(counts), max(counts, default=0)
    parts = [words(title, 0, 12, "label strong")]
    for ring in range(rings):
        for cell in range(2 * ring + 1):
            n = counts[ring * ring + cell]
            # The eye judges areas of ink; a square root keeps rare directions visible.
            ink = math.sqrt(n / most) if most else 0.0
            shape = _cell(cx, cy, radius / rings, ring, cell)
            parts.append(tag("path", d=shape, class_="bar s0", fill_opacity=f"{ink:.3f}"))
    parts.append(tag("circle", cx=cx, cy=cy, r=radius, class_="frame"))
    parts += [
        words("facing up", cx, cy - radius - 8, "tick", "middle"),
        words("facing down", cx, cy + radius + 16, "tick", "middle"),
        words("left", cx - radius - 6, cy + 4, "tick", "end"),
        words("right", cx + radius + 6, cy + 4, "tick"),
    ]
    parts += _disc_key(most / whole if whole else 0.0, len(counts))
    about = _frontal(counts, rings)
    parts.append(words(about, 0, cy + radius + 38, "axis-title"))
    return chart(name, title, about, (_WIDTH, cy + radius + 44), *parts, class_="axis")


def _frontal(counts: Sequence[int], rings: int) -> str:
    """The share that nearly faces the viewer, up to the border of a ring."""
    if not sum(counts):
        return "no normals"
    near = max(1, rings // 3)
    angle = math.degrees(math.acos(1 - (near / rings) ** 2))
    share = 100 * sum(counts[: near * near]) / sum(counts)
    return f"{share:.0f}\u00a0% within {angle:.0f}\u00b0 of facing the viewer"


def mean_dots(rows: Mapping[str, Mapping[str, Mean]], title: str, unit: str, name: str) -> Markup:
    """Means with their standard errors: a group of lines per measure, one line per comparison."""
    labels = [label for group in rows.values() for label in group]
    left = room_for(labels) + 12
    highest = max(
        (_high(mean) for group in rows.values() for mean in group.values() if _known(mean)),
        default=1.0,
    )
    x = Scale(0, highest * 1.08 or 1.0, left, _WIDTH - 56)
    y, parts, told = 36.0, [words(title, 0, 12, "label strong")], []
    for heading, group in rows.items():
        parts.append(words(heading, 0, y, "tick"))
        for place, (label, mean) in enumerate(group.items()):
            y += 20
            parts += _dot(label, mean, x, y, Style(f"s{place}", place))
            told.append(f"{heading}, {label}: {mean.value:.3g} {unit}".strip())
        y += 28
    ticks = nice_ticks(0, x.high, 4)
    grid = [tag("path", d=path([(x(t), 24), (x(t), y - 20)]), class_="grid") for t in ticks]
    parts += [words(f"{tick:g}", x(tick), y - 6, "tick", "middle") for tick in ticks]
    parts.append(words(unit, _WIDTH - 56, y + 12, "axis-title", "end"))
    return chart(name, title, "; ".join(told), (_WIDTH, y + 18), *grid, *parts, class_="axis")


def _dot(label: str, mean: Mean, x: Scale, y: float, style: Style) -> list[Markup]:
    parts = [words(label, 0, y + 4, "label")]
    if not _known(mean):
        return [*parts, words("-", x.start, y + 4, "number")]
    if math.isfinite(mean.standard_error):
        ends = [(x(max(0.0, mean.value - mean.standard_error)), y), (x(_high(mean)), y)]
        parts.append(tag("path", d=path(ends), class_=f"interval {style.class_}"))
    parts.append(marker(x(mean.value), y, style, 4.5))
    parts.append(words(f"{mean.value:.3g}", _WIDTH, y + 4, "number", "end"))
    return parts


def _known(mean: Mean) -> bool:
    return math.isfinite(mean.value)


def _high(mean: Mean) -> float:
    return mean.value + (mean.standard_error if math.isfinite(mean.standard_error) else 0.0)


def _bar(x: float, top: float, width: float, bottom: float, class_: str = "s0") -> Markup:
    return tag(
        "rect", x=x, y=top, width=max(width, 0.5), height=bottom - top, class_=f"bar {class_}"
    )


def _percent_axis(y: Scale, title: str) -> list[Markup]:
    parts = []
    for tick in nice_ticks(0, y.high):
        line = path([(_LEFT, y(tick)), (_WIDTH - _RIGHT, y(tick))])
        parts.append(tag("path", d=line, class_="grid"))
        parts.append(words(f"{tick:g}", _LEFT - 6, y(tick) + 4, "tick", "end"))
    parts.append(words(title, 0, _TOP - 8, "axis-title"))
    return parts


def _bin_ticks(edges: Sequence[float], x: Scale, counted: bool) -> list[Markup]:
    """Edges below the borders of bars; only every second or third if there are many."""
    shown = edges[:-1] if counted else edges
    step = max(1, math.ceil(len(shown) / 9))
    parts = []
    for place in range(0, len(shown), step):
        at = x(place + 0.5 * counted)
        last = place == len(edges) - 1 - counted
        text = f"{shown[place]:.3g}{'+' if last else ''}"
        parts.append(words(text, at, _BOTTOM + 17, "tick", "middle"))
    return parts


def _share_legend(counts: Mapping[str, int], whole: int, y: float) -> list[Markup]:
    """Two names per line, each with its colour and share."""
    parts = []
    for place, (class_, (kind, n)) in enumerate(zip(_CLASSES, counts.items(), strict=False)):
        x, line = (place % 2) * _WIDTH / 2, y + 17 * (place // 2)
        parts.append(_bar(x, line - 8, 9, line + 1, class_))
        parts.append(words(f"{kind} {_percent(n, whole)}", x + 15, line, "label"))
    return parts


def _percent(n: int, whole: int) -> str:
    return f"{100 * n / whole:.1f}\u00a0%" if whole else "-"


def _cell(cx: float, cy: float, width: float, ring: int, cell: int) -> str:
    """The outline of a cell: a whole disc in the middle, otherwise a piece of a ring."""
    inner, outer = ring * width, (ring + 1) * width
    if ring == 0:
        r = number(outer)
        left, right = number(cx - outer), number(cx + outer)
        mid = number(cy)
        return f"M{left} {mid}A{r} {r} 0 1 1 {right} {mid}A{r} {r} 0 1 1 {left} {mid}Z"
    turn = 2 * math.pi / (2 * ring + 1)
    ends = [
        (cx + r * math.cos(a), cy + r * math.sin(a))
        for r, a in (
            (inner, cell * turn),
            (outer, cell * turn),
            (outer, (cell + 1) * turn),
            (inner, (cell + 1) * turn),
        )
    ]
    (ax, ay), (bx, by), (ex, ey), (fx, fy) = ((number(x), number(y)) for x, y in ends)
    i, o = number(inner), number(outer)
    return f"M{ax} {ay}L{bx} {by}A{o} {o} 0 0 1 {ex} {ey}L{fx} {fy}A{i} {i} 0 0 0 {ax} {ay}Z"


def _disc_key(most: float, cells: int) -> list[Markup]:
    """From empty to the fullest cell."""
    x, top, height = 296.0, 80.0, 110.0
    parts = [words("% of pixels", x, top - 22, "tick"), words("in a cell", x, top - 8, "tick")]
    steps = 11
    for place in range(steps):
        ink, h = place / (steps - 1), height / steps
        y = top + height - (place + 1) * h
        parts.append(
            tag("rect", x=x, y=y, width=14, height=h, class_="bar s0", fill_opacity=f"{ink:.2f}")
        )
    parts.append(tag("rect", x=x, y=top, width=14, height=height, class_="frame"))
    for share in (0.0, 0.25, 1.0):
        y = top + height * (1 - math.sqrt(share)) + 4
        parts.append(words(f"{100 * most * share:.2g}", x + 20, y, "tick"))
    parts.append(words(f"even: {100 / cells:.2g}", x, top + height + 20, "tick"))
    return parts
