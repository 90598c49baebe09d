"""A histogram of realised values over the outline of the proposed ones, with mean and median."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.report.charts.svg import Scale, chart, nice_ticks, path, tag, words

_WIDE, _TALL, _LEFT, _TOP = 250.0, 130.0, 40.0, 30.0
_BINS = 24


def histogram(
    values: Sequence[float],
    proposed: Sequence[float],
    span: tuple[float, float],
    title: str,
    unit: str,
    name: str,
) -> Markup:
    """Shares of values in equal bins; the mean is dashed, the median dotted.

    Args:
        values: Realised values; may be empty.
        proposed: What they were drawn as; its outline is drawn in grey.
        span: Least and greatest value of the axis.
        title: Heading of the panel.
        unit: Unit of the values.
        name: Unique on the page.
    """
    shares, edges = _shares(values, span)
    outline, _ = _shares(proposed, span)
    most = max(float(shares.max(initial=0)), float(outline.max(initial=0)), 1e-9)
    x = Scale(*span, _LEFT, _LEFT + _WIDE)
    y = Scale(0.0, 1.08 * most, _TOP + _TALL, _TOP)
    box = {"x": _LEFT, "y": _TOP, "width": _WIDE, "height": _TALL}
    parts = [tag("rect", **box, fill="none", stroke="#bbb")]
    for share, left, right in zip(shares, edges[:-1], edges[1:], strict=True):
        if share:
            box = {"x": x(left) + 0.5, "y": y(share), "width": x(right) - x(left) - 1}
            bar = tag("rect", **box, height=y(0) - y(share), fill="#5b86b0")
            parts.append(bar)
    steps = [
        (x(e), y(float(s)))
        for s, a, b in zip(outline, edges[:-1], edges[1:], strict=True)
        for e in (a, b)
    ]
    if len(proposed):
        parts.append(tag("path", d=path(steps), fill="none", stroke="#777", stroke_width=1.2))
    parts += _middles(values, x, y)
    for tick in nice_ticks(*span):
        parts.append(words(show_number(tick, 0), x(tick), _TOP + _TALL + 15, "tick", "middle"))
    parts.append(words(title, _LEFT, _TOP - 12, "label strong"))
    parts.append(words(unit, _LEFT + _WIDE, _TOP + _TALL + 30, "axis-title", "end"))
    size = (_LEFT + _WIDE + 14, _TOP + _TALL + 38)
    about = f"{len(values)} values" + (
        f", mean {np.mean(values):.4g}, median {np.median(values):.4g} {unit}"
        if len(values)
        else ""
    )
    return chart(name, title, about, size, *parts, class_="small")


def _shares(values: Sequence[float], span: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    counts, edges = np.histogram(np.asarray(values, np.float64), _BINS, span)
    return counts / max(1, len(values)), edges


def _middles(values: Sequence[float], x: Scale, y: Scale) -> list[Markup]:
    if not len(values):
        return [words("no scenes", _LEFT + _WIDE / 2, _TOP + _TALL / 2, "label", "middle")]
    parts = []
    for value, dash, label, row in (
        (float(np.mean(values)), "6 3", "mean", 14),
        (float(np.median(values)), "1.5 3", "median", 28),
    ):
        line = path([(x(value), y(0)), (x(value), _TOP)])
        parts.append(tag("path", d=line, stroke="#b3412f", stroke_width=1.6, stroke_dasharray=dash))
        text = f"{label} {value:.1f}"
        parts.append(words(text, _LEFT + _WIDE - 6, _TOP + row, "number", "end"))
    return parts
