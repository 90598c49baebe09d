"""OASIS, normals: what the authors' `eval_abs_normal.py` gives (princeton-vl/oasis 5835d24).

The angle between the true and the estimated normal, both brought to unit length, at every pixel
that has a true one; all pixels of all images together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._oasis_shared import DATASET, check_files, merged
from depthgauge.datasets import DATASETS, read_estimate
from depthgauge.errors import BadEstimate, Unavailable
from depthgauge.geometry.resizing import resize
from depthgauge.types import Map, Sample, Score, State, Truth

LIMITS = ("11.25", "22.5", "30")
_WITHIN = tuple(f"within:{limit}" for limit in LIMITS)
_NEEDED = ("normals_path",)
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "resize": ("bilinear",),
    "angle": ("arccos, clipped",),
    "within": ("strictly",),
    "region": ("true normal is not 0",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's rules by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Mean and median in degrees, then percentages."""
    return ("mean", "median", *_WITHIN)


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The five numbers of one image; those of the dataset come from `pool`."""
    truth = sample.truth or Truth({})
    if "normals_path" not in truth:
        raise Unavailable("has no normals file, which the public code needs.")
    true: Map = truth["normals"]
    known = np.isfinite(true).all(axis=2)
    if not known.any():
        raise Unavailable("has no pixel with a true normal.")
    estimate = resized_normals(estimate_path, (true.shape[0], true.shape[1]))
    angles = _angles(estimate[known], true[known])
    if np.isnan(angles).any():
        raise BadEstimate(
            f"{estimate_path}: {int(np.isnan(angles).sum())} pixels of the region have no normal "
            "(0 or NaN), where the public code stops; write one at every pixel."
        )
    state = _state(angles)
    numbers = _numbers(state)
    scores = {
        name: Score(value, state.count, 0, None, "%" if name in _WITHIN else "deg", state)
        for name, value in numbers.items()
    }
    # The angles are kept once, because the median of the dataset needs them.
    sums = State(state.count, 0, state.sums)
    kept = {name: _with_state(score, sums) for name, score in scores.items() if name != "median"}
    return TwinScores({name: kept.get(name, scores[name]) for name in score_ids(options)})


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """All pixels of the dataset together."""
    state = merged(samples, "median")
    return {} if state is None else _numbers(state)


def resized_normals(path: Path, shape: tuple[int, int]) -> Map:
    """The normals of a file at the truth's size, with our axes; their length has no meaning."""
    values = read_estimate(path, DATASETS[DATASET], "normals").values
    return resize(values, shape, "bilinear", "normals")


def unit(normals: NDArray[Any]) -> NDArray[np.float64]:
    """Normals (n, 3) of length 1; NaN where they are 0."""
    values = normals.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled: NDArray[np.float64] = values / np.sqrt((values**2).sum(axis=1))[:, None]
    return scaled


def _angles(estimate: NDArray[Any], true: NDArray[Any]) -> NDArray[np.float64]:
    cosine = (unit(estimate) * unit(true)).sum(axis=1)
    angles: NDArray[np.float64] = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return angles


def _state(angles: NDArray[np.float64]) -> State:
    """Pixels, the sum, and the counts below each limit; and the angles, for the median."""
    below = [float((angles < float(limit)).sum()) for limit in LIMITS]
    sums = np.array([angles.size, angles.sum(), *below], np.float64)
    return State(angles.size, 0, sums, np.sort(angles.astype(np.float32)))


def _numbers(state: State) -> dict[str, float]:
    n, total, *below = state.sums
    angles = np.zeros(0, np.float32) if state.values is None else state.values
    numbers = {"mean": float(total / n), "median": float(np.median(angles.astype(np.float64)))}
    return numbers | {name: float(100 * b / n) for name, b in zip(_WITHIN, below, strict=True)}


def _with_state(score: Score, state: State) -> Score:
    return Score(score.value, score.count, score.missing, score.total, score.unit, state)


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem in a folder of normals, in the order of the images."""
    yield from check_files(root, samples, "normals", _NEEDED, check_normals)


def check_normals(path: Path, sample_id: str) -> Iterator[Fault]:
    """The problems of one file of normals."""
    values = read_estimate(path, DATASETS[DATASET], "normals").values
    lost = int((~np.isfinite(values).all(axis=2) | ~(values != 0).any(axis=2)).sum())
    if lost:
        yield Fault(
            sample_id,
            f"{lost} pixels of {path.name} have no normal: they are NaN or 0.",
            "The public code stops where one of them has a true normal.",
        )
    if lost < values[..., 2].size and np.nanmedian(values[..., 2]) > 0:
        yield Fault(
            sample_id,
            f"most normals of {path.name} point away from the viewer.",
            "In normals/<id>.npy the axes are x right, y down, z towards the viewer; was z turned?",
            serious=False,
        )


SPEC = Twin(
    revision=1,
    main="mean",
    higher=("within",),
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
    check_submission=check_submission,
)
