"""Beyond the paper: balls aside, people together, advice; each with a budget that can fail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.advising.uncertainty import uncertainty
from depthgauge.annotate.fusing.fusion import fuse
from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.records.annotation import Annotation, NormalMark, Stroke
from depthgauge.annotate.simulate.annotator import HUMAN, NONE, AnnotatorNoise, simulate
from depthgauge.annotate.simulate.exact_view import view_of_sample
from depthgauge.synth.sets.single_views import KINDS, ExactView, make_view
from depthgauge.types import Camera, Inputs, Map, Sample, Truth
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
SMALL_PX = (240, 180)
SEEDS = (610, 611, 612)
"""Scenes of each kind; nothing was tuned on them, nor looked at before."""
TOGETHER = 8
OWN = replace(HUMAN, shared_surface_deg=0.0, shared_tilt_deg=0.0)
"""People whose errors are their own."""
SHARED = replace(
    NONE,
    shared_surface_deg=HUMAN.shared_surface_deg,
    shared_tilt_deg=HUMAN.shared_tilt_deg,
    stretch=HUMAN.stretch,
    spacing_widths=HUMAN.spacing_widths,
    relation_deg=HUMAN.relation_deg,
)
"""A person without errors of their own: the mean of infinitely many people."""
FUSED: Mapping[str, tuple[AnnotatorNoise, float]] = {
    "own": (OWN, 1.0),
    "own and shared": (HUMAN, 1.15),
}
"""Errors, and the largest error of the fusion relative to the best person's; it must be below 1 for
errors of their own. On the scenes that it was tuned on, 40 to 42 of each kind, it was 0.81 and
0.97: the second is not claimed to be below 1."""
ADVISED = 2
"""People a scene who are given advice."""
_CHECKED = 4
_LONGEST = 0.1
"""An occlusion longer than this share of the width is drawn as a fold, for advice to find."""


def more_numbers() -> Iterator[Number]:
    """All of them."""
    yield from _aside()
    views = [make_view(kind, seed, SMALL_PX, held=True) for kind in KINDS for seed in SEEDS]
    yield from _together(views)
    yield from _normal_advice(views)
    yield from _stroke_advice(views)


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


def _together(views: list[ExactView]) -> Iterator[Number]:
    """People together beside the best of them, who is known only to those who know the truth."""
    floor = float(np.mean([_error(view, reconstruct(simulate(view, SHARED, 1))) for view in views]))
    yield Number("shared errors alone: EDist, %", floor)
    for name, (noise, most) in FUSED.items():
        fused, plain, best, alone, wins = [], [], [], [], 0
        for view in views:
            people = [simulate(view, noise, person) for person in range(1, TOGETHER + 1)]
            errors = [_error(view, reconstruct(one)) for one in people]
            fused.append(_error(view, fuse(people).reconstruction))
            plain.append(_error(view, fuse(people, fit_lines=False).reconstruction))
            best.append(min(errors))
            alone.append(float(np.mean(errors)))
            wins += fused[-1] < best[-1]
        said = f"{TOGETHER} people with {name} errors"
        yield Number(f"{said}, fused: EDist, %", float(np.mean(fused)))
        yield Number(f"{said}, fused without fitting lines: EDist, %", float(np.mean(plain)))
        yield Number(f"{said}, the best one: EDist, %", float(np.mean(best)))
        yield Number(f"{said}, one person: EDist, %", float(np.mean(alone)))
        yield Number(f"{said}: scenes in which the fusion is best, %", 100 * wins / len(views))
        ratio = float(np.mean(fused) / np.mean(best))
        yield within(f"{said}: fused, relative to the best one", ratio, 0.0, most)
        ratio = float(np.mean(fused) / np.mean(alone))
        yield within(f"{said}: fused, relative to one person", ratio, 0.0, 0.7)


def _error(view: ExactView, made: Reconstruction) -> float:
    return exact_errors(view, made).edist_percent


def _normal_advice(views: list[ExactView]) -> Iterator[Number]:
    """The first normal that advice names made exact, beside any other made exact."""
    ranks, followed, others = [], [], []
    for view in views:
        for person in range(1, ADVISED + 1):
            drawn = simulate(view, HUMAN, person)
            found = uncertainty(drawn, max_side_px=None, most=99)
            before = _log_errors(view, found.reconstruction)
            ranks.append(_rank_correlation(np.abs(before), found.depth_percent))
            first = next(one for one in found.advice if one.kind == "normal")
            square = float(np.mean(before**2))
            followed.append(_after(view, drawn, first.id or "new", first.at_px) / square)
            names = np.random.default_rng(0).permutation(list(drawn.normals))[:_CHECKED]
            after = [_after(view, drawn, name, drawn.normals[name].at_px) for name in names]
            others.append(float(np.exp(np.mean(np.log(np.array(after) / square)))))
    yield within("uncertainty and error: rank correlation", float(np.mean(ranks)), 0.2, 1.0)
    left, any_other = (float(np.exp(np.mean(np.log(part)) / 2)) for part in (followed, others))
    yield within("error left after the first normal of the advice", left, 0.0, 0.97)
    yield Number("error left after any normal", any_other)
    yield within("error left after advice, relative to any normal", left / any_other, 0.0, 0.95)


def _stroke_advice(views: list[ExactView]) -> Iterator[Number]:
    """An occlusion drawn as a fold: does advice name it, and what does following it gain?"""
    first, three, chance, gained, by_chance = [], [], [], [], []
    for view in views:
        right = simulate(view, HUMAN, 1)
        wrong, name = _one_wrong(right, view)
        found = [one.id for one in uncertainty(wrong, most=99).advice if one.kind == "stroke"]
        chance.append(1 / len(right.strokes))
        first.append(name in found[:1])
        three.append(name in found[:3])
        before, after = (
            math.sqrt(np.mean(_log_errors(view, reconstruct(one)) ** 2)) for one in (wrong, right)
        )
        gained.append((before - after) * first[-1])
        by_chance.append((before - after) * chance[-1])
    share = 100 * float(np.mean(first))
    yield within("wrong stroke named first, %", share, 100 * 3 * float(np.mean(chance)), 100.0)
    yield Number("wrong stroke among the first three, %", 100 * float(np.mean(three)))
    yield Number("wrong stroke named by chance, %", 100 * float(np.mean(chance)))
    ratio = float(np.sum(gained) / np.sum(by_chance))
    yield within(
        "gain by the first stroke of the advice, relative to any stroke", ratio, 1.5, 100.0
    )


def _one_wrong(drawn: Annotation, view: ExactView) -> tuple[Annotation, str]:
    """A long occlusion, chosen by the picture, drawn as a fold."""
    long = [
        name
        for name, stroke in drawn.strokes.items()
        if stroke.kind == "occlusion" and _length(stroke) > _LONGEST * view.size_px[0]
    ]
    seed = int(view.id.encode().hex(), 16) % 2**32
    name = long[np.random.default_rng(seed).integers(len(long))]
    fold = Stroke("fold", drawn.strokes[name].points_px)
    return replace(drawn, strokes={**drawn.strokes, name: fold}), name


def _length(stroke: Stroke) -> float:
    return float(np.hypot(*np.diff(np.array(stroke.points_px), axis=0).T).sum())


def _after(view: ExactView, drawn: Annotation, name: str, at: tuple[float, float]) -> float:
    better = replace(drawn, normals={**drawn.normals, name: _exact(view, at)})
    return float(np.mean(_log_errors(view, reconstruct(better)) ** 2))


def _log_errors(view: ExactView, made: Reconstruction) -> Array:
    """Errors of log depth, each continuous surface up to its scale."""
    labels = made.segmentation.continuous.ravel()
    errors = (np.log(made.depth) - np.log(view.depth)).astype(np.float64).ravel()
    means = np.bincount(labels, errors) / np.maximum(np.bincount(labels), 1)
    return np.asarray(errors - means[labels])


def _rank_correlation(first: Array, second: Map) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(first.ravel(), second.ravel()).statistic)
