"""Whether a method does better in front or behind: the biases of Kostková, Čech & Šára 2003."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from depthgauge.metrics._judged import judged_pixels, need_size
from depthgauge.metrics._metric import metric
from depthgauge.metrics.correspondences.half_occlusions import is_bad
from depthgauge.metrics.correspondences.matching_table import CITE
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.discontinuities.edges import Edges
    from depthgauge.geometry.warping import Visibility


def two_sides(estimate: Map, truth: Map, sides: tuple[Mask, Mask], threshold: float) -> State:
    """Bad, estimated and missing pixels of the side in front, then of the side behind."""
    present, bad = is_known(estimate), is_bad(estimate, truth, threshold)
    sums = [
        float(np.count_nonzero(side & mask))
        for side in sides
        for mask in (present & bad, present, ~present)
    ]
    return State(int(sums[1] + sums[4]), int(sums[2] + sums[5]), np.array(sums))


def difference(state: State, missing: str) -> float:
    """Percentage of bad pixels in front minus that behind; NaN if a side has none to judge."""
    found = []
    for bad, present, lost in state.sums.reshape(2, 3).tolist():
        if missing in ("bad", "interpolate"):
            bad, present = bad + lost, present + lost
        elif missing == "good":
            present += lost
        found.append(100.0 * bad / present if present else math.nan)
    return found[0] - found[1]


def in_front(truth: Map) -> Mask:
    """The nearer of the two classes that Otsu's threshold makes of the true disparities."""
    known = truth[np.isfinite(truth)]
    if not known.size or known.min() == known.max():
        return np.zeros(truth.shape, bool)
    from skimage.filters import threshold_otsu

    return np.asarray(truth > threshold_otsu(known))


@metric(
    "matching_bias",
    category="correspondences",
    unit=Unit.PERCENT,
    better="zero",
    bounds=(-100, 100),
    of=("disparity",),
    needs=("visibility",),
    cite=CITE,
    formula="badpix of the visible foreground - badpix of the visible background",
    revision=1,
    missing_costs="`bad`: is bad on its side; `skip`: is left out.",
)
class MatchingBias:
    """Bias B: how many more pixels of the foreground are bad than of the background, in percent.

    Positive if a method does worse in front. The authors' scene has stripes in front of a wall; in
    other scenes, foreground and background are the two classes of true disparities that Otsu's
    threshold separates. Pixels that both views see are judged. A scene without two classes has no
    value.

    >>> import numpy as np, depthgauge as dg
    >>> truth, items = [[9, 9, 9, 9, 2, 2, 2, 2]], {"visible_mask": np.array([[1] * 8])}
    >>> s = dg.score([[9, 9, 2, 2, 2, 2, 2, 9]], truth, "matching_bias", items=items)
    >>> s["matching_bias@all"].value
    25.0
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
        """Bad pixels on both sides."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(visibility.visible, "the visibility", truth)
        judged, front = judged & visibility.visible, in_front(truth)
        if not (front & is_known(truth)).any():
            return State(0, 0, np.zeros(6))
        return two_sides(estimate, truth, (judged & front, judged & ~front), threshold)

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0) -> float:
        """The difference of both percentages."""
        return difference(state, missing)


@metric(
    "obb",
    category="correspondences",
    unit=Unit.PERCENT,
    better="zero",
    bounds=(-100, 100),
    of=("disparity",),
    needs=("edges",),
    cite=CITE,
    formula="badpix of the foreground beside edges - badpix of the background beside edges",
    revision=1,
    missing_costs="`bad`: is bad on its side; `skip`: is left out.",
)
class OcclusionBoundaryBias:
    """Occlusion boundary bias: the bias B beside discontinuities.

    Negative if the foreground grows into the background, as with large matching windows, and
    positive if it shrinks. The sides are those of the shared map `edges`, so any scene has them;
    `foreground_fattening` and `foreground_thinning` tell both apart.

    >>> import depthgauge as dg
    >>> s = dg.score([[9, 9, 9, 2]], [[9, 9, 2, 2]], "obb")
    >>> s["obb@all"].value
    -50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        edges: Edges,
        threshold: float = 1.0,
    ) -> State:
        """Bad pixels on both sides."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(edges.foreground, "the edges", truth)
        # A pixel between two edges may be in front of one and behind the other.
        sides = (judged & edges.foreground, judged & edges.background)
        state = two_sides(estimate, truth, sides, threshold)
        either = sides[0] | sides[1]
        count = int(np.count_nonzero(either & is_known(estimate)))
        return State(count, int(np.count_nonzero(either)) - count, state.sums)

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0) -> float:
        """The difference of both percentages."""
        return difference(state, missing)
