"""OASIS, planes: what the authors' `evalInstSeg_nips.py` prints (princeton-vl/oasis 5835d24).

Its rules, each a named option, are those of the Cityscapes program. An estimate matches a true
plane if it overlaps it by more than the threshold. If several match one plane, all but one are
wrong, and the plane gets the highest confidence. True planes below 100 px are ignored, and so is an
estimate without a match if more than the threshold's share of it lies on them. Only pixels in the
mask count, and an estimate without a pixel there is skipped. The curve ends in an artificial point
(precision 1 at recall 0), and its area is the sum of the precisions, each times half the distance
between the recalls before and after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._oasis_shared import DATASET, check_files, merged
from depthgauge.datasets import DATASETS, read_estimate
from depthgauge.errors import BadData, Unavailable, WrongShape
from depthgauge.io import read_image, read_labels
from depthgauge.types import Inputs, Mask, Sample, Score, State, Truth, sorted_rows

HIGHER = ("ap", "ap50", "ap75")
OVERLAPS = np.arange(0.5, 1.0, 0.05)
_AT = {"ap50": 0, "ap75": 5}
_LEAST_PX = 100
_NEEDED = ("planes_path", "mask_path")
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "overlap": ("above",),
    "duplicates": ("lower score is wrong",),
    "least_px": (_LEAST_PX,),
    "empty": ("skipped",),
    "first_point": ("precision 1 at recall 0",),
    "area": ("central differences",),
}

Values = NDArray[np.float64]


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The mean over ten overlaps, and two of them."""
    return HIGHER


class _Planes(NamedTuple):
    """What is compared in one picture."""

    confidence: Values
    """(D,)"""
    areas: NDArray[np.int64]
    """(D,)"""
    truth_areas: NDArray[np.int64]
    """(G,)"""
    shared: NDArray[np.int64]
    """(D, G)"""


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """What pooling needs from one picture; only all pictures together have a score.

    A row is (overlap, confidence, right); the sums are the planes without a match at each overlap,
    then the number of pictures with planes and the number of pictures with estimates.
    """
    planes = _read(sample, estimate_path)
    large = planes.truth_areas >= _LEAST_PX
    rows: list[Values] = []
    unmatched = np.zeros(OVERLAPS.size)
    for k, overlap in enumerate(OVERLAPS):
        scores, right, unmatched[k] = _matched(planes, large, float(overlap))
        rows.append(np.column_stack([np.full(scores.size, float(k)), scores, right]))
    has = [float(large.any()), float(planes.confidence.size > 0)]
    state = State(
        int(large.sum()),
        0,
        np.concatenate([unmatched, has]),
        rows=sorted_rows(np.concatenate(rows)),
    )
    score = Score(math.nan, state.count, 0, state=state, level="dataset")
    return TwinScores(dict.fromkeys(score_ids(options), score))


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """The three numbers of a dataset."""
    state = merged(samples, "ap")
    if state is None or state.rows is None:
        return {}
    unmatched, (truths, estimates) = state.sums[:-2], state.sums[-2:]
    rows = state.rows
    each = np.full(OVERLAPS.size, math.nan)
    for k in range(OVERLAPS.size if truths else 0):
        here = rows[rows[:, 0] == k]
        each[k] = _area(here[:, 1], here[:, 2], unmatched[k]) if estimates else 0.0
    return {"ap": float(each.mean()), **{name: float(each[k]) for name, k in _AT.items()}}


def _matched(
    planes: _Planes, large: NDArray[np.bool_], overlap: float
) -> tuple[Values, Values, int]:
    """Confidences with whether they are right, and the number of planes without a match."""
    union = planes.areas[:, None] + planes.truth_areas - planes.shared
    meets = planes.shared / union > overlap
    scores: list[float] = []
    right: list[float] = []
    for plane in np.flatnonzero(large):
        those = np.sort(planes.confidence[meets[:, plane]])[::-1]
        scores += those.tolist()
        right += [1.0] * those[:1].size + [0.0] * those[1:].size
    ignored = planes.shared[:, ~large].sum(axis=1) / planes.areas
    # As in the program, a match with a plane that is too small also saves an estimate.
    wrong = ~meets.any(axis=1) & (ignored <= overlap)
    scores += planes.confidence[wrong].tolist()
    right += [0.0] * int(wrong.sum())
    lost = int((~meets[:, large].any(axis=0)).sum())
    return np.array(scores), np.array(right), lost


def _area(scores: Values, right: Values, unmatched: float) -> float:
    """The program's area under the curve."""
    if not scores.size:
        return 0.0
    order = np.argsort(scores, kind="stable")
    before = np.append(0.0, np.cumsum(right[order]))
    _, first = np.unique(scores[order], return_index=True)
    true = before[-1] - before[first]
    precision = np.append(true / (scores.size - first), 1.0)
    # Without any true plane the program divides by zero; there is nothing to find then.
    total = before[-1] + unmatched
    recall = np.append(true / total if total else np.zeros(first.size), 0.0)
    around = np.concatenate([recall[:1], recall, [0.0]])
    return float(np.dot(precision, np.convolve(around, [-0.5, 0, 0.5], "valid")))


def _read(sample: Sample, path: Path) -> _Planes:
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    for name in _NEEDED:
        if name not in sample.truth:
            raise Unavailable(f"{sample.id} has no {name.removesuffix('_path')} file.")
    inside = _roi(sample.truth["mask_path"])
    truth = read_labels(sample.truth["planes_path"])
    _need_size(truth.shape, inside, sample.truth["planes_path"])
    ids, labels = np.unique(truth[inside], return_inverse=True)
    masks, confidence = _estimates(path, inside)
    pixel, instance = np.nonzero(masks)
    places = instance * ids.size + labels[pixel]
    shared = np.bincount(places, minlength=masks.shape[1] * ids.size).reshape(-1, ids.size)
    areas = shared.sum(axis=1)
    seen, real = areas > 0, ids != 0
    pixels = np.bincount(labels, minlength=ids.size)
    return _Planes(confidence[seen], areas[seen], pixels[real], shared[seen][:, real])


def _roi(path: Path) -> Mask:
    """The first channel says which pixels count."""
    image = read_image(path)
    return np.asarray((image if image.ndim == 2 else image[..., 0]) != 0)


def _estimates(path: Path, inside: Mask) -> tuple[NDArray[np.bool_], Values]:
    """(pixels of the mask, D) where each instance is, and its confidence as the file has it."""
    estimate = read_estimate(path, DATASETS[DATASET], "planes")
    listed = estimate.extras["planes"]
    if not listed:
        return np.zeros((np.count_nonzero(inside), 0), np.bool_), np.zeros(0)
    _need_size(estimate.values.shape[:2], inside, path)
    confidence = np.array([instance["confidence"] for instance in listed], np.float64)
    return np.asarray(estimate.values[inside] > 0), confidence


def _need_size(shape: tuple[int, ...], inside: Mask, path: Path) -> None:
    if shape != inside.shape:
        raise WrongShape(
            f"{path}: is {shape[1]}x{shape[0]}, but the picture's mask is "
            f"{inside.shape[1]}x{inside.shape[0]}; write it at the picture's size."
        )


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem in a folder of planes, in the order of the pictures."""
    if samples:
        yield from check_files(root, samples, "planes", _NEEDED, _check_planes)
        return
    # Without data, only the files in the folder can be checked.
    lists = {path.stem: path for path in sorted(root.glob("planar/*.txt"))}
    if not lists:
        advice = "Write one list for each picture, e.g. planar/0031.txt."
        yield Fault("submission", "there is no planar/<id>.txt in it.", advice)
    needed = Truth(dict.fromkeys(_NEEDED))
    there = {name: Sample(name, Inputs({}), needed) for name in lists}
    yield from check_files(root, there, "planes", _NEEDED, _check_planes) if there else ()


def _check_planes(path: Path, sample_id: str) -> Iterator[Fault]:
    """The problems of one list of planes."""
    estimate = read_estimate(path, DATASETS[DATASET], "planes")
    listed = estimate.extras["planes"]
    if not listed:
        yield Fault(sample_id, f"{path.name} lists no plane.", "None will be found.", serious=False)
        return
    for k, instance in enumerate(listed):
        if not (estimate.values[..., k] > 0).any():
            yield Fault(
                sample_id,
                f"{instance['file']} has no pixel.",
                "It is skipped; write 255 where the plane is.",
                serious=False,
            )
    if len({instance["confidence"] for instance in listed}) == 1 < len(listed):
        yield Fault(
            sample_id,
            f"all planes of {path.name} have the same confidence.",
            "Precision and recall need an order; write how sure the method is of each.",
            serious=False,
        )


SPEC = Twin(
    revision=1,
    main="ap",
    higher=HIGHER,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
    check_submission=check_submission,
)
