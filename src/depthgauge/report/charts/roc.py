"""Error rate against sparsity: every setting a mark, the best of a method a staircase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from depthgauge.analysis.settings_roc import RocCurve, SettingsRoc
from depthgauge.report.charts.styles import Style, marker
from depthgauge.report.charts.svg import (
    Scale,
    chart,
    nice_ticks,
    path,
    room_for,
    shorten,
    tag,
    words,
)

_LEFT, _TOP, _WIDE, _TALL, _LINE = 46.0, 26.0, 440.0, 320.0, 18.0


def roc_chart(found: SettingsRoc, name: str = "roc-chart") -> Markup:
    """The settings of every method, its curve, and the feasibility boundary."""
    styles = {method: Style(f"s{k}", k) for k, method in enumerate(list(found.curves)[:8])}
    every = found.boundary.settings
    x = Scale(0, _limit([s.sparsity for s in every]), _LEFT, _LEFT + _WIDE)
    y = Scale(0, _limit([s.error for s in every]), _TOP + _TALL, _TOP)
    parts = _frame(x, y, found)
    parts.append(tag("path", d=path(_steps(found.boundary, x, y)), class_="line thick oracle"))
    for method, curve in found.curves.items():
        style = styles.get(method, Style("rest"))
        parts.append(tag("path", d=path(_steps(curve, x, y)), class_=f"line {style.class_}"))
        best = set(curve.front)
        parts += [
            marker(x(s.sparsity), y(s.error), style, 4.6, hollow=s not in best)
            for s in curve.settings
        ]
    parts += _legend(found, styles)
    width = _LEFT + _WIDE + 40 + room_for([*found.curves, "feasibility boundary"], 320) + 90
    height = max(_TOP + _TALL + 46, _TOP + _LINE * (len(found.curves) + 2))
    about = "; ".join(_about(method, curve) for method, curve in found.curves.items())
    return chart(name, "Error rate against sparsity", about, (width, height), *parts)


def _limit(values: Sequence[float]) -> float:
    """The end of an axis: a little beyond the largest value, at most 100."""
    return min(100.0, max(1.08 * max(values, default=1.0), 1.0))


def _steps(curve: RocCurve, x: Scale, y: Scale) -> list[tuple[float, float]]:
    """The least error of settings with at most each sparsity, as a staircase."""
    points: list[tuple[float, float]] = []
    for setting in curve.front:
        if points:
            points.append((x(setting.sparsity), points[-1][1]))
        points.append((x(setting.sparsity), y(setting.error)))
    if points:
        points.append((x.end, points[-1][1]))
    return points


def _frame(x: Scale, y: Scale, found: SettingsRoc) -> list[Markup]:
    parts = []
    for tick in nice_ticks(y.low, y.high):
        parts.append(tag("path", d=path([(x.start, y(tick)), (x.end, y(tick))]), class_="grid"))
        parts.append(words(f"{tick:g}", _LEFT - 8, y(tick) + 4, "tick", "end"))
    for tick in nice_ticks(x.low, x.high):
        ends = [(x(tick), y.start), (x(tick), y.start + 4)]
        parts.append(tag("path", d=path(ends), class_="frame"))
        parts.append(words(f"{tick:g}", x(tick), y.start + 17, "tick", "middle"))
    parts.append(tag("path", d=path([(x.start, y.start), (x.end, y.start)]), class_="frame"))
    limit = f"{found.threshold:g} {found.unit}".strip()
    parts.append(words("pixels without an estimate in %", _LEFT, y.start + 38, "axis-title"))
    parts.append(words(f"estimates off by more than {limit} in %", 0, 11, "axis-title"))
    return parts


def _legend(found: SettingsRoc, styles: Mapping[str, Style]) -> list[Markup]:
    left, parts = _LEFT + _WIDE + 24, []
    rows: list[tuple[str, Style, RocCurve]] = [
        (method, styles.get(method, Style("rest")), curve) for method, curve in found.curves.items()
    ]
    rows.append(("feasibility boundary", Style("oracle"), found.boundary))
    for k, (name, style, curve) in enumerate(rows):
        middle = _TOP + 8 + _LINE * k
        line = path([(left, middle), (left + 22, middle)])
        parts.append(tag("path", d=line, class_=f"line {style.class_}"))
        if style.class_ != "oracle":
            parts.append(marker(left + 11, middle, style, 4.2))
        parts.append(
            words(f"{shorten(name)}, area {curve.area:.1f} %", left + 30, middle + 4, "label")
        )
    return parts


def _about(method: str, curve: RocCurve) -> str:
    ends = [f"{s.error:.1f} % at {s.sparsity:.1f} %" for s in curve.front]
    return f"{method}: area {curve.area:.1f} %, errors {', '.join(ends)} of sparsity"
