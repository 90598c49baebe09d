"""How well people, a sensor and methods agree: the table in text and HTML, and its figure."""

from __future__ import annotations

import math
from pathlib import Path

from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.annotate.quality.agreement import MEASURES, AgreementTable, Mean
from depthgauge.io import write_text
from depthgauge.report.annotate.charts import mean_dots
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render

_UNITS = {"rotation_deg": "\u00b0", "angle_deg": "\u00b0", "wkdr_percent": "%"}
_CHARTS = {
    "distances": ("Depth", ("edist_surfaces", "edist_global", "edist_rotated")),
    "shapes": ("Depth by shape", ("edist_planar", "edist_curved")),
    "angles": ("Normals", ("angle_deg", "rotation_deg")),
    "orders": ("Depth order", ("wkdr_percent",)),
}
_MOST_ROWS, _LONG = 400, 24


def agreement_rows(table: AgreementTable) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Columns and rows of the table: one line per measure, one column per comparison."""
    comparisons = table.comparisons()
    columns = [("measure", "left"), ("unit", "left"), *((name, "right") for name in comparisons)]
    rows = [
        [
            text,
            _unit(table, measure),
            *(show_mean(table.mean(name, measure)) for name in comparisons),
        ]
        for measure, text in MEASURES.items()
    ]
    counts = [table.mean(name, "edist_surfaces") for name in comparisons]
    rows.append(["pairs", "", *(str(count.pairs) for count in counts)])
    rows.append(["photographs", "", *(str(count.images) for count in counts)])
    return columns, rows


def sensor_depth(table: AgreementTable) -> str:
    """The sensor's depths in words, for comparison with distances; empty without a sensor."""
    if not math.isfinite(table.depth_mean_m):
        return ""
    spread = f"standard deviation {table.depth_std_m:.3g} m"
    return f"sensor's depth: mean {table.depth_mean_m:.3g} m, {spread}"


def show_mean(mean: Mean) -> str:
    """A mean with its standard error, which has two significant digits.

    >>> show_mean(Mean(0.07813, 0.0042, 12, 3)), show_mean(Mean(17.8, math.nan, 1, 1))
    ('0.0781 \u00b1 0.0042', '17.8')
    """
    if not math.isfinite(mean.value):
        return "-"
    error = mean.standard_error
    if not math.isfinite(error) or error <= 0:
        return f"{mean.value:.3g}"
    decimals = min(9, max(0, 1 - math.floor(math.log10(error))))
    return f"{mean.value:.{decimals}f} \u00b1 {error:.{decimals}f}"


def write_agreement_page(path: Path, table: AgreementTable, title: str) -> Path:
    """Writes the page and returns its path; it needs no other file, network or script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = [
        Section("means", "Means over all pairs", "Means", _means(table)),
        Section("pairs", "Every pair", "Pairs", _pairs(table)),
    ]
    write_text(path, render_sections(title, _headline(table), _facts(table), sections))
    return path


def _means(table: AgreementTable) -> Markup:
    charts = [
        mean_dots(
            {
                MEASURES[m]: {name: table.mean(name, m) for name in table.comparisons()}
                for m in measures
            },
            heading,
            _unit(table, measures[0]),
            f"chart-{name}",
        )
        for name, (heading, measures) in _CHARTS.items()
    ]
    texts = [
        "One cloud is scaled and shifted onto the other by least squares, then the distances of "
        "corresponding points are averaged. Bars are standard errors from photograph to "
        "photograph.",
        *(_unit_text(table),),
    ]
    columns, rows = agreement_rows(table)
    body = render("curves.html.j2", texts=texts, legend=[], charts=charts, folded=[])
    return body + _table(columns, rows, "Means over all pairs, with standard errors")


def _unit_text(table: AgreementTable) -> str:
    if table.unit == "m":
        return "People's depth has no metres: it is scaled to the sensor's."
    return "There was no sensor: distances are parts of the mean depth."


def _pairs(table: AgreementTable) -> Markup:
    names = [("photograph", "left"), ("moving", "left"), ("fixed", "left"), ("pixels", "right")]
    columns = [*names, *((text, "right") for text in MEASURES.values())]
    rows = [
        [row.sample, row.moving, row.fixed, str(row.pixels)]
        + [show_number(getattr(row, measure)) for measure in MEASURES]
        for row in table.rows[:_MOST_ROWS]
    ]
    more = len(table.rows) - len(rows)
    caption = f"{len(rows)} pairs" + (f"; {more} more are in the JSON" if more else "")
    shown = _table(columns, rows, caption)
    if len(rows) <= _LONG:
        return shown
    folded: list[tuple[str, list[str], list[Markup]]] = [(f"All {caption}", [], [shown])]
    return render("curves.html.j2", texts=[], legend=[], charts=[], folded=folded)


def _table(columns: list[tuple[str, str]], rows: list[list[str]], caption: str) -> Markup:
    return render("annotate_table.html.j2", columns=columns, rows=rows, caption=caption)


def _headline(table: AgreementTable) -> str:
    texts = {
        "human-human": "people are {} from each other",
        "human-sensor": "people are {} from the sensor",
        "method-sensor": "methods are {} from the sensor",
    }
    parts = [texts[name].format(_amount(table, name)) for name in table.comparisons()]
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _amount(table: AgreementTable, comparison: str) -> str:
    value = table.mean(comparison, "edist_surfaces").value
    if not math.isfinite(value):
        return "an unknown distance"
    return f"{value:.3g}\u00a0m" if table.unit == "m" else f"{100 * value:.2g}\u00a0% of the depth"


def _facts(table: AgreementTable) -> list[tuple[str, str]]:
    facts = [
        ("photographs", str(len({row.sample for row in table.rows}))),
        ("pairs", str(len(table.rows))),
        ("people", str(len({row.moving for row in table.rows if "human-" in row.comparison}))),
    ]
    if math.isfinite(table.depth_mean_m):
        facts.append(("mean depth", f"{table.depth_mean_m:.3g} m"))
        facts.append(("standard deviation of depth", f"{table.depth_std_m:.3g} m"))
    return facts


def _unit(table: AgreementTable, measure: str) -> str:
    return _UNITS.get(measure, table.unit)
