"""Angles between estimated and true normals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.metrics._judged import judged_pixels, need_size, shown
from depthgauge.metrics._metric import metric
from depthgauge.metrics._surface_numbers import surface_numbers
from depthgauge.metrics.moments import map_recipe
from depthgauge.metrics.terms import ANGLE, Order, Recipe, mean, over, percent_without
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

NORMALS = ("normals",)
_WORST = 180.0
_COSTS = "`bad`: counts as 180 degrees; `skip`: is left out"
Labels = NDArray[np.integer[Any]]


@metric(
    "mean_angle",
    category="normals",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, _WORST),
    of=NORMALS,
    cite="Fouhey et al. 2013",
    formula="mean angle(estimate, truth)",
    revision=1,
    missing_costs=_COSTS,
)
def mean_angle() -> Recipe:
    """Mean angle between the estimated and the true normal.

    The length of a normal does not matter; a normal of length 0 is missing.

    >>> import depthgauge as dg
    >>> up, front = [0, -1, 0], [0, 0, -1]
    >>> s = dg.score([[up, front]], [[front, front]], "mean_angle", quantity="normals")
    >>> s["mean_angle@all"].value
    45.0
    """
    return mean(ANGLE)


@metric(
    "within",
    category="normals",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=NORMALS,
    cite="Fouhey et al. 2013",
    formula="100 * mean [angle(estimate, truth) < degrees]",
    revision=1,
    missing_costs="`bad`: counts as outside; `skip`: is left out",
)
def within(*, degrees: float = 11.25) -> Recipe:
    """Percentage of normals that are off by less than a number of degrees (strictly).

    >>> import depthgauge as dg
    >>> up, front = [0, -1, 0], [0, 0, -1]
    >>> s = dg.score([[up, front]], [[front, front]], "within:30", quantity="normals")
    >>> s["within:30@all"].value
    50.0
    """
    if not 0 < degrees <= _WORST:
        raise BadScoreId(f"within: degrees is {degrees:g} but must be above 0 and at most 180.")
    # Angles are float32: "below a limit" is "at most the float32 number before it".
    return percent_without(over(float(np.nextafter(np.float32(degrees), np.float32(0)))))


def _angles(estimate: Map, truth: Map) -> Map:
    """The angle of each pixel in degrees; NaN where either has no direction."""
    return map_recipe(Order(50.0), estimate, truth)


@metric(
    "median_angle",
    category="normals",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, _WORST),
    of=NORMALS,
    cite="Fouhey et al. 2013",
    formula="median angle(estimate, truth)",
    revision=1,
    missing_costs=_COSTS,
)
class MedianAngle:
    """Median angle between the estimated and the true normal.

    For an even number of angles it is the mean of the two middle ones.

    >>> import depthgauge as dg
    >>> up, front = [0, -1, 0], [0, 0, -1]
    >>> s = dg.score([[up, front, front]], [[front] * 3], "median_angle", quantity="normals")
    >>> s["median_angle@all"].value
    0.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None) -> State:
        """The sorted angles."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        angles = _angles(estimate, truth)[judged]
        present = np.sort(angles[np.isfinite(angles)])
        return State(present.size, angles.size - present.size, values=present)

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """The middle one; missing ones are sorted last, or first if they are good."""
        angles = np.zeros(0, np.float32) if state.values is None else state.values
        lost = 0 if missing == "skip" else state.missing
        n = angles.size + lost
        if not n:
            return math.nan
        before = lost if missing == "good" else 0
        places = np.array([(n - 1) // 2, n // 2]) - before
        worst = [_WORST if place >= angles.size else 0.0 for place in places]
        middle = [
            float(angles[place]) if 0 <= place < angles.size else end
            for place, end in zip(places, worst, strict=True)
        ]
        return (middle[0] + middle[1]) / 2

    @staticmethod
    def error_map(estimate: Map, truth: Map) -> Map:
        """The angle of each pixel."""
        estimate, truth, judged = judged_pixels(estimate, truth, None)
        return shown(_angles(estimate, truth), judged)


@metric(
    "balanced_angle",
    category="normals",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, _WORST),
    of=NORMALS,
    cite="after Chen et al. 2020, figure 6",
    formula="mean over smooth surfaces of the surface's mean angle(estimate, truth)",
    revision=1,
    needs=("smooth_labels",),
    missing_costs=_COSTS,
)
class BalancedAngle:
    """Mean angle in which every smooth surface counts the same, regardless of its size.

    In a mean over pixels, a blank wall outweighs everything that has a shape. Here the angles are
    averaged over each smooth surface (labels above 0 of `smooth_labels`) that has at least
    `least_px` pixels of truth in the region, then over surfaces: those of a picture, or of the
    whole dataset if states are pooled by pixel. Counts are numbers of surfaces; a surface without
    any estimate is missing.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> up, front = [0, -1, 0], [0, 0, -1]
    >>> labels = {"smooth_labels": np.array([[1, 1, 1, 2]])}
    >>> s = dg.score([[front, front, front, up]], [[front] * 4], ["mean_angle", "balanced_angle:1"],
    ...              quantity="normals", items=labels)
    >>> s["mean_angle@all"].value, s["balanced_angle:1@all"].value
    (22.5, 45.0)
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        smooth_labels: Labels,
        least_px: int = 16,
    ) -> State:
        """Sums of surface means if missing pixels are bad, are left out, and are good."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(smooth_labels, "smooth_labels", truth)
        judged = judged & (smooth_labels > 0)
        angles = _angles(estimate, truth)[judged].astype(np.float64)
        surface = surface_numbers(smooth_labels, judged)
        present = np.isfinite(angles)
        pixels = np.bincount(surface)
        estimated = np.bincount(surface, weights=present)
        total = np.bincount(surface, weights=np.where(present, angles, 0.0))
        used = pixels >= max(least_px, 1)
        seen = used & (estimated > 0)
        bad = (total + _WORST * (pixels - estimated))[seen] / pixels[seen]
        kinds = (bad, total[seen] / estimated[seen], total[seen] / pixels[seen])
        count = int(seen.sum())
        return State(count, int(used.sum()) - count, np.array([kind.sum() for kind in kinds]))

    @staticmethod
    def finish(state: State, *, missing: str, least_px: int = 16) -> float:
        """The mean over surfaces."""
        bad, skipped, lenient = (float(value) for value in state.sums)
        n = state.count + state.missing
        if missing == "skip":
            return skipped / state.count if state.count else math.nan
        total = lenient if missing == "good" else bad + _WORST * state.missing
        return total / n if n else math.nan

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, smooth_labels: Labels, least_px: int = 16) -> Map:
        """The angle of each pixel that is on a surface."""
        estimate, truth, judged = judged_pixels(estimate, truth, None)
        need_size(smooth_labels, "smooth_labels", truth)
        return shown(_angles(estimate, truth), judged & (smooth_labels > 0))
