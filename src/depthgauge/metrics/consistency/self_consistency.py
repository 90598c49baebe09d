"""Self-consistency: do several estimates of one scene describe the same points?

Leclerc, Luong & Fua 2000 run a method on several pairs of images of a scene and compare what it
says about the same points. No truth is used, so what is wrong everywhere in the same way goes
unnoticed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.metrics._judged import finish_share, need_size, shown, whole_region
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

Place = tuple[float, float]
"""Where a parallel camera is, to the right and down, in baselines of the disparities."""


def differences(first: Map, second: Map, steps: Place) -> NDArray[np.float32]:
    """|d1(x) - d2(x')| at each pixel of the first map, x' being where it is in the second view.

    Args:
        first: Disparities of one view, in px per baseline.
        second: Those of another one of the same size.
        steps: Where the second camera is, seen from the first.

    Returns:
        NaN without an estimate in either map, and where x' is outside of the second view.

    >>> differences(np.float32([[1, 2, 1]]), np.float32([[2, 1, 9]]), (1, 0))
    array([[nan, nan,  0.]], dtype=float32)
    """
    height, width = first.shape
    y, x = np.mgrid[0:height, 0:width]
    known = np.isfinite(first)
    d = np.where(known, first, np.float32(0))
    column, row = (np.rint(at - step * d) for at, step in zip((x, y), steps, strict=True))
    inside = known & (column >= 0) & (column < width) & (row >= 0) & (row < height)
    found = np.full(first.shape, np.nan, np.float32)
    there = second[row[inside].astype(np.int64), column[inside].astype(np.int64)]
    found[inside] = np.abs(first[inside] - there)
    return found


def self_consistency(maps: Mapping[Place, Map], threshold: float = 1.0) -> float:
    """Percentage of points on which estimates of several parallel views disagree.

    Every map is compared with every other one, both ways, where both have an estimate of a point.

    Args:
        maps: By where their cameras are: disparities in px per baseline, all of one size.
        threshold: Disparities that differ by more disagree.

    Raises:
        Misuse: There are fewer than two maps.

    >>> maps = {(k, 0): np.full((1, 4), 1, np.float32) for k in range(3)}
    >>> maps[2, 0][0, 0] = 5
    >>> round(self_consistency(maps), 2)
    14.29
    """
    if len(maps) < 2:
        raise Misuse("self-consistency compares two maps or more; give one for each view.")
    bad = count = 0
    for (place, first), (other, second) in permutations(maps.items(), 2):
        steps = other[0] - place[0], other[1] - place[1]
        found = differences(first, second, steps)
        known = np.isfinite(found)
        count += int(known.sum())
        bad += int((found[known] > np.float32(threshold)).sum())
    return 100.0 * bad / count if count else math.nan


@metric(
    "self_consistency",
    category="weak_reference",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("disparity",),
    needs=("estimate_right_disparity",),
    cite="Leclerc, Luong & Fua 2000",
    formula="100 * mean [not |d_left(x) - d_right(x - d_left(x))| <= threshold]",
    revision=1,
    uses_truth=False,
    missing_costs="`bad`: a pixel without an estimate disagrees; `skip`: is left out.",
)
class SelfConsistency:
    """Percentage of pixels on which a method's estimates of both views disagree.

    The estimate has two parts: `disparity` of the left view and `right_disparity` of the right one,
    positive too. A pixel whose match is outside of the right view, or has no estimate there, is not
    judged. Occluded pixels disagree in good estimates too. For more than two views,
    `depthgauge.metrics.consistency.self_consistency.self_consistency` compares all pairs.

    >>> import depthgauge as dg
    >>> estimate = {"disparity": [[1, 1, 1, 1]], "right_disparity": [[1, 1, 5, 5]]}
    >>> s = dg.score(estimate, None, "self_consistency", quantity="disparity")
    >>> round(s["self_consistency@all"].value, 2)
    33.33
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        estimate_right_disparity: Map,
        threshold: float = 1.0,
    ) -> State:
        """How many pixels disagree."""
        need_size(estimate_right_disparity, "the right disparity", estimate)
        inside = whole_region(region, estimate)
        found = differences(estimate, estimate_right_disparity, (1.0, 0.0))
        judged = inside & np.isfinite(found)
        count = int(np.count_nonzero(judged))
        bad = np.count_nonzero(found[judged] > np.float32(threshold))
        lost = int(np.count_nonzero(inside & ~np.isfinite(estimate)))
        return State(count, lost, np.array([float(bad)]))

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0) -> float:
        """The percentage."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map | None,
        *,
        estimate_right_disparity: Map,
        threshold: float = 1.0,
    ) -> Map:
        """100 where both views disagree."""
        found = differences(estimate, estimate_right_disparity, (1.0, 0.0))
        return shown(100.0 * (found > np.float32(threshold)), np.isfinite(found))
