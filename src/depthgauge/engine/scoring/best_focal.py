"""The best single focal length for a method that estimates depth without a focal length.

The locally scale-invariant error of a surface, with a = 1 / f and its best scale inserted, is

    C - (a P + Q)^2 / (a^2 X + Z)

where C, P, Q, X, Z are five sums over its pixels. So every map is read once, and only a cheap
function of one number has to be minimised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.evaluate import prepared_samples
from depthgauge.engine.scoring.measure import PreparedSample, lacking
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.errors import Misuse, NothingScored
from depthgauge.metrics.local_scale import judged_points

SCHEMA = 1
_ASKED = 1.0
"""Stands for the unknown focal length: no estimate has a focal length of one pixel."""
_SHORTEST, _LONGEST = 0.1, 50.0
"""Limits of the search in image widths."""
_STEPS, _FLAT = 400, 1e-6

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BestFocal:
    """The focal length with the least error on a validation set."""

    focal_px: float
    lsiv: float
    samples: int
    """Estimates that were used."""
    own: int
    """Estimates left out because they have their own focal length."""
    undecided: bool
    """Whether the data do not determine it: the error is the same everywhere (then it is the width
    of the widest image), or still falls where the search ends."""
    curve: tuple[tuple[float, float], ...]
    """Focal lengths and the error with each."""

    @property
    def flat(self) -> bool:
        """Whether the error is the same with every focal length."""
        errors = [error for _, error in self.curve]
        return max(errors) - min(errors) <= _FLAT * max(errors)

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        curve = [[focal, error] for focal, error in self.curve]
        return {
            "schema": SCHEMA,
            "focal_px": self.focal_px,
            "lsiv": self.lsiv,
            "lsiv_root": math.sqrt(max(self.lsiv, 0.0)),
            "samples": self.samples,
            "own": self.own,
            "undecided": self.undecided,
            "curve": curve,
        }


def best_focal(
    benchmark: str | Path | Protocol,
    data: str | Path,
    estimates: str | Path,
    *,
    progress: Progress | None = None,
) -> BestFocal:
    """Finds the focal length, in px of the truth's size, with the least `lsiv`.

    Args:
        benchmark: One with the score `lsiv`, on a split that is not the test.
        data: The dataset's folder.
        estimates: The folder of depth estimates.
        progress: Called after each sample.

    Raises:
        Misuse: The benchmark has no `lsiv`.
        NothingScored: No estimate lacks a focal length, or none can be scored.
    """
    protocol = find_benchmark(benchmark)
    spec = _spec(protocol)
    asked = protocol.with_settings(focal_px=_ASKED)
    whole = len(samples_of(protocol, Path(data)))
    sums, widths, count, used, own = [np.zeros((0, 5))], [1], 0, 0, 0
    for done, (sample, prepared) in enumerate(prepared_samples(asked, data, estimates), 1):
        if progress is not None:
            progress(sample, done, whole)
        if lacking(prepared, spec):
            continue
        if prepared.items["estimate_focal_px"] != _ASKED:
            own += 1
            continue
        pixels, found = surface_sums(prepared, spec)
        if pixels:
            used, count = used + 1, count + pixels
            sums.append(found)
            widths.append(prepared.truth.shape[1])
    if not used:
        why = f"all {own} have their own focal length" if own else "none can be scored"
        raise NothingScored(f"{estimates}: there is no estimate without a focal length; {why}.")
    return _minimum(np.concatenate(sums), count, (min(widths[1:]), max(widths)), used, own)


def surface_sums(prepared: PreparedSample, spec: ScoreSpec) -> tuple[int, _Floats]:
    """Pixels used, and C, P, Q, X, Z of each surface, computed as `lsiv` does."""
    maps = (prepared.allowed, prepared.truth, prepared.masks[spec.region])
    camera, labels = prepared.items["camera"], prepared.items["continuous_labels"]
    # With a focal length of 1 px, X and Y of the points are what 1 / f is multiplied by.
    found = judged_points(maps, camera, labels, 1.0, spec.params["least_px"])
    if not len(found.points):
        return 0, np.zeros((0, 5))
    across, target = found.points[:, :2], found.target[:, :2]
    z, wanted = (_centred(v[:, 2], found.surface) for v in (found.points, found.target))
    terms = (
        (target * target).sum(axis=1) + wanted * wanted,
        (across * target).sum(axis=1),
        z * wanted,
        (across * across).sum(axis=1),
        z * z,
    )
    sums = [np.bincount(found.surface, term) for term in terms]
    return len(found.points), np.stack(sums, axis=1).astype(np.float64)


def _centred(values: _Floats, surface: NDArray[np.int64]) -> _Floats:
    """The values minus the mean of their surface; surface numbers may have gaps."""
    means = np.bincount(surface, values) / np.maximum(np.bincount(surface), 1)
    return np.asarray(values - means[surface])


def _spec(protocol: Protocol) -> ScoreSpec:
    for spec in protocol.specs:
        if spec.metric.name == "lsiv" and not spec.resolution:
            return spec
    raise Misuse(
        f"{protocol.id} does not score lsiv, by which a focal length is chosen; use oasis-depth."
    )


def _minimum(sums: _Floats, count: int, widths: tuple[int, int], used: int, own: int) -> BestFocal:
    """A grid of focal lengths, then golden section between the neighbours of the best."""
    from scipy.optimize import minimize_scalar

    c, p, q, x, z = sums.T

    def error(log_focal: float) -> float:
        a = math.exp(-log_focal)
        spread = a * a * x + z
        gained = np.divide((a * p + q) ** 2, spread, out=np.zeros_like(c), where=spread > 0)
        return float((c - gained).sum()) / count

    low, high = math.log(_SHORTEST * widths[0]), math.log(_LONGEST * widths[1])
    grid = np.linspace(low, high, _STEPS)
    errors = [error(focal) for focal in grid]
    best = int(np.argmin(errors))
    found, undecided = grid[best], best in (0, _STEPS - 1)
    if max(errors) - min(errors) <= _FLAT * max(errors):
        found, undecided = math.log(widths[1]), True
    elif not undecided:
        bracket = (grid[best - 1], grid[best], grid[best + 1])
        found = minimize_scalar(error, bracket=bracket, method="golden", tol=1e-9).x
    curve = tuple((math.exp(f), e) for f, e in zip(grid[::8], errors[::8], strict=True))
    return BestFocal(math.exp(found), error(float(found)), used, own, undecided, curve)
