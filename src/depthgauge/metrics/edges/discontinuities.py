"""Foreground that is too fat or too thin beside depth discontinuities.

These metrics ask which side an estimate belongs to, using the foreground and the background that
are extrapolated across the edge. `one_sided.py` has the simple variants with a threshold.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from depthgauge.metrics._judged import Judged, crossed, shown
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.discontinuities.edges import Edges

NUMBERS = ("disparity", "depth")
WEIGHTS = {"weight": ("none", "distance")}


def _weighted_state(fails: Mask, estimate: Map, judged: Mask, weights: Map) -> State:
    """Sums of weights: pixels that fail, pixels with an estimate, pixels without."""
    present = judged & is_known(estimate)
    sums = [
        np.sum(weights[mask], dtype=np.float64)
        for mask in (fails & present, present, judged & ~present)
    ]
    count = int(np.count_nonzero(present))
    return State(count, int(np.count_nonzero(judged)) - count, np.array(sums))


def _finish_weighted(state: State, missing: str) -> float:
    failed, present, lost = (float(value) for value in state.sums)
    if missing in ("bad", "interpolate"):
        failed, present = failed + lost, present + lost
    elif missing == "good":
        present += lost
    return 100.0 * failed / present if present else math.nan


def _weights(edges: Edges, weight: str) -> Map:
    """The weight of each pixel: 1, or its distance to the boundary."""
    if weight == "distance":
        return edges.boundary_px
    return np.ones_like(edges.distance_px)


def _weighted_map(fails: Mask, estimate: Map, judged: Mask, weights: Map) -> Map:
    """A map whose mean is the score: 0, or 100 times the pixel's share of the mean weight."""
    judged = judged & is_known(estimate)
    mean = np.mean(weights[judged], dtype=np.float64) if judged.any() else 1.0
    return shown(np.where(fails, 100.0 * weights / mean, 0.0), judged)


class _EdgeSide:
    """The steps that both share; each says which side it judges, and what the other side is."""

    side: ClassVar[str]
    """A mask of the edges."""
    other: ClassVar[str]
    """A map of the edges: the other side, continued into this one."""

    @classmethod
    def measure(
        cls, estimate: Map, truth: Map, region: Mask | None, *, edges: Edges, weight: str = "none"
    ) -> State:
        """Sums of weights: pixels on the wrong side, estimated pixels, missing pixels."""
        return _weighted_state(*cls._judge(estimate, truth, region, edges), _weights(edges, weight))

    @staticmethod
    def finish(state: State, *, missing: str, weight: str = "none") -> float:
        """Percentage of the weight that is on the wrong side."""
        return _finish_weighted(state, missing)

    @classmethod
    def error_map(cls, estimate: Map, truth: Map, *, edges: Edges, weight: str = "none") -> Map:
        """What each pixel of the side adds to the mean; 0 if it is on the right side."""
        return _weighted_map(*cls._judge(estimate, truth, None, edges), _weights(edges, weight))

    @classmethod
    def _judge(cls, estimate: Map, truth: Map, region: Mask | None, edges: Edges) -> Judged:
        side, other = getattr(edges, cls.side), getattr(edges, cls.other)
        return crossed(estimate, truth, region, side, other)


@metric(
    "foreground_fattening",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=(*NUMBERS, "flow"),
    cite="Honauer 2019, equation 4.7",
    formula="100 * mean over M_b [|estimate - f| < |estimate - truth|]",
    revision=1,
    needs=("edges",),
    choices=WEIGHTS,
)
class ForegroundFattening(_EdgeSide):
    """Percentage of the background beside edges that is estimated as foreground.

    M_b is the background within reach of a discontinuity, f is the foreground extrapolated into it.
    A pixel is fattened if its estimate is nearer to f than to its truth, no matter how far apart
    the two are. With the weight `distance`, a pixel counts by its distance to the true boundary:
    100 * (sum of distances of fattened pixels) / (sum of all distances), so that blocks that reach
    far into the background cost more than an even seam. For flow, distances are between vectors.

    >>> import depthgauge as dg
    >>> fat = ["foreground_fattening", "foreground_fattening:distance"]
    >>> s = dg.score([[9, 9, 6, 2]], [[9, 9, 1, 1]], fat)
    >>> s["foreground_fattening@all"].value, s["foreground_fattening:distance@all"].value
    (50.0, 25.0)
    """

    side, other = "background", "foreground_map"


@metric(
    "foreground_thinning",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=(*NUMBERS, "flow"),
    cite="Honauer 2019, equation 4.9",
    formula="100 * mean over M_f [|estimate - b| < |estimate - truth|]",
    revision=1,
    needs=("edges",),
    choices=WEIGHTS,
)
class ForegroundThinning(_EdgeSide):
    """Percentage of the foreground beside edges that is estimated as background.

    The counterpart of `foreground_fattening`: M_f is the foreground within reach of a
    discontinuity, b is the background extrapolated into it.

    >>> import depthgauge as dg
    >>> s = dg.score([[8, 4, 1, 1]], [[9, 9, 1, 1]], "foreground_thinning")
    >>> s["foreground_thinning@all"].value
    50.0
    """

    side, other = "foreground", "background_map"
