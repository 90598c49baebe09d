"""The progress page of a training: curves, and estimates of pairs that it has not seen."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from depthgauge.errors import BadData
from depthgauge.io import write_text
from depthgauge.report.charts.density import data_url
from depthgauge.report.charts.svg import Scale, chart, log_ticks, nice_ticks, path, tag, words
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render
from depthgauge.report.pictures.colours import paint, paint_flow
from depthgauge.report.pictures.encode import encode

PAGE = "progress.html"
CURVES, SAMPLES = "curves.jsonl", "samples.npz"
REFRESH_S = 10
_WIDTH, _HEIGHT, _LEFT, _TOP, _BELOW = 760.0, 300.0, 58.0, 30.0, 44.0
_SERIES = {
    "loss": ("Loss", "px, all updates", True),
    "epe_px": ("Mean error", "px", True),
    "bad2": ("Wrong by more than 2 px", "%", False),
}
"""Title, unit and whether the axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Curves:
    """What a training has written about itself."""

    steps: tuple[Mapping[str, float], ...]
    """Lines with `step`, `loss` and errors on the batch of that step."""
    judged: tuple[Mapping[str, float], ...]
    """Errors on pairs that no step has seen, with `step`, at the end of each call."""


def read_curves(folder: Path) -> Curves:
    """The curves of a training's folder; a last line that is cut off is left out.

    Raises:
        BadData: The folder has none.
    """
    place = folder / CURVES
    if not place.is_file():
        raise BadData(f"{place}: there is no such file; `depthgauge train` writes it.")
    steps, judged = [], []
    for line in place.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if "validation" in entry:
            judged.append({**entry["validation"], "seconds": entry.get("seconds", 0.0)})
        elif "step" in entry:
            steps.append(entry)
    return Curves(tuple(steps), tuple(judged))


def write_progress(folder: Path, title: str = "Training", *, running: bool = False) -> Path:
    """Draws the page of a training's folder; while it runs, the page reloads itself.

    Raises:
        BadData: The folder has no curves.
    """
    curves = read_curves(folder)
    sections = [Section("curves", "Curves", "curves", _charts(curves))]
    if (folder / SAMPLES).is_file():
        body = render("training_samples.html.j2", rows=list(_rows(folder / SAMPLES)))
        sections.append(
            Section("samples", "Pairs that it has not learned from", "pairs", body),
        )
    text = str(render_sections(title, _headline(curves), _facts(curves), sections))
    if running:
        reload = f'<head>\n<meta http-equiv="refresh" content="{REFRESH_S}">'
        text = text.replace("<head>", reload, 1)
    place = folder / PAGE
    write_text(place, text)
    return place


def _headline(curves: Curves) -> str:
    if curves.judged:
        last = curves.judged[-1]
        return (
            f"After {last['step']:.0f} steps, the mean error on pairs that it has not learned from "
            f"is {last['epe_px']:.3g} px; {last['bad2']:.3g} % are wrong by more than 2 px."
        )
    if curves.steps:
        now = curves.steps[-1]
        return f"After {now['step']:.0f} steps, the loss is {now['loss']:.3g}."
    return "It has just begun."


def _facts(curves: Curves) -> list[tuple[str, str]]:
    if not curves.steps:
        return []
    last = curves.steps[-1]
    return [
        ("steps", f"{last['step']:.0f}"),
        ("minutes", f"{last.get('seconds', 0) / 60:.1f}"),
        ("pairs per second", f"{last.get('pairs_per_s', math.nan):g}"),
    ]


def _charts(curves: Curves) -> Markup:
    drawn = [
        Markup('<figure class="wide">{}</figure>').format(line_chart(name, curves))
        for name in _SERIES
        if any(name in entry for entry in curves.steps)
    ]
    return Markup("\n").join(drawn)


def line_chart(name: str, curves: Curves) -> Markup:
    """One series over the steps; dots are pairs that no step has seen."""
    title, unit, logarithmic = _SERIES[name]
    points = _finite(curves.steps, name, logarithmic)
    dots = _finite(curves.judged, name, logarithmic)
    values = [y for _, y in points + dots] or [1.0]
    low, high = (min(values), max(values)) if logarithmic else (0.0, max(values))
    if not low < high:
        low, high = (0.5 * low, 2 * high) if logarithmic else (0.0, high + 1)
    most = max((x for x, _ in points + dots), default=1.0)
    x = Scale(0, most, _LEFT, _WIDTH - 20)
    y = Scale(low, high, _HEIGHT, _TOP, log=logarithmic)
    parts = [*_frame(x, y, f"{title} in {unit}")]
    parts.append(tag("path", d=path([(x(a), y(b)) for a, b in points]), class_="line s0"))
    parts += [tag("circle", cx=x(a), cy=y(b), r=4, class_="mark s1") for a, b in dots]
    about = (
        f"{title}: from {values[0]:.3g} to {values[len(points) - 1]:.3g} {unit}" if points else ""
    )
    return chart(f"chart-{name}", title, about, (_WIDTH, _HEIGHT + _BELOW), *parts)


def _finite(
    entries: Sequence[Mapping[str, float]], name: str, positive: bool
) -> list[tuple[float, float]]:
    found = [(float(e["step"]), float(e[name])) for e in entries if name in e]
    return [(a, b) for a, b in found if math.isfinite(b) and (b > 0 or not positive)]


def _frame(x: Scale, y: Scale, title: str) -> Iterator[Markup]:
    for tick in log_ticks(y.low, y.high) if y.log else nice_ticks(y.low, y.high):
        yield tag("path", d=path([(x.start, y(tick)), (x.end, y(tick))]), class_="grid")
        yield words(f"{tick:g}", _LEFT - 8, y(tick) + 4, "tick", "end")
    for tick in nice_ticks(x.low, x.high):
        yield tag("path", d=path([(x(tick), y.start), (x(tick), y.start + 4)]), class_="frame")
        yield words(f"{tick:g}", x(tick), y.start + 17, "tick", "middle")
    yield tag("path", d=path([(x.start, y.start), (x.end, y.start)]), class_="frame")
    yield words("step", _LEFT, y.start + 38, "axis-title")
    yield words(title, 0, 14, "axis-title")


def _rows(place: Path) -> Iterator[list[dict[str, Any]]]:
    with np.load(place) as stored:
        pictures, truths, estimates = (stored[n] for n in ("first", "truth", "estimate"))
    for picture, truth, estimate in zip(pictures, truths, estimates, strict=True):
        yield [
            _cell(picture, "picture"),
            *(
                _cell(p, w)
                for p, w in zip(_painted(truth, estimate), ("truth", "estimate"), strict=True)
            ),
        ]


def _painted(
    truth: NDArray[np.float32], estimate: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Both in the colours of the truth's range."""
    known = np.asarray(np.isfinite(truth).all(-1))
    all_known = np.ones(known.shape, bool)
    if truth.shape[-1] == 2:
        lengths = np.linalg.norm(truth, axis=-1)[known]
        longest = float(np.percentile(lengths, 99)) if lengths.size else 1.0
        longest = max(longest, 1e-3)
        return paint_flow(truth, known, longest), paint_flow(estimate, all_known, longest)
    values = truth[..., 0][known]
    low, high = np.percentile(values, (1, 99)) if values.size else (0.0, 1.0)
    low, high = float(low), max(float(high), float(low) + 1e-3)
    return (
        paint(truth[..., 0], known, "viridis", low, high),
        paint(estimate[..., 0], all_known, "viridis", low, high),
    )


def _cell(pixels: NDArray[np.uint8], caption: str) -> dict[str, Any]:
    return {
        "picture": data_url(encode(np.ascontiguousarray(pixels), lossless=True)),
        "caption": caption,
        "width": pixels.shape[1],
        "height": pixels.shape[0],
    }
