"""The page of a set of annotations, with all its figures."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from depthgauge.annotate.quality.statistics import RINGS, Statistics
from depthgauge.io import write_text
from depthgauge.report.annotate.charts import bar_chart, normal_disc, share_bars
from depthgauge.report.charts.axes import AxisLines, axis_chart
from depthgauge.report.charts.styles import Style, swatch
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render

_NAMES = {
    "continuous": "continuous surfaces",
    "smooth": "smooth surfaces",
    "planar": "planar surfaces",
    "curved": "curved surfaces",
}


def write_statistics_page(path: Path, found: Statistics, title: str) -> Path:
    """Writes the page and returns its path; it needs no other file, network or script.

    Args:
        path: The HTML file.
        found: What was counted.
        title: Title of the set of annotations.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_sections(title, _headline(found), _facts(found), _sections(found)))
    return path


COLUMNS = [("what", "left"), ("value", "right")]


def statistics_rows(found: Statistics) -> list[list[str]]:
    """The figures as a short table for people."""
    rows = [[name, text] for name, text in _facts(found)]
    for heading, counts in (("boundaries", found.boundaries), ("curvature", found.curvature)):
        rows += [[f"{heading}, {k}", _share(n, found.images)] for k, n in counts.items()]
    for kind, shown in found.surfaces.items():
        if shown.mean is not None:
            rows.append([f"mean {_NAMES[kind]}", f"{shown.mean:.3g}"])
    return rows + [[f"source, {k}", _share(n, found.images)] for k, n in found.sources.items()]


def _share(n: int, whole: int) -> str:
    return f"{100 * n / whole:.1f} %"


def surfaces_chart(found: Statistics, name: str = "surfaces") -> Markup:
    """How many surfaces of each kind a region has: one line per kind."""
    lines = {
        _NAMES[kind]: [100 * n / max(shown.known, 1) for n in shown.counts]
        for kind, shown in found.surfaces.items()
    }
    first = next(iter(found.surfaces.values()))
    shown = AxisLines(
        "Surfaces in a region, % of regions",
        f"surfaces; {first.edges[-2]:g} stands for that many or more",
        tuple(first.edges[:-1]),
        lines,
        "%",
    )
    return axis_chart(shown, _styles(), name)


def _sections(found: Statistics) -> list[Section]:
    regions = [
        share_bars(
            {"Boundaries": found.boundaries, "Curvature": found.curvature},
            "What regions contain",
            "ratios",
        ),
        surfaces_chart(found),
    ]
    pictures = [
        bar_chart(
            found.focal_ratio,
            "Focal length",
            "focal length / image width",
            "focal",
        ),
        normal_disc(found.normals, RINGS, "Directions that surfaces face", "normals"),
    ]
    work = [
        bar_chart(shown, title, name, name)
        for shown, title, name in (
            (found.seconds, "Time for an image", "seconds"),
            (found.strokes, "Strokes on an image", "strokes"),
        )
        if shown.known
    ]
    work += [
        share_bars({"Annotations": _largest(found)}, "Sources", "sources"),
    ]
    about = (
        "The disc shows the half sphere of directions towards the viewer with true areas: its "
        "middle faces the camera, its border is seen from the side. Every cell is equally large."
    )
    return [
        Section("cameras", "Cameras and directions", "Cameras", _charts([about], pictures)),
        Section("regions", "Regions", "Regions", _charts([], regions, legend=True)),
        Section("work", "Work", "Work", _charts([], work)),
    ]


def _charts(texts: list[str], charts: list[Markup], legend: bool = False) -> Markup:
    names = [(swatch(style), label) for label, style in _styles().items()] if legend else []
    return render("curves.html.j2", texts=texts, legend=names, charts=charts, folded=[])


def _styles() -> dict[str, Style]:
    return {label: Style(f"s{n}", n) for n, label in enumerate(_NAMES.values())}


def _largest(found: Statistics, most: int = 4) -> dict[str, int]:
    """The largest sources; the others together as one."""
    ranked = sorted(found.sources.items(), key=lambda item: (-item[1], item[0]))
    if len(ranked) <= most:
        return dict(ranked)
    rest = sum(n for _, n in ranked[most - 1 :])
    return {**dict(ranked[: most - 1]), "others": rest}


def _headline(found: Statistics) -> str:
    n = found.images
    lines = found.boundaries
    occlusion = 100 * (lines["only occlusion"] + lines["both"]) / n
    curved = 100 * (found.curvature["only curved"] + found.curvature["both"]) / n
    lined, bent = f"{occlusion:.0f}\u00a0%", f"{curved:.0f}\u00a0%"
    regions = f"{n} region" + "s" * (n != 1)
    return f"{regions}: {lined} have an occlusion boundary, {bent} a curved surface."


def _facts(found: Statistics) -> list[tuple[str, str]]:
    def average(value: float | None, unit: str) -> str:
        return "" if value is None else f"{value:.3g} {unit}".strip()

    facts = [
        ("images", str(found.images)),
        ("median focal length / width", average(found.focal_ratio.median, "")),
        ("mean time", average(found.seconds.mean, "s")),
        ("mean strokes", average(found.strokes.mean, "")),
        ("pixels with a normal", f"{sum(found.normals):,}"),
    ]
    return [(name, text) for name, text in facts if text]
