"""Middlebury stereo v3, SDK 1.6: what `runeval` prints with `evaldisp`.

Its rules, each a named option: only +inf is invalid; NaN is a valid estimate that is never bad (and
makes avgErr NaN); the estimate is enlarged by repeating blocks and multiplied by the factor; then
clipped to [0, ndisp]; then rounded, half away from zero, where the scene says `isint`. Errors are
float32 and compared strictly. Sums are float64 here, where the original adds in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.errors import BadData, WrongShape
from depthgauge.io import read_labels, read_map, read_middlebury_limits
from depthgauge.types import Map, Mask, Sample, Score

THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
REGIONS = ("nonocc", "all")
FACTORS = (1, 2, 4)
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "invalid": ("+inf",),
    "nan": ("good",),
    "clip": ("ndisp", "none"),
    "round": ("isint", "never", "always"),
    "resize": ("block",),
    "accumulate": ("float64",),
    "pfm_scale": ("ignored",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """`coverage` once per region, the other four columns once per threshold and region."""
    ids = [f"coverage@{region}" for region in REGIONS]
    for region in REGIONS:
        for t in THRESHOLDS:
            ids += [f"{name}:{t:g}@{region}" for name in ("bad", "invalid", "totbad", "avgErr")]
    return tuple(ids)


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The five columns for every threshold, on the mask's pixels and on all."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    truth = _read(sample.truth["disparity_path"])
    estimate = _read(estimate_path)
    factor = _factor(estimate, truth, estimate_path)
    limits = _limits(sample, estimate_path, factor)
    seen = _as_seen(estimate, truth, factor, limits, options)
    known = truth != np.inf
    regions = {"all": known}
    if "mask_path" in sample.truth:
        regions["nonocc"] = known & _mask(sample.truth["mask_path"], truth)
    scores = {
        name: score
        for region, used in regions.items()
        for name, score in _columns(seen, truth, used, region)
    }
    ordered = {name: scores[name] for name in score_ids(options) if name in scores}
    return TwinScores(ordered, tuple(set(REGIONS) - set(regions)))


@dataclass(frozen=True, slots=True)
class _Limits:
    ndisp: float
    """At the estimate's resolution."""
    whole: bool


def _read(path: Path) -> Map:
    # The program takes only the byte order from a PFM's scale.
    return read_map(path, quantity="disparity", raw=True, scale=1)


def _factor(estimate: Map, truth: Map, path: Path) -> int:
    for factor in FACTORS:
        if truth.shape == (factor * estimate.shape[0], factor * estimate.shape[1]):
            return factor
    raise WrongShape(
        f"{path}: is {estimate.shape[1]}x{estimate.shape[0]} but the truth is "
        f"{truth.shape[1]}x{truth.shape[0]}; it must be exactly 1, 1/2 or 1/4 of that."
    )


def _limits(sample: Sample, estimate_path: Path, factor: int) -> _Limits:
    beside = estimate_path.parent / "calib.txt"
    if beside.is_file():
        return _Limits(*read_middlebury_limits(beside))
    if "calib" not in sample.inputs:
        raise BadData(f"{sample.id}: needs ndisp from a calib.txt, beside the estimate or truth.")
    calib = sample.inputs["calib"]
    return _Limits(calib.ndisp / factor, calib.isint)


def _as_seen(
    estimate: Map, truth: Map, factor: int, limits: _Limits, options: Mapping[str, Any]
) -> Map:
    """The estimate at full size as the evaluator compares it; +inf stays where it is invalid."""
    # Not geometry's resizing: there an infinity is missing, here it marks invalid pixels.
    seen = np.float32(factor) * estimate.repeat(factor, axis=0).repeat(factor, axis=1)
    valid = seen != np.inf
    if options["clip"] == "ndisp":
        seen = np.where(valid, np.clip(seen, 0, np.float32(factor * limits.ndisp)), seen)
    if options["round"] == "always" or (options["round"] == "isint" and limits.whole):
        # In float64: 0.49999997 + 0.5 is 1 in float32.
        away = np.copysign(np.floor(np.abs(seen).astype(np.float64) + 0.5), seen)
        seen = np.where(valid, away, seen).astype(np.float32)
    return seen


def _mask(path: Path, truth: Map) -> Mask:
    mask = read_labels(path)
    if mask.shape != truth.shape:
        raise WrongShape(f"{path}: is {mask.shape} but the truth is {truth.shape} (rows, columns).")
    return np.asarray(mask == 255)


def _columns(seen: Map, truth: Map, used: Mask, region: str) -> Iterator[tuple[str, Score]]:
    n = int(used.sum())
    values, known = seen[used], truth[used]
    valid = values != np.inf
    count = int(valid.sum())
    lost = n - count
    errors = np.abs(values[valid] - known[valid])
    total = float(errors.sum(dtype=np.float64))
    yield f"coverage@{region}", _percent(n, truth.size, n, 0)
    for t in THRESHOLDS:
        bad = int((errors > np.float32(t)).sum())
        yield f"bad:{t:g}@{region}", _percent(bad, n, count, lost)
        yield f"invalid:{t:g}@{region}", _percent(lost, n, count, lost)
        yield f"totbad:{t:g}@{region}", _percent(bad + lost, n, count, lost)
        mean = total / count if count else float("nan")
        yield f"avgErr:{t:g}@{region}", Score(mean, count, lost, total, "px")


def _percent(part: int, whole: int, count: int, lost: int) -> Score:
    value = 100.0 * part / whole if whole else float("nan")
    return Score(value, count, lost, float(part), "%")


SPEC = Twin(
    revision=1,
    main="totbad:2@nonocc",
    higher=("coverage",),
    missing=np.inf,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
)
