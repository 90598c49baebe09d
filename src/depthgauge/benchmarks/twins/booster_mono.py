"""Booster, depth from one picture: what the authors' `evaluate_mono.py` prints (Depth4ToM 5de0f86).

Its rules, each a named option: the truth is taken at a quarter of its size; an estimate is an
inverse depth, which is resized to that size by bilinear interpolation, normalised to 0..1 over the
known pixels, and fitted to the true disparity by one scale and shift; both become depths in
millimetres. Estimates outside 1..10000 mm are clipped, those with a negative disparity become 1 mm.
One NaN among the known pixels makes all of them NaN: then no delta holds, and every mean is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.errors import BadData, DepthgaugeError, Unavailable, WrongShape
from depthgauge.geometry.resizing import resize
from depthgauge.io import read_labels, read_map
from depthgauge.types import Inputs, Map, Mask, Sample, Score, Truth

__all__ = ["check_submission", "evaluate", "more_samples", "options", "score_ids"]

DELTAS = ("1.25", "1.20", "1.15", "1.10", "1.05")
HIGHER = tuple(f"delta{ratio}" for ratio in DELTAS)
REGIONS = ("All", "ToM", "Other")
_CLASSES = {"ToM": (2, 3), "Other": (0, 1)}
_STEP = 4
_LEAST_MM, _MOST_MM = 1.0, 10000.0
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "align": ("least squares", "median"),
    "align_space": ("disparity",),
    "truth_scale": (1 / _STEP,),
    "resize": ("bilinear",),
    "min_depth_mm": (int(_LEAST_MM),),
    "max_depth_mm": (int(_MOST_MM),),
    "behind": ("min_depth_mm",),
    "nan": ("spreads",),
    "png_scale": (256,),
    "fit": ("float32",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """All columns of `All`, then those of `ToM` and `Other`."""
    columns = (*HIGHER, "mae", "absrel", "rmse")
    return tuple(f"{column}@{region}" for region in REGIONS for column in columns)


def more_samples(samples: Iterable[Sample], estimates: Path) -> Iterator[Sample]:
    """Samples for estimates whose pictures are not in the data: a scene's truth holds for them too.

    The script goes through a list of pictures that it never opens; here the folder of estimates is
    the list.
    """
    known = {sample.id for sample in samples}
    truths = {sample.scene: sample.truth for sample in samples}
    for scene, truth in truths.items():
        folder = estimates / scene / LEFT
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        for path in files:
            sample_id = f"{scene}/{path.stem}"
            if path.suffix[1:] in SUFFIXES and sample_id not in known:
                known.add(sample_id)
                yield Sample(sample_id, Inputs({}), truth, scene=scene)


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The eight columns on all pixels and, if there are material classes, on both kinds."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    product = _focal_times_baseline(sample)
    truth = _truth(sample.truth, product)
    known = truth > 0
    if not known.any():
        raise Unavailable("no pixel of the truth is between 1 and 10000 mm.")
    disparity = _aligned(_estimate(estimate_path, truth), truth, known, options)
    with np.errstate(divide="ignore"):
        depth = product / disparity.astype(np.float64)
    depth[np.isinf(depth)] = _MOST_MM
    depth = np.clip(depth, _LEAST_MM, _MOST_MM)
    scores: dict[str, Score] = {}
    regions = _regions(sample.truth, known)
    for region, mask in regions.items():
        scores |= _columns(depth[mask], product / truth[mask].astype(np.float64), region)
    ordered = {name: scores[name] for name in score_ids(options) if name in scores}
    return TwinScores(ordered, tuple(set(REGIONS) - set(regions)))


def _focal_times_baseline(sample: Sample) -> float:
    """In px of the small truth times millimetres: divided by a disparity, it gives a depth."""
    truth = sample.truth or Truth({})
    if "calibration" not in truth:
        raise Unavailable(f"{sample.id} has no calib_00-02.xml, which depth needs.")
    values = truth["calibration"]
    # The script turns millimetres into metres and back.
    baseline_mm = float(values["baselineLR"]) * 0.001 * 1000
    return float(values["proj_matL"][0, 0]) / _STEP * baseline_mm


def _truth(truth: Truth, product: float) -> Map:
    """True disparities at a quarter of the size; 0 if unknown or out of range."""
    full = read_map(truth["disparity_path"], quantity="disparity", raw=True)
    small = _small(full) / np.float32(_STEP)
    # Written so that NaN fails the test.
    inside = (small <= product / _LEAST_MM) & (small >= product / _MOST_MM) & (small > 0)
    return np.where(inside, small, np.float32(0))


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """The pixels that OpenCV's nearest neighbour takes at a factor of 1/4."""
    rows, columns = (
        np.minimum(_STEP * np.arange(round(size / _STEP)), size - 1) for size in values.shape
    )
    taken: NDArray[Any] = values[rows[:, None], columns[None, :]]
    return taken


def _estimate(path: Path, truth: Map) -> Map:
    scale = _OPTIONS["png_scale"][0] if path.suffix.lower() == ".png" else None
    values = read_map(path, quantity="disparity", raw=True, png_scale=scale)
    return resize(values, (truth.shape[0], truth.shape[1]), "bilinear", "depth")


def _aligned(estimate: Map, truth: Map, known: Mask, options: Mapping[str, Any]) -> Map:
    """The estimate as a disparity at the size of the small truth."""
    inside = estimate[known]
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = inside.min(), inside.max()
        spread = (estimate - low) / (high - low)
        if options["align"] == "median":
            return _by_medians(spread, truth, known)
        scale, shift = _least_squares(spread, truth, known)
        fitted: Map = spread * scale + shift
    return fitted


def _by_medians(spread: Map, truth: Map, known: Mask) -> Map:
    target = truth[known]
    scaled = spread * (np.median(target - target.min()) / np.median(spread[known]))
    moved: Map = scaled + np.median(target - scaled[known])
    return moved


def _least_squares(values: Map, target: Map, known: Mask) -> tuple[np.float32, np.float32]:
    """Scale and shift; 0 and 0 where the values do not vary or one is NaN, as in the script.

    The sums are float32, over all pixels with weights 0 and 1, because only then does every pixel
    fall on the same side of a threshold as in the script.
    """
    weight = known.astype(np.float32)
    squares, total, n = (np.sum(w) for w in (weight * values * values, weight * values, weight))
    products, target_total = np.sum(weight * values * target), np.sum(weight * target)
    determinant = squares * n - total * total
    if not determinant > 0:
        return np.float32(0), np.float32(0)
    scale = (n * products - total * target_total) / determinant
    return scale, (-total * products + squares * target_total) / determinant


def _regions(truth: Truth, known: Mask) -> dict[str, Mask]:
    regions = {"All": known}
    if "material_path" not in truth:
        return regions
    labels = read_labels(truth["material_path"])
    small = _small(labels)
    if small.shape != known.shape:
        raise WrongShape(
            f"{truth['material_path']}: is {labels.shape[1]}x{labels.shape[0]}, which is not the "
            "size of disp_00.npy."
        )
    return regions | {name: known & np.isin(small, of) for name, of in _CLASSES.items()}


def _columns(depth: NDArray[Any], truth: NDArray[Any], region: str) -> dict[str, Score]:
    """The script's columns, in millimetres except the deltas (%) and absrel."""
    count = int(np.isfinite(depth).sum())
    lost = depth.size - count
    error = np.abs(depth - truth)
    ratio = np.maximum(depth / truth, truth / depth)
    scores: dict[str, Score] = {}
    for text in DELTAS:
        within = int((ratio < float(text)).sum())
        scores[f"delta{text}@{region}"] = _ratio(100.0 * within, depth.size, count, lost, "%")
    total = float(error.sum())
    scores[f"mae@{region}"] = _ratio(total, depth.size, count, lost, "mm")
    relative = float((error / truth).sum())
    scores[f"absrel@{region}"] = _ratio(relative, depth.size, count, lost, "")
    mean_square = float((error * error).sum()) / depth.size if depth.size else math.nan
    root = math.sqrt(mean_square) if not math.isnan(mean_square) else math.nan
    scores[f"rmse@{region}"] = Score(root, count, lost, None, "mm")
    return scores


def _ratio(total: float, n: int, count: int, lost: int, unit: str) -> Score:
    return Score(total / n if n else math.nan, count, lost, total, unit)


SUFFIXES = ("npy", "png")
LEFT = "camera_00"
_WHOLE = "submission"


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem of a folder of estimates, in the order of the pictures.

    Args:
        root: The folder of estimates.
        samples: The pictures in the data by id; if there are none, all files in the folder are
            checked.
    """
    found = _found(root)
    if not samples and not found:
        yield Fault(
            _WHOLE,
            f"there is no <Scene>/{LEFT}/*.npy in it.",
            f"Write an inverse depth for each picture, e.g. Bathroom/{LEFT}/im0.npy.",
        )
    wanted = {**dict.fromkeys(samples), **found}
    for sample_id in wanted:
        try:
            path = find_estimate(root, DATASETS["booster"], sample_id, "disparity")
        except DepthgaugeError as error:
            yield Fault(sample_id, str(error), "Keep one of them.")
            continue
        if path is None:
            yield Fault(sample_id, "there is no estimate.", "Without it there is no mean at all.")
            continue
        yield from _check_map(path, sample_id)


def _found(root: Path) -> dict[str, None]:
    """The ids of all estimates in the places where the script looks."""
    paths = sorted(root.glob(f"*/{LEFT}/*"))
    named = [path for path in paths if path.suffix[1:] in SUFFIXES]
    return dict.fromkeys(f"{path.parent.parent.name}/{path.stem}" for path in named)


def _check_map(path: Path, sample_id: str) -> Iterator[Fault]:
    try:
        values = read_map(path, quantity="disparity", raw=True)
    except DepthgaugeError as error:
        yield Fault(sample_id, str(error), "Write the map again.")
        return
    yield from _check_values(path.name, values, sample_id)


def _check_values(name: str, values: Map, sample_id: str) -> Iterator[Fault]:
    known = np.isfinite(values)
    if lost := int(values.size - known.sum()):
        yield Fault(
            sample_id,
            f"{lost} pixels of {name} are NaN or infinite.",
            "One of them, where the truth is known, makes all scores of the picture the worst; "
            "write an estimate at every pixel.",
        )
    if not known.any():
        return
    if np.ptp(values[known]) == 0:
        yield Fault(
            sample_id,
            f"all values of {name} are {values[known][0]:g}.",
            "An estimate that does not vary has no scale.",
        )


SPEC = Twin(
    revision=1,
    main="delta1.05@ToM",
    higher=HIGHER,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    check_submission=check_submission,
    more_samples=more_samples,
)
