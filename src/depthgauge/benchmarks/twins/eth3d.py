"""ETH3D two-view: what `ETH3DTwoViewEvaluation` prints for a scene.

Its rules, each a named option: an estimate that is not finite, or further than the image's width
from 0, is missing; `bad_*`, `avgerr`, `rms` and the quantiles are over estimated pixels only, and
`coverage` stands beside them; without a single estimate, bad is 1 and the others are infinite. A
quantile is the sorted error at the index floor(n * q), where q is float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.errors import BadData, WrongShape
from depthgauge.io import read_labels, read_map
from depthgauge.types import Map, Mask, Sample, Score

REGIONS = ("nonocc", "all")
THRESHOLDS = {"bad_0_5": 0.5, "bad_1_0": 1.0, "bad_2_0": 2.0, "bad_4_0": 4.0}
QUANTILES = {"a50": 0.5, "a90": 0.9, "a95": 0.95, "a99": 0.99}
COLUMNS = ("coverage", *THRESHOLDS, "avgerr", "rms", *QUANTILES)
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "bad_over": ("estimated",),
    "beyond_width": ("missing",),
    "no_estimate": ("bad 1, others infinite",),
    "quantile": ("index floor(n * float32(q))",),
    "rms": ("float32",),
    "pfm_scale": ("ignored",),
}
_EXPLAINED = {
    "bad_over": "Fractions and means are over estimated pixels; leaving out hard pixels helps.",
    "beyond_width": "An estimate further than the width of the image from 0 counts as missing.",
    "no_estimate": "What a map without a single estimate scores.",
    "quantile": "The sorted error at that index; nothing is interpolated.",
    "rms": "The root is taken in float32.",
    "pfm_scale": "Only the sign of a PFM's scale is used, for the byte order.",
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The program's eleven numbers for both sets of pixels."""
    return tuple(f"{name}@{region}" for region in REGIONS for name in COLUMNS)


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The eleven numbers on the mask's pixels and on all."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    truth, estimate = _read(sample.truth["disparity_path"]), _read(estimate_path)
    if truth.shape != estimate.shape:
        (h, w), (th, tw) = estimate.shape, truth.shape
        raise WrongShape(f"{estimate_path}: is {w}x{h} but the truth is {tw}x{th}.")
    known = np.isfinite(truth)
    regions = {"all": known}
    if "mask_path" in sample.truth:
        regions["nonocc"] = known & _mask(sample.truth["mask_path"], truth)
    scores = {
        f"{name}@{region}": score
        for region, used in regions.items()
        for name, score in _columns(estimate[used], truth[used], truth.shape[1])
    }
    ordered = {name: scores[name] for name in score_ids(options) if name in scores}
    return TwinScores(ordered, tuple(set(REGIONS) - set(regions)))


def _read(path: Path) -> Map:
    # The program takes only the byte order from a PFM's scale.
    return read_map(path, quantity="disparity", raw=True, scale=1)


def _mask(path: Path, truth: Map) -> Mask:
    mask = read_labels(path)
    if mask.shape != truth.shape:
        raise WrongShape(f"{path}: is {mask.shape} but the truth is {truth.shape} (rows, columns).")
    return np.asarray(mask == 255)


def _columns(
    estimate: NDArray[np.float32], truth: NDArray[np.float32], width: int
) -> Iterator[tuple[str, Score]]:
    given = np.isfinite(estimate) & (estimate <= width) & (estimate >= -width)
    errors = np.sort(np.abs(estimate[given] - truth[given]))
    n, missing = errors.size, truth.size - errors.size
    covered = n / truth.size if truth.size else math.nan
    yield "coverage", Score(covered, n, missing, float(n), "")
    for name, threshold in THRESHOLDS.items():
        bad = int(n - np.searchsorted(errors, np.float32(threshold), side="right"))
        yield name, Score(bad / n if n else 1.0, n, missing, float(bad), "")
    total = float(errors.sum(dtype=np.float64))
    yield "avgerr", Score(total / n if n else math.inf, n, missing, total, "px")
    squares = float((errors * errors).sum(dtype=np.float64))
    rms = float(np.sqrt(np.float32(squares / n))) if n else math.inf
    yield "rms", Score(rms, n, missing, None, "px")
    for name, share in QUANTILES.items():
        # The program multiplies in float32: 100 * 0.95f is 95, not 94.99.
        index = int(np.floor(np.float32(n) * np.float32(share)))
        value = float(errors[index]) if n else math.inf
        yield name, Score(value, n, missing, None, "px")


SPEC = Twin(
    revision=1,
    main="bad_1_0@nonocc",
    higher=("coverage",),
    missing=np.inf,
    options=options,
    explained=_EXPLAINED,
    score_ids=score_ids,
    evaluate=evaluate,
)
