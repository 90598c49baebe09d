"""A made chart, drawn by the report."""

from __future__ import annotations

import math

from markupsafe import Markup

from depthgauge.analysis.thresholds import CurvePoint, Curves
from depthgauge.report.charts.lines import threshold_curves
from depthgauge.report.charts.styles import Style

_THRESHOLDS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


def chart() -> Markup:
    """Threshold curves of five methods."""
    lines = {}
    for place, label in enumerate(("first", "second", "third", "fourth", "fifth")):
        points = [(limit, 100 * math.exp(-(place + 1) * 0.35 / limit)) for limit in _THRESHOLDS]
        lines[label] = [CurvePoint(limit, y, y - 3, min(100.0, y + 3)) for limit, y in points]
    styles = {label: Style(f"s{place}", place) for place, label in enumerate(lines)}
    return threshold_curves(Curves(lines, marks=(1.0, 2.0)), styles)
