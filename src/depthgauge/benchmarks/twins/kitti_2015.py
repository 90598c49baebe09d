"""KITTI 2015, scene flow development kit: what `evaluate_scene_flow` writes to its stats files.

Its rules, each a named option: holes are filled before scoring; a pixel is an outlier if its error
is above 3 px and above 5 % of the truth, where the quotient is float32 and compared with the double
0.05; `_est` counts only pixels that the submission has; counts are added over images in float32 and
divided at the end. Values are fractions, as in the stats files (the web page shows percent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._kitti_maps import (
    SubmittedMap,
    check_size,
    read_submitted,
    read_truth,
)
from depthgauge.errors import BadData
from depthgauge.io import read_labels
from depthgauge.types import Map, Mask, Sample, Score

SETS = ("noc", "occ")
GROUPS = ("bg", "fg", "all")
_PARTS = {
    "D1": ("disparity", "disp_0", "disp_{set}_0"),
    "D2": ("second_disparity", "disp_1", "disp_{set}_1"),
    "Fl": ("flow", "flow", "flow_{set}"),
}
"""For each error: the part of an estimate, its folder in a submission, and that of the truth."""
_KINDS = {"D1": "disparity", "D2": "disparity", "Fl": "flow"}
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "scores": ("all", "D1", "Fl"),
    "holes": ("filled",),
    "quotient": ("float32", "exact"),
    "accumulate": ("float32", "float64"),
    "scene_flow_est": ("disp_0",),
}
_EXPLAINED = {
    "scores": "Which errors are computed: all four, or those of one map.",
    "holes": "Holes are filled before anything is counted: in a row with the smaller neighbour, "
    "then to its ends, then along columns. A row that stays empty is a disparity of -1, a flow of "
    "0.",
    "quotient": "float32: an error of exactly 5 % of the truth (4 px of 80 px) is an outlier, "
    "because the kit compares a float32 quotient with the double 0.05, and 0.05 rounded to float32 "
    "is above it. exact: exactly 5 % is not above 5 %, as in our own d1 and fl.",
    "accumulate": "float32: counts are added as the kit does, which rounds beyond 2^24 pixels.",
    "scene_flow_est": "SF_*_est counts the pixels that disp_0 has, whatever disp_1 and flow have.",
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Six ratios and a density for each error and each set of pixels, as the stats files have."""
    chosen = options["scores"]
    errors = (*_PARTS, "SF") if chosen == "all" else (chosen,)
    return tuple(
        f"{error}_{name}@{pixels}" for error in errors for pixels in SETS for name in _columns()
    )


def main(options: Mapping[str, Any]) -> str:
    """What the public tables rank by."""
    return {"all": "SF_all@occ", "D1": "D1_all@occ", "Fl": "Fl_all@occ"}[options["scores"]]


def _columns() -> Iterator[str]:
    for group in GROUPS:
        yield from (group, f"{group}_est")
    yield "density"


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The ratios of one image; errors whose maps were not submitted are left out.

    Disparity, flow, or all of them are evaluated as far as they are there, as in the kit.
    """
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    folder = sample.truth["folder"]
    file = f"{sample.id}.png"
    chosen = options["scores"]
    wanted = tuple(_PARTS) if chosen == "all" else (chosen,)
    places = {e: p for e in wanted if (p := _place(estimate_path, e)) is not None}
    if "D2" in places and len(places) < len(_PARTS):
        del places["D2"]  # the kit reads it for scene flow only
    submitted = {error: read_submitted(path, _KINDS[error]) for error, path in places.items()}
    objects = read_labels(folder / "obj_map" / file)
    scores: dict[str, Score] = {}
    for pixels in SETS:
        found: dict[str, _Errors] = {}
        for error, given in submitted.items():
            truth = read_truth(folder / _PARTS[error][2].format(set=pixels) / file, _KINDS[error])
            check_size(places[error], given, truth)
            found[error] = _errors(given, truth, options["quotient"])
        if len(found) == len(_PARTS):
            found["SF"] = _together(found)
        for error, errors in found.items():
            scores |= _ratios(error, pixels, errors, objects)
    ids = score_ids(options)
    left_out = [e for e in (*wanted, *(["SF"] if chosen == "all" else [])) if not _has(scores, e)]
    return TwinScores({i: scores[i] for i in ids if i in scores}, tuple(left_out))


def _has(scores: Mapping[str, Score], error: str) -> bool:
    return f"{error}_all@occ" in scores


def _place(path: Path, error: str) -> Path | None:
    """The file of one error's map: in its folder of the submission, or beside a map of ours."""
    part, folder, _ = _PARTS[error]
    if path.parent.name in {folders for _, folders, _ in _PARTS.values()}:
        place = path.parent.parent / folder / path.name
    elif path.suffix == ".npy":
        place = path.with_name(f"{part}.npy")
    else:
        return path if error == "D1" else None
    return place if place.is_file() else None


@dataclass(frozen=True, slots=True)
class _Errors:
    """Which pixels with truth are met badly, and where the submission has a value."""

    marks: NDArray[np.uint8]
    """0: right, 1: an outlier, 2: without truth."""
    given: Mask


def _errors(submitted: SubmittedMap, truth: Map, quotient: str) -> _Errors:
    from depthgauge.benchmarks.twins import _kitti_kernels as kernels

    marks = np.zeros(truth.shape[:2], np.uint8)
    judge = kernels.judge_numbers if truth.ndim == 2 else kernels.judge_vectors
    judge(truth, submitted.filled, quotient == "float32", marks)
    return _Errors(marks, submitted.given)


def _together(found: Mapping[str, _Errors]) -> _Errors:
    """Scene flow: an outlier in any of the three; `_est` goes by the first disparity alone."""
    from depthgauge.benchmarks.twins import _kitti_kernels as kernels

    parts = [found[name] for name in _PARTS]
    marks = np.zeros(parts[0].marks.shape, np.uint8)
    kernels.judge_together(*(part.marks for part in parts), marks)
    return _Errors(marks, parts[0].given)


def _ratios(
    error: str, pixels: str, found: _Errors, objects: NDArray[np.int32]
) -> dict[str, Score]:
    from depthgauge.benchmarks.twins import _kitti_kernels as kernels

    counts = np.zeros((2, 2, 2), np.int64)  # bad, submitted, foreground
    kernels.count_marks(found.marks, found.given, objects, counts)
    groups = {"bg": counts[:, :, 0], "fg": counts[:, :, 1], "all": counts.sum(axis=2)}
    scores = {}
    for name, group in groups.items():
        total, given = group.sum(axis=0), group[1]
        scores[f"{error}_{name}@{pixels}"] = _ratio(given.sum(), total[1], total[0])
        scores[f"{error}_{name}_est@{pixels}"] = _ratio(given[1], total[1], 0)
        if name == "all":
            scores[f"{error}_density@{pixels}"] = _ratio(total[1], total[1], total[0])
    return scores


def _ratio(part: int, submitted: int, missing: int) -> Score:
    """`part` of all pixels, of which some are missing from the submission."""
    part, submitted, missing = int(part), int(submitted), int(missing)
    value = float(np.float32(part) / np.float32(max(submitted + missing, 1)))
    return Score(value, submitted, missing, float(part), "")


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """Counts added over the images, then divided."""
    kind: Callable[[float], Any] = np.float32 if options["accumulate"] == "float32" else np.float64
    found = {}
    for score_id in score_ids(options):
        part, whole = kind(0), kind(0)
        used = [scores[score_id] for scores in samples.values() if score_id in scores]
        for score in used:
            part += kind(score.total or 0.0)
            whole += kind(score.count + score.missing)
        if used:
            found[score_id] = float(part / max(whole, kind(1)))
    return found


SPEC = Twin(
    revision=1,
    main=main,
    higher=tuple(f"{error}_density" for error in (*_PARTS, "SF")),
    options=options,
    explained=_EXPLAINED,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
)
