"""Precision against recall: one curve per method, with lines of equal F behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from markupsafe import Markup

from depthgauge.analysis.precision_recall import PrecisionRecall
from depthgauge.report.charts.styles import Style, back_to_front, marker, style_for
from depthgauge.report.charts.svg import Scale, chart, path, room_for, shorten, tag, words

_LEFT, _TOP, _SIDE, _LINE = 46.0, 26.0, 380.0, 18.0
_LEVELS = tuple(k / 10 for k in range(1, 10))
_STEPS = 40


def precision_recall_chart(
    curves: Mapping[str, PrecisionRecall],
    styles: Mapping[str, Style],
    name: str = "precision-recall-chart",
) -> Markup:
    """The curves; a mark is where F is largest, and the label gives that F."""
    x = Scale(0, 1, _LEFT, _LEFT + _SIDE)
    y = Scale(0, 1, _TOP + _SIDE, _TOP)
    parts = [*_frame(x, y), *_equal_f(x, y)]
    for label in back_to_front(curves, styles):
        style = style_for(styles, label)
        points = [(x(r), y(p)) for r, p in _drawn(curves[label])]
        parts.append(tag("path", d=path(points), class_=f"line {style.class_}"))
    for label in back_to_front(curves, styles):
        curve = curves[label]
        best = float(curve.recall[curve.best]), float(curve.precision[curve.best])
        parts.append(marker(x(best[0]), y(best[1]), style_for(styles, label), 5.0))
    ordered = sorted(curves, key=lambda label: -curves[label].f[curves[label].best])
    parts += _legend({label: curves[label] for label in ordered}, styles)
    width = _LEFT + _SIDE + 60 + room_for([*curves, "x" * 24], 320)
    height = max(_TOP + _SIDE + 46, _TOP + _LINE * (len(curves) + 2))
    about = "; ".join(_about(curves[label]) for label in ordered)
    return chart(name, "Precision against recall", about, (width, height), *parts)


def _drawn(curve: PrecisionRecall) -> list[tuple[float, float]]:
    """Recall and precision at the thresholds with any estimated boundary."""
    pairs = zip(curve.recall.tolist(), curve.precision.tolist(), strict=True)
    return [(r, p) for r, p in pairs if r > 0 or p > 0]


def _frame(x: Scale, y: Scale) -> list[Markup]:
    box = [(x.start, y.start), (x.end, y.start), (x.end, y.end), (x.start, y.end)]
    parts = [tag("path", d=path(box, closed=True), class_="frame")]
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        parts.append(words(f"{tick:g}", x(tick), y.start + 17, "tick", "middle"))
        parts.append(words(f"{tick:g}", _LEFT - 8, y(tick) + 4, "tick", "end"))
    parts.append(words("recall", x(0.5), y.start + 38, "axis-title", "middle"))
    parts.append(words("precision", 0, 11, "axis-title"))
    return parts


def _equal_f(x: Scale, y: Scale) -> list[Markup]:
    """Along each of these lines F is the same: P = F R / (2 R - F)."""
    parts = []
    for level in _LEVELS:
        least = level / (2 - level)  # the recall at a precision of 1
        steps = [least ** (1 - k / _STEPS) for k in range(_STEPS + 1)]
        points = [(x(r), y(level * r / (2 * r - level))) for r in steps]
        parts.append(tag("path", d=path(points), class_="grid"))
        end = x.end + 5, points[-1][1] + 4
        parts.append(words(f"F {level:g}", *end, "tick"))
    return parts


def _legend(curves: Mapping[str, PrecisionRecall], styles: Mapping[str, Style]) -> list[Markup]:
    left, parts = _LEFT + _SIDE + 56, []
    for k, (label, curve) in enumerate(curves.items()):
        style, middle = style_for(styles, label), _TOP + 8 + _LINE * k
        line = path([(left, middle), (left + 22, middle)])
        parts.append(tag("path", d=line, class_=f"line {style.class_}"))
        parts.append(marker(left + 11, middle, style, 4.2))
        text = f"{shorten(label)}, F {curve.f[curve.best]:.3f} from {_threshold(curve)} on"
        parts.append(words(text, left + 30, middle + 4, "label"))
    return parts


def _threshold(curve: PrecisionRecall) -> str:
    value = float(curve.thresholds[curve.best])
    return "-" if math.isnan(value) else f"{value:.2f}"


def _about(curve: PrecisionRecall) -> str:
    at = curve.best
    return (
        f"{curve.label}: F {curve.f[at]:.3f}, precision {curve.precision[at]:.3f} and recall "
        f"{curve.recall[at]:.3f} at a threshold of {_threshold(curve)}"
    )
