"""KITTI 2012, stereo/flow development kit: what `evaluate_stereo` and `evaluate_flow` write.

Its rules, each a named option: holes are filled before scoring; an outlier is off by more than 1 to
5 px (strictly, no share of the truth); `_est` counts only pixels that the submission has. Every
image is divided by its own pixels, then the plain mean over images is taken; reflective regions
(stereo only) are added over the images instead. Values are fractions and px.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.benchmarks.twins._kitti_maps import (
    check_size,
    lengths,
    read_submitted,
    read_truth,
)
from depthgauge.errors import BadData
from depthgauge.types import Sample, Score, is_known

THRESHOLDS = (1, 2, 3, 4, 5)
_SETS = {
    "disparity": {
        "noc": "disp_noc",
        "occ": "disp_occ",
        "refl_noc": "disp_refl_noc",
        "refl_occ": "disp_refl_occ",
    },
    "flow": {"noc": "flow_noc", "occ": "flow_occ"},
}
"""The folders of the truth by set of pixels."""
_POOLED = ("refl_noc", "refl_occ")
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "maps": ("disparity", "flow"),
    "holes": ("filled",),
    "mean": ("images, reflective pixels",),
    "accumulate": ("float64",),
}
_EXPLAINED = {
    "maps": "Stereo or flow: what is read.",
    "holes": "Holes are filled before anything is counted, as in KITTI 2015.",
    "mean": "Every image is divided by its pixels before the mean; reflective regions are pooled.",
    "accumulate": "The original adds errors in float32.",
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Outliers by threshold, the mean error and the density, for each set of pixels."""
    return tuple(
        f"{name}@{pixels}"
        for pixels in _SETS[options["maps"]]
        for name in _columns(with_density=pixels not in _POOLED)
    )


def _columns(*, with_density: bool) -> Iterator[str]:
    for t in THRESHOLDS:
        yield from (f"Out_{t}", f"Out_{t}_est")
    yield from ("Avg", "Avg_est")
    if with_density:
        yield "density"


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The ratios and means of one image."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    folder, maps = sample.truth["folder"], options["maps"]
    submitted = read_submitted(estimate_path, maps)
    scores: dict[str, Score] = {}
    left_out = []
    for pixels, place in _SETS[maps].items():
        path = folder / place / f"{sample.id}.png"
        if pixels in _POOLED and not path.is_file():
            left_out.append(pixels)
            continue
        truth = read_truth(path, maps)
        check_size(estimate_path, submitted, truth)
        known = is_known(truth)
        difference = truth[known] - submitted.filled[known]
        errors = np.abs(difference) if truth.ndim == 2 else lengths(difference)
        scores |= dict(_measured(errors, submitted.given[known], pixels))
    ids = score_ids(options)
    return TwinScores({i: scores[i] for i in ids if i in scores}, tuple(left_out))


def _measured(
    errors: NDArray[np.float32], given: NDArray[np.bool_], pixels: str
) -> Iterator[tuple[str, Score]]:
    n, submitted = errors.size, int(given.sum())
    lost, kept = n - submitted, errors[given]
    for t in THRESHOLDS:
        bad = int((errors > np.float32(t)).sum())
        yield f"Out_{t}@{pixels}", Score(bad / max(n, 1), submitted, lost, float(bad), "")
        bad = int((kept > np.float32(t)).sum())
        yield f"Out_{t}_est@{pixels}", Score(bad / max(submitted, 1), submitted, 0, float(bad), "")
    total = float(errors.sum(dtype=np.float64))
    yield f"Avg@{pixels}", Score(total / max(n, 1), submitted, lost, total, "px")
    total = float(kept.sum(dtype=np.float64))
    yield f"Avg_est@{pixels}", Score(total / max(submitted, 1), submitted, 0, total, "px")
    if pixels not in _POOLED:
        share = submitted / max(n, 1)
        yield f"density@{pixels}", Score(share, submitted, lost, float(submitted), "")


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """The plain mean over images; of reflective regions, all pixels together."""
    found = {}
    for score_id in score_ids(options):
        used = [scores[score_id] for scores in samples.values() if score_id in scores]
        if not used:
            continue
        if score_id.rpartition("@")[2] in _POOLED:
            pixels = sum(score.count + score.missing for score in used)
            found[score_id] = sum(score.total or 0.0 for score in used) / max(pixels, 1)
        else:
            found[score_id] = sum(score.value for score in used) / len(used)
    return found


SPEC = Twin(
    revision=1,
    main="Out_3@noc",
    higher=("density",),
    verified=False,
    options=options,
    explained=_EXPLAINED,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
)
