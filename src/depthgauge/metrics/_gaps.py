"""Gaps: how far it is from each pixel to the nearest good one, and means of that."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.geometry.distances import distance_to
from depthgauge.types import Map, Mask, State, is_known

SCALES = {"scale": ("log", "linear")}


def gaps(good: Mask, scale: str = "log", cap_px: int = 1000) -> Map:
    """Of each pixel ln(1 + d), or d itself: d is the distance in px to the nearest good pixel.

    No distance is above the cap, which is also the distance to an empty set.

    >>> gaps(np.array([[True, False, False]]), "linear")
    array([[0., 1., 2.]], dtype=float32)
    """
    away = np.minimum(distance_to(good, cap_px), np.float32(cap_px))
    return np.log1p(away) if scale == "log" else away


def gap_state(values: Map, estimate: Map, judged: Mask) -> State:
    """Sums over the pixels that have an estimate and over those that have none."""
    present = judged & is_known(estimate)
    lost = judged & ~present
    sums = [np.sum(values[mask], dtype=np.float64) for mask in (present, lost)]
    return State(int(np.count_nonzero(present)), int(np.count_nonzero(lost)), np.array(sums))


def finish_gaps(state: State, missing: str) -> float:
    """100 times the mean; a missing pixel is as far from a good one as it is, unless skipped."""
    present, lost = (float(value) for value in state.sums)
    total = present + lost if missing in ("bad", "interpolate") else present
    n = state.count if missing == "skip" else state.count + state.missing
    return 100.0 * total / n if n else math.nan
