"""The pictures of docs/simulated-annotator.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.simulate.annotator import HUMAN, NONE, AnnotatorNoise, simulate
from depthgauge.synth.sets.single_views import ExactView, make_view
from tools.evidence import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
COLOURS = {"planar": "#1f6fb4", "curved": "#d1495b", "mixed": "#5d8a3a"}
LINES = {"fold": "#ff9d00", "sharp": "#e3002b", "smooth": "#00b050"}
_UNITS = {
    "tilt of single normals": "mean tilt of each normal, degrees",
    "tilt of all normals together": "mean common tilt, degrees",
    "distance between normals": "distance between normals, widths of the image",
}
_EXAMPLE, _PERSON = ("mixed", 2), 5


def draw_curves(scenes: Mapping[str, Sequence[float]], curves: Mapping[str, Any]) -> None:
    """Error of every scene without noise, and error against noise and density."""
    plt = _pyplot()
    chart, places = plt.subplots(1, 1 + len(curves), figsize=(15, 3.6), layout="constrained")
    _draw_scenes(places[0], scenes)
    for place, (name, by_kind) in zip(places[1:], curves.items(), strict=True):
        for kind, (values, errors) in by_kind.items():
            place.plot(values, errors, "o-", color=COLOURS[kind], label=kind, markersize=4)
        if name == "distance between normals":
            place.set_xscale("log")
            place.minorticks_off()
        place.set_xticks(values, [f"{value:g}" for value in values])
        place.set(title=name, xlabel=_UNITS[name], ylim=(0, None))
        place.grid(alpha=0.25)
    places[1].legend(frameon=False)
    _save(plt, chart, "oasis-reconstruction.png")


def _draw_scenes(place: Any, scenes: Mapping[str, Sequence[float]]) -> None:
    for row, (kind, errors) in enumerate(scenes.items()):
        place.plot(np.full(len(errors), row), errors, "o", color=COLOURS[kind], alpha=0.6)
    for row, limit in enumerate((1.0, 2.0)):
        place.plot((row - 0.35, row + 0.35), (limit, limit), color="black", linewidth=1)
    place.set_xticks(range(len(scenes)), list(scenes))
    place.set(
        title="without noise",
        ylabel="EDist, % of the depth range",
        xlim=(-0.6, 2.6),
        ylim=(0, None),
    )
    place.text(1.4, 2.0, "aim", ha="left", va="center", fontsize=9)
    place.grid(alpha=0.25, axis="y")


def draw_example() -> None:
    """One scene as it is, drawn without and with human errors, and what comes of it."""
    plt = _pyplot()
    view = make_view(*_EXAMPLE, (640, 480))
    chart, places = plt.subplots(2, 3, figsize=(13, 6.8), layout="constrained")
    for row, (name, noise) in zip(places, (("no noise", NONE), ("human", HUMAN)), strict=True):
        _draw_row(row, name, view, noise)
    _save(plt, chart, "simulated-annotator.png")


def _draw_row(row: Any, name: str, view: ExactView, noise: AnnotatorNoise) -> None:
    annotation = simulate(view, noise, _PERSON)
    made = reconstruct(annotation)
    errors = exact_errors(view, made)
    _draw_annotation(row[0], view, annotation)
    row[0].set_title(
        f"{name}: {len(annotation.strokes)} strokes, {len(annotation.normals)} normals"
    )
    facing = np.clip((made.normals * [1, 1, -1] + 1) / 2, 0, 1)
    row[1].imshow(np.nan_to_num(facing, nan=1.0))
    row[1].set_title(f"normals, off by {errors.mean_angle_deg:.1f} degrees")
    share = 100 * errors.distance_m / errors.range_m
    seen = row[2].imshow(share, cmap="magma", vmin=0, vmax=2 if noise is NONE else 40)
    row[2].set_title(f"distance, mean {errors.edist_percent:.2f} % of the depth range")
    row[2].figure.colorbar(seen, ax=row[2], shrink=0.8)
    for place in row:
        place.set_axis_off()


def _draw_annotation(place: Any, view: ExactView, annotation: Annotation) -> None:
    place.imshow(view.image // 2 + 100)
    for stroke in annotation.strokes.values():
        kind = "fold" if stroke.kind == "fold" else "smooth" if stroke.smooth else "sharp"
        x, y = np.array(stroke.points_px).T
        place.plot(x, y, color=LINES[kind], linewidth=1.3)
    at = np.array([mark.at_px for mark in annotation.normals.values()])
    normals = np.array([mark.normal for mark in annotation.normals.values()])
    place.quiver(
        *at.T, normals[:, 0], normals[:, 1], color="#1030c0", angles="xy", scale=28, width=0.003
    )
    place.set(xlim=(-0.5, view.size_px[0] - 0.5), ylim=(view.size_px[1] - 0.5, -0.5))


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _save(plt: Any, chart: Any, name: str) -> None:
    chart.savefig(IMAGES / name, dpi=80, metadata={"Software": ""}, pil_kwargs={"optimize": True})
    plt.close(chart)
