"""Depth from one picture: the numbers of the public evaluators, which differ in a dozen rules.

BTS, AdaBins, ZoeDepth, Depth Anything, Metric3D, monodepth2, Marigold, MiDaS' authors and DIODE's
development kit all print abs_rel, rmse and deltas of single pictures and their plain mean. What
differs is a named option here: which truth counts, how an estimate is brought to the truth's size,
aligned and clipped, and how some columns are defined. A benchmark file per program sets them.

The order is that of the programs: place, resize, align, clip, choose the valid pixels. Sums are
float64, where most originals add in float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import nearest
from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._monocular_columns import COLUMNS, HIGHER, ValidPixels, scores
from depthgauge.errors import BadData, DepthgaugeError, Misuse, Unavailable, WrongShape
from depthgauge.geometry.crops import KB_SIZE, kb_window, parse_crop
from depthgauge.geometry.resizing import resize
from depthgauge.io import read_map
from depthgauge.types import Map, Mask, Sample, Truth

__all__ = ["align", "check_files", "evaluate", "options", "score_ids"]

_WORDS: dict[str, tuple[Any, ...]] = {
    "estimate": ("depth", "disparity"),
    "kb_crop": ("none", "paste", "both"),
    "resize": ("none", "bilinear", "bilinear_corners"),
    "align": ("none", "median", "factor", "least_squares", "least_squares_disparity"),
    "fit_on": ("valid", "valid_positive"),
    "singular": ("least_norm", "zero"),
    "crop": ("none", "nyu", "garg", "eigen"),
    "truth_valid": ("range", "positive"),
    "limits": ("open", "closed"),
    "clip": ("none", "range"),
    "nan": ("kept", "min"),
    "not_positive": ("kept", "left_out"),
    "zero_estimates": ("plain", "good"),
    "log_base": ("e", "10"),
    "silog_weight": (1.0, 0.5),
    "silog_scale": (100, 1),
    "compared_with": ("program", "documentation"),
}
_EXPLAINED = {
    "kb_crop": "Paste: estimates of 1216x352 are put into the picture, with 0 around, and crops "
    "are fractions of the whole picture. Both: the truth is cut as well, and crops are fractions "
    "of 1216x352: other pixels, other numbers.",
    "clip": "Range: estimates are moved inside the limits before they are compared, so a missing "
    "one (0) counts as the least depth.",
    "limits": "Open: a truth of exactly the limit does not count. Closed: it does.",
    "not_positive": "Left out: an estimate of 0 or below costs nothing.",
    "zero_estimates": "Good: pixels that are left out because their estimate is 0 are added to the "
    "good ones, so deltas can exceed 1.",
    "align_max_res": "The fit is on fewer columns, but on all rows: the program thins the wrong "
    "axes.",
    "silog_weight": "0.5 instead of 1: not invariant to scale.",
    "singular": "Zero: an estimate that does not vary becomes the largest depth.",
}
_NUMBERS: dict[str, float] = {
    "png_scale": 1000,
    "align_factor": 1,
    "align_max_res": 0,
    "disparity_floor": 0,
    "min_depth_m": 0,
    "max_depth_m": 0,
    "least_pixels": 1,
}
"""Zero: no such limit."""


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of a program by name; `program` and `columns` must be given."""
    known = {**_WORDS, **dict.fromkeys((*_NUMBERS, "program", "columns"), ())}
    for name in given:
        if name not in known:
            raise Misuse(f"there is no option '{name}'. {nearest(name, known)}".strip())
    filled = fill_options({k: v for k, v in given.items() if k in _WORDS}, _WORDS)
    for name, default in _NUMBERS.items():
        value = given.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
            raise Misuse(f"option '{name}' is '{value}' but must be a number, not negative.")
        filled[name] = value
    columns = list(given.get("columns", ("abs_rel", "delta1")))
    if strange := [name for name in columns if name not in COLUMNS]:
        raise Misuse(f"option 'columns' has '{strange[0]}'; known: {', '.join(COLUMNS)}.")
    return {**filled, "program": str(given.get("program", "")), "columns": columns}


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of the program, under the names of this package."""
    return tuple(options["columns"])


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """All columns of one picture."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    stored, truth = read_both(sample.truth, estimate_path, options)
    inside = _valid_truth(truth, options)
    if int(inside.sum()) < options["least_pixels"]:
        raise Unavailable("too few pixels of the truth are inside the crop and the limits.")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        estimate = _clipped(align(stored, truth, inside, options), options)
        valid = inside & (estimate > 0) if options["not_positive"] == "left_out" else inside
        if not valid.any():
            raise BadData(f"{estimate_path}: no estimate is positive where there is truth.")
        known = estimate[valid].astype(np.float64), truth[valid].astype(np.float64)
        pixels = ValidPixels(*known, options)
        pixels.zeros = int((~valid & (estimate == 0)).sum())
        return TwinScores(scores(pixels, int(inside.sum()) - pixels.n))


def read_both(truth: Truth, path: Path, options: Mapping[str, Any]) -> tuple[Map, Map]:
    """The estimate at the truth's size, with the file's own NaN, and the truth, 0 where unknown."""
    known = np.nan_to_num(truth["depth"], nan=0.0).astype(np.float32, copy=False)
    scale = options["png_scale"] if path.suffix.lower() == ".png" else None
    estimate = read_map(path, quantity="depth", raw=True, scale=scale)
    estimate, known = _placed(estimate, known, options["kb_crop"], path)
    if estimate.shape == known.shape:
        return estimate, known
    if options["resize"] == "none":
        raise WrongShape(
            f"{path}: is {_size(estimate)} but must be {_size(known)}; the program does not resize."
        )
    if options["resize"] == "bilinear_corners":
        return _resize_corners(estimate, known.shape), known
    return resize(estimate, (known.shape[0], known.shape[1]), "bilinear", "depth"), known


def _placed(estimate: Map, truth: Map, kb_crop: str, path: Path) -> tuple[Map, Map]:
    """KITTI's crop of 352x1216: estimates are put back into the picture, or the truth is cut."""
    if kb_crop == "none":
        return estimate, truth
    try:
        inner = kb_window(*truth.shape)
    except WrongShape as error:
        raise Unavailable(str(error)) from None
    if estimate.shape == truth.shape:
        estimate = estimate[inner]
    elif estimate.shape != KB_SIZE:
        raise WrongShape(
            f"{path}: is {_size(estimate)} but must be 1216x352, or {_size(truth)} as the truth."
        )
    if kb_crop == "both":
        return estimate, truth[inner]
    whole = np.zeros(truth.shape, np.float32)
    whole[inner] = estimate
    return whole, truth


def _resize_corners(values: Map, shape: tuple[int, ...]) -> Map:
    """Bilinear with the centres of the corner pixels aligned, as torch's align_corners=True."""
    rows, columns = (_between(n, m) for n, m in zip(values.shape, shape, strict=True))
    upper, lower = values[rows[0]], values[rows[1]]
    weight = rows[2][:, None]
    mixed = upper * (1 - weight) + lower * weight
    left, right, share = mixed[:, columns[0]], mixed[:, columns[1]], columns[2]
    return np.asarray(left * (1 - share) + right * share, np.float32)


def _between(source: int, target: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Any]:
    """For each target pixel, its two neighbours in the source and the weight of the second."""
    place = np.arange(target) * ((source - 1) / max(target - 1, 1))
    low = np.minimum(place.astype(np.intp), source - 1)
    return low, np.minimum(low + 1, source - 1), place - low


def _valid_truth(truth: Map, options: Mapping[str, Any]) -> Mask:
    inside: Mask = truth > 0
    if options["truth_valid"] == "range":
        low = np.float32(options["min_depth_m"])
        high = np.float32(options["max_depth_m"] or np.inf)
        if options["limits"] == "closed":
            inside &= (truth >= low) & (truth <= high)
        else:
            inside &= (truth > low) & (truth < high)
    if options["crop"] != "none":
        cropped = np.zeros(truth.shape, bool)
        cropped[parse_crop(options["crop"]).within(truth.shape[0], truth.shape[1])] = True
        inside &= cropped
    return inside


def align(stored: Map, truth: Map, valid: Mask, options: Mapping[str, Any]) -> NDArray[Any]:
    """Depth in metres from what a file holds, aligned as the program does it."""
    values = stored.astype(np.float64)
    kind = options["align"]
    if kind == "least_squares_disparity":
        scale, shift = fit(values, truth, valid, options)
        return np.asarray(1.0 / np.maximum(scale * values + shift, options["disparity_floor"]))
    if options["estimate"] == "disparity":
        values = 1.0 / values
    if kind == "median":
        return np.asarray(values * (np.median(truth[valid]) / np.median(values[valid])))
    if kind == "factor":
        return np.asarray(values * options["align_factor"])
    if kind == "least_squares":
        scale, shift = fit(values, truth, valid, options)
        return np.asarray(scale * values + shift)
    return values


def fit(
    values: NDArray[Any], truth: Map, valid: Mask, options: Mapping[str, Any]
) -> tuple[float, float]:
    """Scale and shift by least squares, to the depth or its inverse, over the valid pixels."""
    inverse = options["align"] == "least_squares_disparity"
    positive = inverse and options["fit_on"] == "valid_positive"
    used = valid & (values > 0) if positive else valid
    columns = _thinned_columns(truth.shape, options["align_max_res"])
    x, target = values[:, columns][used[:, columns]], truth[:, columns][used[:, columns]]
    y = 1.0 / target.astype(np.float64) if inverse else target.astype(np.float64)
    if not x.size:
        return 0.0, 0.0
    mean, middle = float(x.mean()), float(y.mean())
    square = float(((x - mean) ** 2).sum())
    if square == 0.0:
        if options["singular"] == "zero":
            return 0.0, 0.0
        # Of all lines through the one point, that of the smallest scale and shift.
        return mean * middle / (mean * mean + 1.0), middle / (mean * mean + 1.0)
    scale = float(((x - mean) * (y - middle)).sum()) / square
    return scale, middle - scale * mean


def _thinned_columns(shape: tuple[int, ...], max_res: float) -> Any:
    """All columns, or those that Marigold's `alignment_max_res` keeps; it keeps all rows."""
    height, width = shape
    factor = min(max_res / height, max_res / width) if max_res else 1.0
    if factor >= 1:
        return slice(None)
    return np.minimum((np.arange(math.floor(width * factor)) / factor).astype(int), width - 1)


def _clipped(depth: NDArray[Any], options: Mapping[str, Any]) -> NDArray[Any]:
    low = options["min_depth_m"]
    if options["nan"] == "min":
        depth = np.where(np.isnan(depth), low, depth)
    if options["clip"] == "none":
        return depth
    return np.asarray(np.clip(depth, low, options["max_depth_m"] or np.inf))


def _size(values: Map) -> str:
    return f"{values.shape[1]}x{values.shape[0]}"


def check_files(
    files: Mapping[str, Path], samples: Mapping[str, Sample], options: Mapping[str, Any]
) -> Iterator[Fault]:
    """What is wrong with the files that were found, sample by sample."""
    for sample_id, path in files.items():
        try:
            truth = samples[sample_id].truth or Truth({})
            values, known = read_both(truth, path, options)
        except DepthgaugeError as error:
            yield Fault(sample_id, str(error), "Write the map again.")
            continue
        there = known > 0
        lost = int((there & ~np.isfinite(values)).sum())
        if lost and options["nan"] == "kept":
            advice = "The program has no rule for them: they may spoil every column."
            yield Fault(sample_id, f"{lost} pixels of {path.name} are NaN or infinite.", advice)
        usable = np.isfinite(values) & (values > 0)
        if options["align"] in ("none", "factor", "median") and not (usable & there).any():
            yield Fault(sample_id, f"{path.name} has no positive value.", "Depths are positive.")


def verified(options: Mapping[str, Any]) -> bool:
    """Whether these rules were held against numbers that the program printed."""
    return bool(options["compared_with"] == "program")


SPEC = Twin(
    revision=1,
    verified=verified,
    explained=_EXPLAINED,
    higher=HIGHER,
    missing=0.0,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    check_files=check_files,
)
