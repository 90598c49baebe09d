"""Depth Pro's boundaries: what `boundary_metrics.py` computes (apple/ml-depth-pro 9efe5c1).

On the inverse of the depth, floored at 1e-6 m: neighbours whose ratio exceeds a factor, in four
directions, whose shares are averaged; a direction without any counts as 0. Ten factors, weighted by
themselves. F1 is without thinning, recall keeps the largest of consecutive jumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.boundary_maps.depth_jumps import (
    Jumps,
    jumps,
    mask_steps,
    nearness,
    thin_jumps,
)
from depthgauge.io import read_map
from depthgauge.metrics.monocular.depth_edges import FACTORS, WEIGHTS
from depthgauge.types import Map, Sample, Score

__all__ = ["evaluate", "options", "score_ids"]

_OPTIONS: dict[str, tuple[Any, ...]] = {
    "score": ("f1", "recall"),
    "empty_direction": ("zero",),
    "missing_truth": ("1e-6 m",),
    "missing_estimate": ("1e-6 m",),
}
_IDS = {
    "f1": ("si_boundary_f1", "f1_at_1_25", "precision_at_1_25", "recall_at_1_25"),
    "recall": ("si_boundary_recall",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The weighted mean, and for F1 the values at the last factor."""
    return _IDS[options["score"]]


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """The boundary scores of one picture."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    estimate = read_map(estimate_path, quantity="depth", raw=True)
    recall = options["score"] == "recall"
    wanted = sample.truth["matte_mask" if recall else "depth"]
    if estimate.shape != wanted.shape:
        raise WrongShape(
            f"{estimate_path}: is {estimate.shape[1]}x{estimate.shape[0]} but must be "
            f"{wanted.shape[1]}x{wanted.shape[0]}."
        )
    mine = nearness(_filled(estimate))
    count = int(wanted.size)
    if recall:
        outline = mask_steps(wanted)
        values = [_share(thin_jumps(mine, t), outline, outline) for t in FACTORS]
        return TwinScores({_IDS["recall"][0]: _score(float(WEIGHTS @ values), count)})
    theirs = nearness(_filled(wanted))
    rates = [_rates(jumps(mine, t), jumps(theirs, t)) for t in FACTORS]
    mean = float(WEIGHTS @ np.array([rate[0] for rate in rates]))
    values = [mean, *rates[-1]]
    return TwinScores({k: _score(v, count) for k, v in zip(_IDS["f1"], values, strict=True)})


def _filled(depth: Map) -> Map:
    """Missing pixels become 0, and so the least depth."""
    return np.where(np.isfinite(depth), depth, np.float32(0))


def _rates(found: Jumps, true: Jumps) -> tuple[float, float, float]:
    """F1, precision and recall at one factor."""
    precision, recall = _share(found, true, found), _share(found, true, true)
    both = precision + recall
    return (2 * precision * recall / both if both else 0.0), precision, recall


def _share(found: Jumps, true: Jumps, of: Jumps) -> float:
    shares = [
        int(np.count_nonzero(a & b)) / max(int(np.count_nonzero(whole)), 1)
        for a, b, whole in zip(found, true, of, strict=True)
    ]
    return 0.25 * sum(shares)


def _score(value: float, count: int) -> Score:
    return Score(value, count, 0, None, "")


SPEC = Twin(
    revision=1,
    higher=tuple(name for names in _IDS.values() for name in names),
    missing=0.0,
    explained={
        "empty_direction": "A direction without any jump counts as 0 in the mean of the four.",
        "missing_estimate": "A missing pixel is nearer than all others, so its outline is a jump.",
    },
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
)
