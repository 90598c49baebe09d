"""Whether the same structures of the left view can be matched as in the true right view."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._frames import (
    PAINTED,
    as_picture,
    finish_frames,
    frame_state,
    whole_views,
)
from depthgauge.metrics.views._keypoints import (
    MATCHERS,
    count_shared,
    find_features,
    match_features,
)
from depthgauge.types import Image, Map, Mask, State
from depthgauge.units import Unit


@dataclass(frozen=True, slots=True)
class MatchRules:
    """Which matches are accepted."""

    matcher: str = "sift"
    """`sift`, or `dedode` where kornia and its weights are at hand."""
    keypoints: int = 2048
    """The most keypoints of a view."""
    ratio: float = 0.9
    """The nearest descriptor must be closer than this share of the second nearest's distance."""
    epipolar_px: float = 2.0
    """How far the rows of a match may differ."""
    same_px: float = 1.0
    """How far two left keypoints may be apart and still be the same."""


@metric(
    "e_match",
    category="views",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("view",),
    cite="Cui, Qiao & Jacobs 2026, equation (3)",
    formula="100 (1 - |T & E| / |T | E|) of left keypoints that match in truth (T) and view (E)",
    revision=1,
    needs=("left_image",),
    choices={"matcher": MATCHERS},
    missing_costs=PAINTED,
)
class MatchError:
    """How much the set of matchable structures of the left view changes.

    Keypoints of the left view are matched with the true right view and with the generated one, by
    the same rules: at most `keypoints` per view, mutual nearest descriptors that pass the `ratio`,
    rows that differ by `epipolar_px` at most. T and E are the left keypoints that have a match; two
    are the same if they are at most `same_px` apart, one to one. 0: the same structures match; 100:
    no structure matches in both. A frame in which nothing matches in either is left out. It judges
    whether something matches, not where: a copy of the left view has matches too.
    """

    parameters = MatchRules

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, left_image: Image, **parameters: Any
    ) -> State:
        """The frame's error."""
        rules = MatchRules(**parameters)
        shown, target, counts = whole_views(estimate, truth, region)
        if not counts.count:
            return frame_state(counts, 100.0)
        left = find_features(as_picture(left_image, shown.shape), rules.matcher, rules.keypoints)
        matched = []
        for view in (target, shown):
            right = find_features(view, rules.matcher, rules.keypoints)
            found = match_features(left, right, ratio=rules.ratio, epipolar_px=rules.epipolar_px)
            matched.append(left.points[found])
        first, second = matched
        shared = count_shared(first, second, rules.same_px)
        value = jaccard_error(len(first), len(second), shared)
        nothing = math.isnan(value)
        return frame_state(State(0, 0), value) if nothing else frame_state(counts, value)

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return finish_frames(state, missing)


def jaccard_error(first: int, second: int, shared: int) -> float:
    """How much two sets differ, in percent of their union; NaN if both are empty.

    >>> jaccard_error(3, 2, 1)
    75.0
    """
    union = first + second - shared
    return 100.0 * (1.0 - shared / union) if union else math.nan
