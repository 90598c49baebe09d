"""Gaps: the distance from each pixel to the nearest good one, and means of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from depthgauge.geometry.distances import distance_to
from depthgauge.metrics._judged import distance, judged_pixels, part, shown
from depthgauge.types import Map, Mask, State, is_known

SCALES = {"scale": ("log", "linear")}


def gaps(good: Mask, scale: str = "log", cap_px: int = 1000) -> Map:
    """For each pixel ln(1 + d), or d itself; d is the distance in px to the nearest good pixel.

    No distance is above the cap, which is also the distance to an empty set.

    >>> gaps(np.array([[True, False, False]]), "linear")
    array([[0., 1., 2.]], dtype=float32)
    """
    away = np.minimum(distance_to(good, cap_px), np.float32(cap_px))
    return np.log1p(away) if scale == "log" else away


def gap_state(values: Map, estimate: Map, judged: Mask) -> State:
    """Sums over the pixels with an estimate and over those without."""
    present = judged & is_known(estimate)
    lost = judged & ~present
    sums = [np.sum(values[mask], dtype=np.float64) for mask in (present, lost)]
    return State(int(np.count_nonzero(present)), int(np.count_nonzero(lost)), np.array(sums))


def finish_gaps(state: State, missing: str) -> float:
    """100 times the mean; a missing pixel counts with its own distance, unless skipped."""
    present, lost = (float(value) for value in state.sums)
    total = present + lost if missing in ("bad", "interpolate") else present
    n = state.count if missing == "skip" else state.count + state.missing
    return 100.0 * total / n if n else math.nan


class GapsOfErrors:
    """The steps of a metric of the gaps between pixels whose error is at most a threshold."""

    within: ClassVar[tuple[str, str] | None] = None
    """The shared map that it needs, and the mask in it that limits judged and good pixels; None:
    good pixels lie in the region."""

    @classmethod
    def measure(
        cls,
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        threshold: float = 1.0,
        scale: str = "log",
        cap_px: int = 1000,
        **things: Any,
    ) -> State:
        """Sums of the gaps."""
        estimate, good, judged = cls._judge(estimate, truth, region, threshold, things)
        return gap_state(gaps(good, scale, cap_px), estimate, judged)

    @staticmethod
    def finish(
        state: State,
        *,
        missing: str,
        threshold: float = 1.0,
        scale: str = "log",
        cap_px: int = 1000,
    ) -> float:
        """100 times the mean gap."""
        return finish_gaps(state, missing)

    @classmethod
    def error_map(
        cls,
        estimate: Map,
        truth: Map,
        *,
        threshold: float = 1.0,
        scale: str = "log",
        cap_px: int = 1000,
        **things: Any,
    ) -> Map:
        """100 times the gap at each pixel that is judged."""
        _, good, judged = cls._judge(estimate, truth, None, threshold, things)
        return shown(100.0 * gaps(good, scale, cap_px), judged)

    @classmethod
    def _judge(
        cls,
        estimate: Map,
        truth: Map,
        region: Mask | None,
        threshold: float,
        things: Mapping[str, Any],
    ) -> tuple[Map, Mask, Mask]:
        """The estimate, the good pixels and the judged ones."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        good = distance(estimate, truth) <= np.float32(threshold)
        if cls.within is None:
            return estimate, good & judged, judged
        mask = part(things, cls.within, truth)
        return estimate, good & mask, judged & mask
