"""Beyond the paper: balls away from the middle of the picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import Annotation, NormalMark
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.exact_view import view_of_sample
from depthgauge.synth.sets.single_views import ExactView
from depthgauge.types import Camera, Inputs, Sample, Truth
from tools._measured import table
from tools.evidence import Number, within

Array = NDArray[np.float64]

WIDTH, HEIGHT, FOCAL_PX = 320, 240, 192.0
"""A wide picture: a focal length of 0.6 widths."""
_FAR_M, _ANGLE = 4.0, math.radians(12)
ASIDE: Mapping[int, float] = {0: 3.5, 50: 4.5, 100: 5.5}
"""How far a ball is from the middle, in px, and the largest error in percent of its radius. Half of
it comes from the line, which is drawn on the last pixels of the ball; with an exact outline it is
1.4, 1.7 and 2.5 (tests/annotate/reconstruct/test_silhouettes.py). Set after a first measurement."""


def more_numbers() -> Iterator[Number]:
    """All of them."""
    yield from _aside()


def more_names() -> list[str]:
    """Names of the numbers that the page shows."""
    return [_ball(aside, rays) for aside in ASIDE for rays in (True, False)]


def more_table(numbers: Mapping[str, float]) -> str:
    """Rows for the page."""
    rows = [
        [
            str(aside),
            f"{numbers[_ball(aside, True)]:.2g} %",
            f"{numbers[_ball(aside, False)]:.2g} %",
        ]
        for aside in ASIDE
    ]
    return table(["px from the middle", "along the ray", "as published (along the axis)"], rows)


def _aside() -> Iterator[Number]:
    for aside, most in ASIDE.items():
        view, radius = _ball_view(aside)
        drawn = _with_one_normal(simulate(view), view, aside)
        for rays, least, largest in ((True, 0.0, most), (False, most, 30.0)):
            made = reconstruct(drawn, along_rays=rays)
            distance = exact_errors(view, made).distance_m
            on = (view.depth < 1.4 * _FAR_M) & np.isfinite(distance)
            error = 100 * float(distance[on].mean()) / radius
            yield within(_ball(aside, rays), error, least, largest)


def _ball(aside: int, rays: bool) -> str:
    way = "silhouettes along the ray" if rays else "along the axis"
    return f"ball {aside} px aside, {way}: distance, % of the radius"


def _ball_view(aside_px: float) -> tuple[ExactView, float]:
    """A ball before a wall, both in closed form, and its radius."""
    middle = ((WIDTH - 1) / 2, (HEIGHT - 1) / 2)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    rays = np.dstack([(x - middle[0]) / FOCAL_PX, (y - middle[1]) / FOCAL_PX, np.ones(x.shape)])
    centre = np.array([aside_px / FOCAL_PX, 0.0, 1.0])
    centre *= _FAR_M / np.linalg.norm(centre)
    radius = _FAR_M * math.sin(_ANGLE)
    along, square = rays @ centre, (rays**2).sum(axis=2)
    root = along**2 - square * (_FAR_M**2 - radius**2)
    on = root > 0
    depth = np.where(on, (along - np.sqrt(np.maximum(root, 0))) / square, 2 * _FAR_M)
    normals = np.where(on[..., None], rays * depth[..., None] - centre, [0, 0, -1.0])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    truth = {
        "depth": depth,
        "normals": normals,
        "camera": Camera((FOCAL_PX, FOCAL_PX), middle, (WIDTH, HEIGHT)),
        "smooth_labels": np.where(on, 1, 2),
    }
    image = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    return view_of_sample(Sample("ball", Inputs({"left_image": image}), Truth(truth))), radius


def _with_one_normal(drawn: Annotation, view: ExactView, aside_px: int) -> Annotation:
    at = (round((WIDTH - 1) / 2 + aside_px), round((HEIGHT - 1) / 2))
    labels = view.smooth_labels
    ball = labels[at[1], at[0]]
    kept = {
        name: mark
        for name, mark in drawn.normals.items()
        if labels[int(mark.at_px[1]), int(mark.at_px[0])] != ball
    }
    return replace(drawn, normals={**kept, "ball": _exact(view, at)})


def _exact(view: ExactView, at: tuple[float, float]) -> NormalMark:
    x, y, z = (float(v) for v in view.normals[round(at[1]), round(at[0])])
    return NormalMark((float(at[0]), float(at[1])), (x, y, z))
