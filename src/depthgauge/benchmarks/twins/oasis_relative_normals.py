"""OASIS, relative normals: the authors' `eval_rel_normal.py` (princeton-vl/oasis 5835d24).

Pairs of pixels lie on planes that are parallel, orthogonal or neither. A pair is ranked by how far
the angle between its estimated normals is from 0 or 180 degrees, or from 90. The value is the
average precision of finding the pairs of one relation among these pairs and those of `neither`. The
pairs of the other relation are not used. All pairs of the dataset are ranked together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._oasis_shared import check_files, merged
from depthgauge.benchmarks.twins.oasis_normals import check_normals, resized_normals, unit
from depthgauge.errors import Unavailable
from depthgauge.metrics.average_precision import average_precision
from depthgauge.types import Sample, Score, State, Truth, sorted_rows

HIGHER = ("ap_parallel", "ap_orthogonal")
_NEEDED = ("relative_normals",)
_NEITHER, _PARALLEL, _ORTHOGONAL = 0, 1, 2
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "resize": ("bilinear",),
    "score": ("1 - error / pi",),
    "negatives": ("neither",),
    "nan": ("left out",),
    "area": ("average precision",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's rules by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The two average precisions, from 0 to 1."""
    return HIGHER


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """What one image adds to the two rankings; only `pool` gives values."""
    truth = sample.truth or Truth({})
    if "relative_normals" not in truth:
        raise Unavailable("has no pairs in relative_normal.csv.")
    pairs: NDArray[np.int32] = truth["relative_normals"]
    height, width = truth["normals"].shape[:2]
    normals = resized_normals(estimate_path, (height, width))
    xa, ya, xb, yb, relation = pairs.T
    cosine = (unit(normals[ya, xa]) * unit(normals[yb, xb])).sum(axis=1)
    angle = np.arccos(np.clip(cosine, -1, 1))
    errors = {
        "ap_parallel": (np.minimum(angle, np.pi - angle), _PARALLEL),
        "ap_orthogonal": (np.abs(angle - np.pi / 2), _ORTHOGONAL),
    }
    return TwinScores({name: _score(error, relation, of) for name, (error, of) in errors.items()})


def _score(error: NDArray[np.float64], relation: NDArray[np.int32], of: int) -> Score:
    """The rows of a ranking: the confidence, and whether the pair has that relation."""
    taken = np.isin(relation, (of, _NEITHER))
    used = taken & np.isfinite(error)
    rows = np.stack([1 - error[used] / np.pi, (relation[used] == of).astype(np.float64)], axis=1)
    lost = int(taken.sum() - used.sum())
    state = State(len(rows), lost, rows=sorted_rows(rows))
    return Score(math.nan, len(rows), lost, None, "", state, level="dataset")


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """The average precision over all pairs of the dataset."""
    found = {name: merged(samples, name) for name in HIGHER}
    return {name: _area(state) for name, state in found.items() if state is not None}


def _area(state: State) -> float:
    rows = np.zeros((0, 2)) if state.rows is None else state.rows
    right = rows[:, 1] == 1
    return average_precision(rows[:, 0], right, int(right.sum()))


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem in a folder of normals, in the order of the images."""
    yield from check_files(root, samples, "normals", _NEEDED, check_normals)


SPEC = Twin(
    revision=1,
    main="ap_orthogonal",
    higher=HIGHER,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
    check_submission=check_submission,
)
