"""Whether the errors of a clip stay: maps that jump from frame to frame."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.metrics._judged import (
    finish_mean,
    finish_share,
    judged_pixels,
    mean_state,
    shown,
)
from depthgauge.metrics._metric import metric
from depthgauge.metrics.moments import same_size
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

QUANTITIES = ("disparity", "depth", "flow", "scene_flow")
_NEEDS = ("previous_estimate", "previous_truth")
_CITE = "Karaev et al. 2023 (DynamicStereo)"


def _changes(maps: tuple[Map, Map, Mask | None], before: Map, true_before: Map) -> tuple[Map, Mask]:
    """How much the error of each pixel changed since the frame before, and which are judged."""
    estimate, truth, judged = judged_pixels(*maps)
    before, _ = same_size(before, truth)
    true_before, _ = same_size(true_before, truth)
    judged = judged & is_known(true_before)
    # What is infinite, or too long for float32, has no change and is missing.
    with np.errstate(invalid="ignore", over="ignore"):
        change = (estimate - truth) - (before - true_before)
        if change.ndim == 2:
            return np.abs(change), judged
        return np.asarray(np.linalg.norm(change, axis=-1), np.float32), judged


@metric(
    "tepe",
    category="motion",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=QUANTITIES,
    needs=_NEEDS,
    cite=_CITE,
    formula="mean |e(t) - e(t-1)|, e = estimate - truth",
    revision=1,
)
class TemporalEndPointError:
    """How much errors change from frame to frame: the estimated change against the true one.

    |(x(t) - x(t-1)) - (g(t) - g(t-1))| at the same pixel of two frames, which is the change of the
    error. An error that stays costs nothing; a map that flickers does. For flow it is the length of
    the difference. Judged are pixels with truth in both frames; a pixel without an estimate in
    either is missing. For clips; the first frame has none.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> m, truth = METRICS["tepe"], np.zeros((1, 4), np.float32)
    >>> now, before = truth + np.float32([5, 5, 5, 5]), truth + np.float32([5, 5, 4, 2])
    >>> m.finish(m.measure(now, truth, previous_estimate=before, previous_truth=truth))
    1.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        previous_estimate: Map,
        previous_truth: Map,
    ) -> State:
        """The sum of the changes."""
        maps = (estimate, truth, region)
        return mean_state(*_changes(maps, previous_estimate, previous_truth))

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """The mean."""
        return finish_mean(state, missing)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, previous_estimate: Map, previous_truth: Map) -> Map:
        """The change of each pixel's error."""
        return shown(*_changes((estimate, truth, None), previous_estimate, previous_truth))


@metric(
    "temporal_bad",
    category="motion",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=QUANTITIES,
    needs=_NEEDS,
    cite=_CITE,
    formula="100 * mean [not |e(t) - e(t-1)| <= threshold]",
    revision=1,
)
class TemporalBad:
    """Percentage of pixels whose error changes from frame to frame by more than the threshold.

    As in `tepe`, at the same pixel of two frames. The papers use 1 and 3 px.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> m, truth = METRICS["temporal_bad"], np.zeros((1, 4), np.float32)
    >>> now, before = truth + np.float32([5, 5, 5, 5]), truth + np.float32([5, 5, 4, 2])
    >>> state = m.measure(now, truth, previous_estimate=before, previous_truth=truth, threshold=1)
    >>> m.finish(state, threshold=1)
    25.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        previous_estimate: Map,
        previous_truth: Map,
        threshold: float = 1.0,
    ) -> State:
        """How many pixels change too much."""
        maps = (estimate, truth, region)
        values, judged = _changes(maps, previous_estimate, previous_truth)
        bad = np.where(np.isfinite(values), ~(values <= np.float32(threshold)), np.nan)
        return mean_state(bad, judged)

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0) -> float:
        """Percentage of pixels."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        previous_estimate: Map,
        previous_truth: Map,
        threshold: float = 1.0,
    ) -> Map:
        """100 where the error changes too much."""
        values, judged = _changes((estimate, truth, None), previous_estimate, previous_truth)
        return shown(100.0 * ~(values <= np.float32(threshold)), judged & np.isfinite(values))
