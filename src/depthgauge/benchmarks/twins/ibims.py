"""iBims-1: what the official evaluation prints (Python version 0.9 of its authors).

Its rules, each a named option: a missing estimate (0 or NaN) costs nothing; planes below 5 % of the
picture have no score; pe_* are means over the planes of all pictures, not over pictures; dbe_com is
not cut at 10 px; a picture without a true edge is left out of dbe_*; if no estimated edge is within
10 px of a true one, both are 10.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._monocular_columns import HIGHER, ValidPixels, scores
from depthgauge.datasets.monocular.ibims import KINDS, to_camera_axes
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.boundary_maps.depth_jumps import canny_edges
from depthgauge.geometry.distances import distance_to
from depthgauge.geometry.projection import ray_slopes
from depthgauge.io import read_map
from depthgauge.metrics.monocular.plane_errors import plane_error
from depthgauge.types import Map, Mask, Sample, Score, Truth

__all__ = ["evaluate", "options", "pool", "score_ids"]

_COLUMNS = ("abs_rel", "sq_rel", "rmse", "log10", "delta1", "delta2", "delta3")
_SIDES = ("dde_0", "dde_p", "dde_m")
_PLANES = ("pe_fla", "pe_ori")
_EDGES = ("dbe_acc", "dbe_com")
_NEAR_PX = 10.0
_FULL_SIZE = 640 * 480
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "missing": ("good",),
    "side_m": (3.0,),
    "least_plane": (0.05,),
    "plane_scale": ("median of each plane",),
    "planes_pool": ("all planes",),
    "edge_limit_px": (_NEAR_PX,),
    "completeness": ("not truncated",),
    "canny": ("scikit-image, sigma sqrt(2), 0.1, 0.2",),
}
_PLAIN = {"log_base": "e", "zero_estimates": "plain", "columns": _COLUMNS}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """In the order in which the program prints them."""
    return (*_COLUMNS, *_SIDES, *_PLANES, *_EDGES)


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """All columns of one picture."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    truth = np.nan_to_num(sample.truth["depth"], nan=0.0)
    estimate = np.nan_to_num(read_map(estimate_path, quantity="depth", raw=True), nan=0.0)
    if estimate.shape != truth.shape:
        raise WrongShape(
            f"{estimate_path}: is {estimate.shape[1]}x{estimate.shape[0]} but must be "
            f"{truth.shape[1]}x{truth.shape[0]}."
        )
    valid = sample.truth["usable_mask"] & (truth != 0) & (estimate != 0)
    if not valid.any():
        raise BadData(f"{estimate_path}: has no value where the truth has one.")
    found = _sides(estimate[valid], truth[valid], options["side_m"])
    with np.errstate(divide="ignore", invalid="ignore"):
        known = estimate[valid].astype(np.float64), truth[valid].astype(np.float64)
        found |= scores(ValidPixels(*known, _PLAIN), int((truth != 0).sum() - valid.sum()))
    found |= _planes(sample, estimate, truth, valid, options)
    found |= _edges(estimate, np.asarray(sample.truth["edges_mask"], bool))
    return TwinScores({name: found[name] for name in score_ids(options)})


def _sides(estimate: Map, truth: Map, side_m: float) -> dict[str, Score]:
    near, true = estimate <= side_m, truth <= side_m
    n = truth.size
    parts = {"dde_0": near == true, "dde_p": ~near & true, "dde_m": near & ~true}
    return {k: Score(float(v.mean()), n, 0, float(v.sum()), "") for k, v in parts.items()}


def _planes(
    sample: Sample, estimate: Map, truth: Map, valid: Mask, options: Mapping[str, Any]
) -> dict[str, Score]:
    """Means over the planes of a picture, whose totals give the mean over all planes."""
    stored = sample.truth or Truth({})
    x, y = ray_slopes(sample.inputs["camera"])
    errors = []
    for kind in KINDS:
        labels, normals = stored[f"{kind}_labels"], to_camera_axes(stored[f"{kind}_planes"][:, :3])
        for number, normal in enumerate(normals, start=1):
            inside = valid & (labels == number)
            if inside.sum() < options["least_plane"] * _FULL_SIZE:
                continue
            scale = float(np.median(truth[inside])) / float(np.median(estimate[inside]))
            slopes = x[inside], y[inside]
            flatness_m, angle = plane_error(estimate[inside], slopes, scale, normal)
            errors.append((100.0 * flatness_m, angle))
    sums = np.sum(errors, axis=0) if errors else (0.0, 0.0)
    return {
        name: Score(float(total) / len(errors) if errors else math.nan, len(errors), 0, total, unit)
        for name, total, unit in zip(_PLANES, map(float, sums), ("cm", "deg"), strict=True)
    }


def _edges(estimate: Map, true: Mask) -> dict[str, Score]:
    if not true.any():
        return {name: Score(math.nan, 0, 0, None, "px") for name in _EDGES}
    found = canny_edges(np.where(estimate != 0, estimate, np.nan))
    away = distance_to(true)[found].astype(np.float64)
    near = away[away < _NEAR_PX]
    accuracy = completeness = _NEAR_PX
    if near.size:
        accuracy = float(near.mean())
        completeness = float(distance_to(found)[true].astype(np.float64).mean())
    values = zip(_EDGES, (accuracy, completeness), (near.size, int(true.sum())), strict=True)
    return {name: Score(value, count, 0, None, "px") for name, value, count in values}


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """Plain means over pictures that have a value; pe_* over all planes."""
    pooled = {}
    for name in score_ids(options):
        found = [sample[name] for sample in samples.values() if name in sample]
        if name in _PLANES:
            planes = sum(score.count for score in found)
            total = math.fsum(score.total or 0.0 for score in found)
            pooled[name] = total / planes if planes else math.nan
        else:
            values = [score.value for score in found if not math.isnan(score.value)]
            pooled[name] = math.fsum(values) / len(values) if values else math.nan
    return pooled


SPEC = Twin(
    revision=1,
    higher=(*HIGHER, "dde_0"),
    missing=0.0,
    explained={
        "missing": "A pixel without an estimate costs nothing in any column.",
        "completeness": "dbe_com is not cut at 10 px, so a single edge far away can cost more than "
        "no edge at all, which costs 10.",
    },
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
)
