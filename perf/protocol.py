"""The protocol that is timed, by us and as people write it, and the proof that all agree.

Every version returns, for each region: pixels with an estimate, pixels over each threshold, sum of
the absolute and of the squared error, and the three quantiles if they are requested.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numba import njit, prange

from depthgauge.benchmarks.score_ids import ScoreSpec, make_spec
from depthgauge.engine.scoring.measure import PreparedSample, measure
from depthgauge.metrics.fused.columns import Column
from depthgauge.metrics.moments import measure_moments
from depthgauge.metrics.order import select
from depthgauge.metrics.terms import ABS, SQUARE, Order, over
from depthgauge.types import Map, Mask, Plane, Score
from perf.scenes import Scene

THRESHOLDS = (2.0, 4.0, 6.0, 8.0)
PERCENTS = (50.0, 90.0, 99.0)
TERMS = (*(over(t) for t in THRESHOLDS), ABS, SQUARE)

Found = dict[str, list[float]]


def ours(estimate: Map, truth: Map, plane: Plane, quantiles: bool) -> Found:
    """The fused pass, and the two passes of the quantiles."""
    moments = measure_moments(estimate, truth, plane, TERMS)
    found: Found = {}
    for name in plane.names:
        state = moments.state(name, TERMS)
        found[name] = [state.count, *state.sums.tolist()]
    if quantiles:
        wanted = [(name, Order(p)) for name in plane.names for p in PERCENTS]
        for (name, _), (value, _, _) in select(estimate, truth, plane, wanted).items():
            found[name].append(value)
    return found


def sums(scene: Scene, plane: Plane, terms: tuple[Column, ...]) -> np.ndarray:
    """The first of the terms, summed over each region."""
    moments = measure_moments(scene.estimate, scene.truth, plane, terms)
    return np.array([moments.state(name, terms).sums[0] for name in plane.names])


def size_of(error: Map, estimate: Map, truth: Map) -> np.ndarray:
    """A term as a user would write it: |e|."""
    return np.abs(error)


def plain_mae(scene: Scene, weights: Map) -> list[float]:
    """One metric as most people write it, region by region."""
    error = np.abs(scene.estimate - scene.truth)
    valid = np.isfinite(error)
    return [float(error[valid & mask].mean(dtype=np.float64)) for mask in scene.masks.values()]


def plain_weighted_mae(scene: Scene, weights: Map) -> list[float]:
    """The same with weights."""
    error = np.abs(scene.estimate - scene.truth)
    valid = np.isfinite(error)
    inside = [valid & mask for mask in scene.masks.values()]
    return [float(np.average(error[m], weights=weights[m])) for m in inside]


def specs(names: Mapping[str, Mask], quantiles: bool) -> list[ScoreSpec]:
    """The same as score ids for the public call."""
    made = [make_spec("badpix", {"threshold": t}, n) for n in names for t in THRESHOLDS]
    made += [make_spec(metric, {}, n) for n in names for metric in ("mae", "rms")]
    if quantiles:
        made += [make_spec("quantile", {"percent": p}, n) for n in names for p in PERCENTS]
    return made


def public(scene: Scene, quantiles: bool) -> dict[str, Score]:
    """What a benchmark calls: masks in, scores out."""
    prepared = PreparedSample(scene.estimate, scene.truth, scene.masks)
    wanted = specs(scene.masks, quantiles)
    return measure(prepared, wanted, "disparity", "skip", "image")


def from_public(scores: Mapping[str, Score], names: Mapping[str, Mask], quantiles: bool) -> Found:
    """The public scores in the form of the others."""
    found: Found = {}
    for n in names:
        n_pixels = scores[f"mae@{n}"].count
        bad = [scores[f"badpix:{t:g}@{n}"].total for t in THRESHOLDS]
        squares = scores[f"rms@{n}"].value ** 2 * n_pixels
        found[n] = [n_pixels, *bad, scores[f"mae@{n}"].total, squares]  # type: ignore[list-item]
        if quantiles:
            found[n] += [scores[f"quantile:{p:g}@{n}"].value for p in PERCENTS]
    return found


def plain_numpy(scene: Scene, quantiles: bool) -> Found:
    """As it is written in most repositories: each metric a function of maps and mask."""

    def errors(mask: Mask) -> np.ndarray:
        valid = mask & np.isfinite(scene.truth) & np.isfinite(scene.estimate)
        return np.abs(scene.estimate[valid] - scene.truth[valid])

    found: Found = {}
    for name, mask in scene.masks.items():
        row: list[float] = [errors(mask).size]
        row += [float((errors(mask) > t).sum()) for t in THRESHOLDS]
        row.append(float(errors(mask).sum(dtype=np.float64)))
        row.append(float((errors(mask).astype(np.float64) ** 2).sum()))
        if quantiles:
            row += [float(np.percentile(errors(mask), p)) for p in PERCENTS]
        found[name] = row
    return found


def careful_numpy(scene: Scene, quantiles: bool) -> Found:
    """One map of errors, one array of errors a region, all metrics from it."""
    error = np.abs(scene.estimate - scene.truth)
    valid = np.isfinite(error)
    found: Found = {}
    for name, mask in scene.masks.items():
        inside = error[mask & valid]
        row: list[float] = [inside.size]
        row += [float(np.count_nonzero(inside > t)) for t in THRESHOLDS]
        row.append(float(inside.sum(dtype=np.float64)))
        row.append(float(np.square(inside, dtype=np.float64).sum()))
        if quantiles:
            row += np.percentile(inside, PERCENTS).tolist()
        found[name] = row
    return found


def limit(estimate: Map, truth: Map, codes: np.ndarray) -> float:
    """No program that looks at every pixel is faster than adding them up."""
    return total(estimate.ravel()) + total(truth.ravel()) + total(codes.ravel())


@njit(parallel=True, fastmath=True, cache=True)
def total(values):  # type: ignore[no-untyped-def]
    """The sum of an array with all threads."""
    result = values.dtype.type(0)
    for i in prange(values.size):
        result += values[i]
    return result


def require_agreement(name: str, found: Found, expected: Found) -> None:
    """Equal counts; sums to 1e-9; quantiles to 1e-6, since NumPy interpolates in float32."""
    counts = 1 + len(THRESHOLDS)
    for region, row in expected.items():
        here = found[region]
        same = (
            len(here) == len(row)
            and here[:counts] == row[:counts]
            and np.allclose(here[counts : counts + 2], row[counts : counts + 2], rtol=1e-9, atol=0)
            and np.allclose(here[counts + 2 :], row[counts + 2 :], rtol=1e-6, atol=0)
        )
        if not same:
            raise SystemExit(f"{name} disagrees on '{region}':\n  {here}\n  {row}")
