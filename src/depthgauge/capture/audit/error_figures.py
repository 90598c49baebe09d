"""True errors of a simulated session's labels: how far off, how many, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.exact_truth import ExactTruth
from depthgauge.geometry.discontinuities.structures import find_structures
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.regions.discontinuities import discontinuities
from depthgauge.types import Map, Mask

BAD_PX = 2.0
EDGE_PX = 3
"""Pixels within this distance of a discontinuity of the truth are near it."""
JUMP_PX = 1.0
"""Neighbours whose true disparities differ by more are at a discontinuity."""

FEWEST_OF_OBJECT = 50
"""Labels that an object needs to be judged alone."""

Figures = dict[str, Any]


def error_figures(errors: NDArray[Any]) -> Figures:
    """Figures of a set of signed errors in px; None if there are none.

    >>> error_figures(np.array([0.0, -1.0, 4.0]))["mean_abs_px"]
    1.6666666666666667
    """
    off = np.asarray(errors, np.float64)
    off = off[np.isfinite(off)]
    size = np.abs(off)
    some = len(off) > 0
    return {
        "pixels": len(off),
        "mean_abs_px": float(size.mean()) if some else None,
        "median_abs_px": float(np.median(size)) if some else None,
        "rms_px": float(np.sqrt(np.mean(off**2))) if some else None,
        "bias_px": float(off.mean()) if some else None,
        "p95_px": float(np.percentile(size, 95)) if some else None,
        "bad_2_percent": percent(int((~(size <= BAD_PX)).sum()), len(off)),
    }


def map_figures(error: Map, exact: ExactTruth, near: Mask, within: Mask | None = None) -> Figures:
    """Errors of the kept pixels of a map, and their share of the pixels that could be kept.

    Args:
        error: Estimate minus truth in px; NaN where there is no estimate or no truth.
        exact: The truth.
        near: Pixels near discontinuities.
        within: Only these pixels; None for all.

    Returns:
        The figures of `error_figures`; `kept_percent` of the pixels that the other view sees and a
        projector lights; of those near discontinuities `kept_near_edges_percent`, which are right
        to 2 px, and `labelled_near_edges_percent`, right or not; `near_edges`, the errors there;
        and `occluded`, the errors of kept pixels that the other view does not see.
    """
    inside = np.ones(error.shape, bool) if within is None else within
    kept = np.isfinite(error)
    possible = exact.visible & exact.lit & np.isfinite(exact.disparity) & inside
    beside = possible & near
    right = np.abs(error) <= BAD_PX
    hidden = inside & ~exact.visible
    return {
        **error_figures(error[inside]),
        "kept_percent": percent(int((kept & possible).sum()), int(possible.sum())),
        "kept_near_edges_percent": percent(int((right & beside).sum()), int(beside.sum())),
        "labelled_near_edges_percent": percent(int((kept & beside).sum()), int(beside.sum())),
        "near_edges": error_figures(error[inside & near]),
        "occluded": error_figures(error[hidden]),
    }


def near_discontinuities(truth: Map) -> Mask:
    """Pixels within 3 px of a jump of more than 1 px in the truth."""
    width = 2 * EDGE_PX + 1
    return discontinuities(truth, jump=JUMP_PX, width=width, guard=0)


def thin_structures(truth: Map) -> Mask:
    """Pixels of the truth's fine structures, at most 10 px wide (the region `fine_structures`)."""
    return find_structures(truth, truth, jump=JUMP_PX).mask


def thin_figures(error: Map, exact: ExactTruth, thin: Mask) -> Figures:
    """What became of the pixels of thin structures that could be labelled.

    Returns:
        `pixels` that the other view sees and a projector lights; `kept_and_right_percent` of them,
        to 2 px; `labelled_percent`, right or not; `bad_2_percent` of the labelled ones.
    """
    possible = exact.visible & exact.lit & np.isfinite(exact.disparity) & thin
    kept, right = np.isfinite(error) & possible, (np.abs(error) <= BAD_PX) & possible
    count = int(possible.sum())
    return {
        "pixels": count,
        "kept_and_right_percent": percent(int(right.sum()), count),
        "labelled_percent": percent(int(kept.sum()), count),
        "bad_2_percent": percent(int((kept & ~right).sum()), int(kept.sum())),
    }


def worst_object(objects: Mapping[str, Figures]) -> Figures | None:
    """The object with the largest share of labels that are off by more than 2 px.

    Only objects with at least 50 labels count; None if there are none.

    Args:
        objects: The figures of `by_label`.
    """
    enough = {name: f for name, f in objects.items() if f["pixels"] >= FEWEST_OF_OBJECT}
    if not enough:
        return None
    name = max(enough, key=lambda n: float(enough[n]["bad_2_percent"]))
    figures = enough[name]
    return {"object": name, **{n: figures[n] for n in ("pixels", "bad_2_percent", "kept_percent")}}


def by_label(error: Map, exact: ExactTruth, near: Mask, labels: NDArray[np.int32]) -> Figures:
    """The figures of each label that occurs (a material, a kind of surface, an object)."""
    found = np.unique(labels[labels >= 0])
    return {str(n): _brief(map_figures(error, exact, near, labels == n)) for n in found.tolist()}


def by_mask(error: Map, exact: ExactTruth, near: Mask, masks: Mapping[str, Mask]) -> Figures:
    """The figures of each named region."""
    return {n: _brief(map_figures(error, exact, near, mask)) for n, mask in masks.items()}


def depth_figures(disparity: Map, exact: ExactTruth, pair: RectifiedPair) -> Figures:
    """Errors of the metric depth, which also include errors of the calibration.

    Returns:
        `mean_abs_mm`, `median_abs_mm`, `bias_mm`, `median_percent` (of the depth, with its sign:
        an error of the scale), `within_1cm_percent`.
    """
    focal_px = pair.left.camera.focal_px[0]
    offset_px = pair.rig().principal_offset_px
    depth = depth_from_disparity(disparity, focal_px, pair.baseline_m, offset_px)
    off = (depth - exact.depth_m).astype(np.float64)
    known = np.isfinite(off)
    share, off = off[known] / exact.depth_m[known], off[known]
    some = len(off) > 0
    return {
        "pixels": len(off),
        "mean_abs_mm": 1000 * float(np.abs(off).mean()) if some else None,
        "median_abs_mm": 1000 * float(np.median(np.abs(off))) if some else None,
        "bias_mm": 1000 * float(off.mean()) if some else None,
        "median_percent": 100 * float(np.median(share)) if some else None,
        "within_1cm_percent": percent(int((np.abs(off) < 0.01).sum()), len(off)),
    }


def row_figures(exact: ExactTruth) -> Figures:
    """How far matching points are from the same row: the rectification's own error."""
    off = exact.row_error_px[exact.visible & np.isfinite(exact.row_error_px)].astype(np.float64)
    if not len(off):
        return {"mean_abs_px": None, "bias_px": None, "p95_px": None, "most_px": None}
    size = np.abs(off)
    return {
        "mean_abs_px": float(size.mean()),
        "bias_px": float(off.mean()),
        "p95_px": float(np.percentile(size, 95)),
        "most_px": float(size.max()),
    }


def mask_figures(mask: Mask, disparity: Map, exact: ExactTruth) -> Figures:
    """How well a mask of what both views see agrees with the truth, where there are labels."""
    judged = np.isfinite(disparity) & np.isfinite(exact.disparity)
    passed, seen = judged & mask, judged & exact.visible
    return {
        "passed_but_hidden_percent": percent(int((passed & ~seen).sum()), int(passed.sum())),
        "seen_but_refused_percent": percent(int((seen & ~mask).sum()), int(seen.sum())),
    }


def agreement_percent(labels: NDArray[np.int32], truth: NDArray[np.int32]) -> float | None:
    """Share of pixels with the right label among those that have a true one."""
    known = truth >= 0
    return percent(int((labels == truth)[known].sum()), int(known.sum()))


def percent(part: int, whole: int) -> float | None:
    """100 part / whole; None if the whole is 0."""
    return 100.0 * part / whole if whole else None


def _brief(figures: Figures) -> Figures:
    return {name: figures[name] for name in _BRIEF}


_BRIEF: Iterable[str] = (
    "pixels",
    "mean_abs_px",
    "median_abs_px",
    "bias_px",
    "bad_2_percent",
    "kept_percent",
)
