"""A ball with more and more exact normals, rounded and as published: for docs/reconstruction.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import Annotation, NormalMark
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.exact_view import view_of_sample
from depthgauge.synth.sets.single_views import ExactView
from depthgauge.types import Camera, Inputs, Sample, Truth
from tools._measured import table
from tools.evidence import Number, within

RADIUS_PX, SIZE_PX, FOCAL_PX = 67.0, 192, 300.0
_FAR_M = 4.0
COUNTS: Mapping[int, tuple[float, float]] = {
    1: (2.5, 50.0),
    10: (2.5, 40.0),
    36: (2.5, 20.0),
    139: (1.8, 8.0),
}
"""Normals on the ball, and errors in per cent of the radius: where it is rounded at most the first;
as published at least that, and at most the second."""
WAYS = {"rounded": True, "as published": False}


def ball_numbers() -> Iterator[Number]:
    """Mean distance on the ball in percent of its radius, after the best scale."""
    view = ball_view()
    drawn = simulate(view)
    for count, (between, most) in COUNTS.items():
        annotation = with_normals(drawn, view, count)
        limits = ((0.0, between), (between, most))
        for (way, rounded), (least, largest) in zip(WAYS.items(), limits, strict=True):
            error = _error(view, annotation, rounded=rounded)
            yield within(_name(count, way), error, least, largest)


def ball_table(numbers: Mapping[str, float]) -> str:
    """Rows for the page."""
    rows = [[str(n), *(f"{numbers[_name(n, way)]:.2g} %" for way in WAYS)] for n in COUNTS]
    return table(["normals by hand on the ball", "rounded", "as published (`rounded=False`)"], rows)


def ball_view() -> ExactView:
    """A ball before a wall, both in closed form."""
    middle = (SIZE_PX - 1) / 2
    y, x = (np.mgrid[:SIZE_PX, :SIZE_PX] - middle) / FOCAL_PX
    rays = np.stack([x, y, np.ones_like(x)], axis=-1)
    square = (rays**2).sum(axis=2)
    half = _FAR_M**2 - square * (_FAR_M**2 - _radius_m() ** 2)
    on = half > 0
    depth = np.where(on, (_FAR_M - np.sqrt(np.maximum(half, 0))) / square, 1.5 * _FAR_M)
    normals = np.where(on[..., None], rays * depth[..., None] - [0, 0, _FAR_M], [0, 0, -1.0])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    truth = {
        "depth": depth,
        "normals": normals,
        "camera": Camera((FOCAL_PX, FOCAL_PX), (middle, middle), (SIZE_PX, SIZE_PX)),
        "smooth_labels": np.where(on, 1, 2),
    }
    image = np.full((SIZE_PX, SIZE_PX, 3), 90, np.uint8)
    return view_of_sample(Sample("ball", Inputs({"left_image": image}), Truth(truth)))


def with_normals(drawn: Annotation, view: ExactView, count: int) -> Annotation:
    """The same lines with this many exact normals on the ball, spread evenly."""
    labels = view.smooth_labels
    middle = (SIZE_PX - 1) / 2
    ball = labels[int(middle), int(middle)]
    kept = [m for m in drawn.normals.values() if labels[int(m.at_px[1]), int(m.at_px[0])] != ball]
    for i in range(count):
        away = 0.94 * RADIUS_PX * math.sqrt((i + 0.5) / count) if count > 1 else 0.0
        turn = i * math.pi * (3 - math.sqrt(5))
        x, y = (round(middle + away * part(turn)) for part in (math.cos, math.sin))
        a, b, c = (float(v) for v in view.normals[y, x])
        kept.append(NormalMark((float(x), float(y)), (a, b, c)))
    return replace(drawn, normals={f"n{i}": mark for i, mark in enumerate(kept, 1)})


def _error(view: ExactView, annotation: Annotation, *, rounded: bool) -> float:
    distance = exact_errors(view, reconstruct(annotation, rounded=rounded)).distance_m
    on = view.depth < _FAR_M
    return 100 * float(np.mean(distance[on & np.isfinite(distance)])) / _radius_m()


def _radius_m() -> float:
    """Of the ball whose outline is a circle of `RADIUS_PX`."""
    return _FAR_M * math.sin(math.atan(RADIUS_PX / FOCAL_PX))


def _name(count: int, way: str) -> str:
    return f"ball, {count} normals, {way}: distance, % of the radius"
