"""Three kinds of wrong matches by what the other view sees: Bolles, Baker & Hannah 1993."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from depthgauge.metrics._judged import distance, judged_pixels, need_size, shown
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.warping import Visibility

MATCHES = ("disparity", "flow")
CITE = "Bolles, Baker & Hannah 1993"
_SHARE: dict[str, Any] = {
    "category": "correspondences",
    "unit": Unit.PERCENT,
    "better": "lower",
    "bounds": (0, 100),
    "of": MATCHES,
    "needs": ("visibility",),
    "cite": CITE,
}
"""What all three declare."""


def count_state(judged: Mask, present: Mask, fails: Mask) -> State:
    """Judged pixels with an estimate, without one, and those with one that fail."""
    here = judged & present
    count, failed = np.count_nonzero(here), np.count_nonzero(here & fails)
    return State(int(count), int(np.count_nonzero(judged) - count), np.array([float(failed)]))


def share_of_estimates(state: State) -> float:
    """Percentage of the estimated pixels that fail, whatever the missing ones cost elsewhere."""
    return 100.0 * float(state.sums[0]) / state.count if state.count else math.nan


def share_of_missing(state: State) -> float:
    """Percentage of the judged pixels without an estimate."""
    n = state.count + state.missing
    return 100.0 * state.missing / n if n else math.nan


def is_bad(estimate: Map, truth: Map, threshold: float) -> Mask:
    """Where an error exceeds the threshold, or there is no estimate."""
    return np.asarray(~(distance(estimate, truth) <= np.float32(threshold)))


@metric(
    "mismatches",
    formula="100 * mean over visible, estimated pixels of [|e| > threshold]",
    revision=1,
    missing_costs="is left out under any `missing` rule; `false_negatives` counts it",
    **_SHARE,
)
class Mismatches:
    """Percentage of the matches of pixels that both views see that are wrong.

    It is `badpix` of the region `visible` without missing pixels. Read it with `false_negatives`:
    a method that gives few, safe matches has few mismatches.

    >>> import numpy as np, depthgauge as dg
    >>> items = {"visible_mask": np.array([[1, 1, 1, 0]])}
    >>> s = dg.score([[5, 7, float("nan"), 9]], [[5, 5, 5, 5]], "mismatches", items=items)
    >>> s["mismatches@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        visibility: Visibility,
        threshold: float = 1.0,
    ) -> State:
        """How many visible pixels are matched, and how many of them wrongly."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(visibility.visible, "the visibility", truth)
        bad = is_bad(estimate, truth, threshold)
        return count_state(judged & visibility.visible, is_known(estimate), bad)

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0) -> float:
        """Percentage of the matches."""
        return share_of_estimates(state)

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, visibility: Visibility, threshold: float = 1.0
    ) -> Map:
        """100 at wrong matches."""
        bad = is_bad(estimate, truth, threshold)
        return shown(100.0 * bad, visibility.visible & is_known(truth) & is_known(estimate))


@metric(
    "false_negatives",
    formula="100 * mean over visible pixels of [no estimate]",
    revision=1,
    missing_costs="is what it counts, under any `missing` rule",
    **_SHARE,
)
class FalseNegatives:
    """Percentage of the pixels that both views see for which there is no match.

    >>> import numpy as np, depthgauge as dg
    >>> items = {"visible_mask": np.array([[1, 1, 1, 0]])}
    >>> s = dg.score([[5, 7, float("nan"), 9]], [[5, 5, 5, 5]], "false_negatives", items=items)
    >>> round(s["false_negatives@all"].value, 2)
    33.33
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, visibility: Visibility) -> State:
        """How many visible pixels are matched, and how many are not."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(visibility.visible, "the visibility", truth)
        present = is_known(estimate)
        return count_state(judged & visibility.visible, present, ~present)

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Percentage of the visible pixels."""
        return share_of_missing(state)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, visibility: Visibility) -> Map:
        """100 where a match is missing."""
        return shown(100.0 * ~is_known(estimate), visibility.visible & is_known(truth))


@metric(
    "false_positives",
    formula="100 * mean over occluded pixels of [there is an estimate]",
    revision=1,
    missing_costs="is right: there is nothing to match",
    **_SHARE,
)
class FalsePositives:
    """Percentage of the pixels that the other view does not see for which there is a match.

    A method that fills occluded areas has 100, however well it does so; score its values there with
    `badpix@occluded`. For methods that say what they cannot match.

    >>> import numpy as np, depthgauge as dg
    >>> items = {"visible_mask": np.array([[1, 1, 0, 0]])}
    >>> s = dg.score([[5, 7, float("nan"), 9]], [[5, 5, 5, 5]], "false_positives", items=items)
    >>> s["false_positives@all"].value
    50.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, visibility: Visibility) -> State:
        """How many occluded pixels there are, and how many of them have an estimate."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(visibility.occluded, "the visibility", truth)
        # Nothing is missing where nothing can be matched: all occluded pixels are counted.
        everywhere = np.ones(judged.shape, bool)
        return count_state(judged & visibility.occluded, everywhere, is_known(estimate))

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Percentage of the occluded pixels."""
        return share_of_estimates(state)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, visibility: Visibility) -> Map:
        """100 where something is matched that cannot be."""
        return shown(100.0 * is_known(estimate), visibility.occluded & is_known(truth))
