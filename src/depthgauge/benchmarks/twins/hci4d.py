"""4D light field benchmark, evaluation toolkit of 2017 (f070f23): all ids of its results.json.

Its rules, each a named option: where pixels are counted, an estimate of NaN is right and one of
+-inf is wrong; the 512x512 estimate is enlarged to 5120x5120 by `scipy.ndimage.zoom(order=0)`,
which does not repeat blocks; 15 px are left out on every side (150 when enlarged); `mae` is the
median angle between normals that are computed in a frame of half the width. Errors are float32 and
compared strictly. Sums are float64 here, where the original takes float32 means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._hci4d_maps import (
    HIGH,
    LOW,
    MapPair,
    compare,
    read_estimate,
    read_label_maps,
    read_masks,
)
from depthgauge.benchmarks.twins._hci4d_pixels import measure, missed_dots
from depthgauge.benchmarks.twins._hci4d_regions import (
    GENERAL_AT_HIGH,
    MISSED_DOTS,
    all_ids,
    masked_of,
    surfaces_of,
)
from depthgauge.benchmarks.twins._hci4d_submission import check_submission, read_runtime
from depthgauge.errors import BadData, Unavailable
from depthgauge.io import LightFieldParameters
from depthgauge.types import Map, Mask, Sample, Score, Truth

__all__ = ["check_submission", "evaluate", "options", "score_ids"]

_OPTIONS: dict[str, tuple[Any, ...]] = {
    "nan": ("good",),
    "inf": ("bad",),
    "mse": ("finite estimates",),
    "quantile": ("element at 25 %",),
    "resize": ("zoom", "block"),
    "high_scale": (HIGH,),
    "border_px": (15,),
    "general_at_high": (", ".join(GENERAL_AT_HIGH),),
    "backgammon_references": ("columns 140 and -11",),
    "missed_dots": ("badpix 0.4 not below 50, labels 1 to 8",),
    "bumpiness": ("Scharr twice, clipped at 0.05",),
    "mae": ("median of halved-lateral normals",),
    "accumulate": ("float64",),
    "pfm_scale": ("multiplied",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """General ids, then those of the stratified scenes, of regions, and runtimes."""
    return all_ids()


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """All numbers that the toolkit gives for the scene, where truth and masks exist."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    estimate = read_estimate(estimate_path, sample)
    found = _SampleScores(sample.truth)
    _score_low(sample, compare(estimate, sample, LOW, "none"), found)
    if "high_disparity_path" in sample.truth:
        _score_high(sample, compare(estimate, sample, HIGH, options["resize"]), found)
    else:
        found.lacking.append("highres")
    if not found.scores:
        raise Unavailable(
            f"{sample.id} is scored at the high resolution, but gt_disp_highres.pfm is missing."
        )
    _add_runtime(sample.id, estimate_path, found)
    ordered = {name: found.scores[name] for name in all_ids() if name in found.scores}
    return TwinScores(ordered, tuple(found.lacking))


@dataclass
class _SampleScores:
    """The scores of one sample as they are collected."""

    truth: Truth
    scores: dict[str, Score] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    """What the sample lacks for the numbers that it does not have."""

    def files(self, names: Iterable[str], kind: str, prefix: str = "") -> list[Path]:
        """The files of some masks or labels; none if one is missing, which is recorded."""
        items = {name: f"{prefix}{name}_{kind}_path" for name in names}
        missing = [name for name, item in items.items() if item not in self.truth]
        self.lacking += missing
        return [] if missing else [self.truth[item] for item in items.values()]


def _score_low(sample: Sample, low: MapPair, found: _SampleScores) -> None:
    if sample.id not in GENERAL_AT_HIGH:
        found.scores.update(measure(low, True, (), np.zeros((0, *low.truth.shape), bool)))
    bumps = None
    for surface in surfaces_of(sample.id):
        files = found.files(surface.masks, "mask")
        if not files:
            continue
        mask = np.asarray(read_masks(low, files).any(axis=0))
        bumps = bumpiness(low) if bumps is None else bumps
        found.scores[surface.bumpiness] = mean_bumpiness(bumps, low, mask)
        if surface.angle and _has_normals(sample, low, found):
            angle = median_angle(low, mask, sample.inputs["parameters"])
            found.scores[surface.angle] = angle


def _has_normals(sample: Sample, low: MapPair, found: _SampleScores) -> bool:
    """Whether there are normals: the evaluator has none if an image is not square."""
    height, width = low.truth.shape
    if "parameters" in sample.inputs and height == width > 1:
        return True
    if "normals" not in found.lacking:
        found.lacking.append("normals")
    return False


def _score_high(sample: Sample, high: MapPair, found: _SampleScores) -> None:
    files = {
        region: found.files((region.mask,), "mask", "high_") for region in masked_of(sample.id)
    }
    regions = [region for region, paths in files.items() if paths]
    general = sample.id in GENERAL_AT_HIGH
    if general or regions:
        masks = read_masks(high, [files[region][0] for region in regions])
        found.scores.update(measure(high, general, regions, masks))
    if sample.id == "dots":
        labels = found.files(("boxes", "dots_by_size"), "labels", "high_")
        if labels:
            boxes, dots = read_label_maps(high, labels)
            found.scores[MISSED_DOTS] = missed_dots(high, boxes, dots, sample.id)


def _add_runtime(scene: str, estimate_path: Path, found: _SampleScores) -> None:
    """The runtime of a scene, if the submission has a file for it."""
    folder = estimate_path.parent
    path = folder.parent / "runtimes" / f"{scene}.txt"
    if folder.name != "disp_maps" or not path.is_file():
        found.lacking.append("runtime")
        return
    seconds = read_runtime(path)
    logarithm = math.log10(seconds) if seconds > 0 else (-math.inf if seconds == 0 else math.nan)
    found.scores["runtime"] = Score(seconds, 1, 0, None, "s")
    found.scores["runtime_log"] = Score(logarithm, 1, 0, None, "log10 s")


_CLIP = 0.05
_FACTOR = 100.0


def bumpiness(compared: MapPair) -> NDArray[np.float64]:
    """The clipped norm of the second derivatives of the error; NaN where it cannot be computed."""
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    with np.errstate(invalid="ignore"):
        error = (compared.estimate - compared.truth[::-1]).astype(np.float64)
    across, down, bent = (np.full(error.shape, np.nan) for _ in range(3))
    kernels.differentiate(error, across, down)
    kernels.bend(across, down, bent)
    # NaN stays; an infinity is clipped like any other bump.
    return np.asarray(np.minimum(bent, _CLIP))


def mean_bumpiness(bumps: NDArray[np.float64], compared: MapPair, mask: Mask) -> Score:
    """The mean over a mask inside the border, times 100."""
    inner = compared.inner()
    inside = mask[inner]
    values = bumps[inner][inside]
    known = values[np.isfinite(values)]
    total = _FACTOR * float(known.sum())
    value = total / known.size if known.size else float("nan")
    return Score(value, known.size, values.size - known.size, total, "0.01")


def median_angle(compared: MapPair, mask: Mask, parameters: LightFieldParameters) -> Score:
    """The median angle between the normals of estimate and truth, in degrees.

    Depth is computed in float32, as in the evaluator; the rest is float64.
    """
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    inside = np.zeros(mask.shape, bool)
    inner = compared.inner()
    inside[inner] = mask[inner]
    members = int(np.count_nonzero(inside))
    inside &= np.isfinite(compared.estimate)
    lateral = 0.5 / (mask.shape[0] - 1) * parameters.sensor_size_mm / parameters.focal_length_mm
    out = np.full(mask.shape, np.nan)
    kernels.angles(
        _depth(compared.estimate, parameters),
        _depth(compared.truth[::-1], parameters),
        inside,
        lateral,
        out,
    )
    angles = out[np.isfinite(out)]
    value = float(np.median(angles)) if angles.size else float("nan")
    return Score(value, angles.size, members - angles.size, None, "deg")


def _depth(disparity: Map, parameters: LightFieldParameters) -> Map:
    # Not geometry's: there an impossible depth is missing, here -0.3 m is an ordinary depth.
    focal, sensor = parameters.focal_length_mm, parameters.sensor_size_mm
    q = parameters.baseline_mm * focal * max(parameters.size_px)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = np.float32(1000.0 * sensor) * disparity / np.float32(q)
        inverse += np.float32(1.0 / parameters.focus_distance_m)
        return np.ascontiguousarray(np.float32(1.0) / inverse)


SPEC = Twin(
    revision=1,
    main="badpix_0070",
    missing=np.inf,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    check_submission=check_submission,
)
