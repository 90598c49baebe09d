"""The charts of a method's page: strengths, threshold curves, degradation, beside other methods."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from depthgauge.analysis.boards.board import Column
from depthgauge.analysis.degradation import Degradation
from depthgauge.analysis.thresholds import CurvePoint, Curves
from depthgauge.report.charts.axes import axis_chart
from depthgauge.report.charts.lines import threshold_curves
from depthgauge.report.charts.radar import NORMALISATION, radar_chart, varied
from depthgauge.report.charts.styles import HIGHLIGHTED, Style
from depthgauge.report.page.model import Radar, RadarAxis
from depthgauge.report.sections.degradation import lines_of
from depthgauge.serve.storage.models import Benchmark

_MOST_AXES = 10
_MISSING = {"bad": "A missing pixel is never correct.", "skip": "Missing pixels are left out."}

Index = Mapping[str, Any]
"""Of an exhibit."""
Values = Mapping[str, float | None]
"""Score id -> value of all samples together."""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart."""

    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float | None]]]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of a page."""

    title: str
    name: str
    """Of its files."""
    svg: Markup
    text: str
    table: Table


def styles_for(labels: Sequence[str]) -> dict[str, Style]:
    """The first label in the first colour, and so on; the rest is grey."""
    return {
        label: Style(f"s{place}", place) if place < HIGHLIGHTED else Style("rest")
        for place, label in enumerate(labels)
    }


def strengths(benchmark: Benchmark, values: Mapping[str, Values]) -> Chart | None:
    """Several scores at once; the first label is the method of the page."""
    own = next(iter(values.values()), {})
    columns = [_column(each) for each in benchmark.columns if own.get(each["id"]) is not None]
    if not columns or len(values) < 2:
        return None
    wanted = varied(columns, columns[0])[:_MOST_AXES]
    chosen = [next(c for c in columns if c.id == name) for name in wanted]
    radar = Radar(
        tuple(RadarAxis(c.id, c.unit, c.better) for c in chosen),
        {label: [_number(found.get(c.id)) for c in chosen] for label, found in values.items()},
    )
    text = NORMALISATION if len(chosen) > 2 else ""
    rows = [(label, list(map(_or_none, line))) for label, line in radar.values.items()]
    table = Table(["Method", *(c.id for c in chosen)], rows)
    svg = radar_chart(radar, styles_for(list(values)), "strengths")
    return Chart("Strengths and weaknesses", "strengths", svg, text, table)


def _column(column: Mapping[str, Any]) -> Column:
    metric, _, region = column["id"].partition("@")
    return Column(column["id"], metric, region, column["unit"], column["better"])


def thresholds(indices: Mapping[str, Index]) -> Chart | None:
    """The share of correct pixels over thresholds."""
    found = {label: each["curves"] for label, each in indices.items() if each["curves"]}
    if not found:
        return None
    first = next(iter(found.values()))
    lines = {label: [_point(p) for p in each["lines"]] for label, each in found.items()}
    marks = tuple(first["marks"])
    curves = Curves(lines, first["unit"], marks, first["region"], first["missing"])
    own = next(iter(lines.values()))
    at = [point.threshold for point in own]
    rows: list[tuple[str, Sequence[float | None]]] = []
    for label, points in lines.items():
        known = {point.threshold: point.percent for point in points}
        rows.append((label, [_or_none(known.get(limit, math.nan)) for limit in at]))
    text = (
        f"How many pixels have an error of at most each threshold. "
        f"{_MISSING.get(first['missing'], '')} Dotted: the thresholds that are scored."
    )
    heads = ["Method", *(f"{limit:g} {first['unit']}".strip() for limit in at)]
    svg = threshold_curves(curves, styles_for(list(indices)), "thresholds")
    return Chart("Correct pixels by threshold", "thresholds", svg, text, Table(heads, rows))


def _point(point: Mapping[str, Any]) -> CurvePoint:
    names = ("threshold", "percent", "low", "high")
    return CurvePoint(*(_number(point[name]) for name in names))


def degradation(indices: Mapping[str, Index]) -> Iterator[Chart]:
    """How scores get worse along axes of difficulty, where the benchmark has some."""
    own = next(iter(indices.values()), None)
    for place, family in enumerate(own["degradations"] if own else ()):
        lines = {}
        for label, index in indices.items():
            for other in index["degradations"]:
                if (other["metric"], other["stem"]) == (family["metric"], family["stem"]):
                    lines[label] = tuple(_number(value) for value in other["lines"])
        tuples = {name: tuple(family[name]) for name in ("bins", "score_ids", "filled")}
        found = Degradation(**{**family, **tuples, "lines": lines})
        shown = lines_of(found)
        svg = axis_chart(shown, styles_for(list(indices)), f"degradation{place}")
        heads = ["Method", *(f"{x:g} {found.axis_unit}".strip() for x in found.bins)]
        rows = [(label, list(map(_or_none, line))) for label, line in lines.items()]
        yield Chart("", f"{found.metric} by {found.label}", svg, "", Table(heads, rows))


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
