"""Gaps in whole maps: they count by their size, not only by their area.

These metrics generalise the porosity of fine structures: the mean distance of a pixel to the
nearest good one, or its logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from depthgauge.metrics._gaps import SCALES, GapsOfErrors, finish_gaps, gap_state, gaps
from depthgauge.metrics._judged import whole_region
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

QUANTITIES = ("disparity", "depth", "flow")


@metric(
    "spatial_sparsity",
    category="sparse_estimates",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=QUANTITIES,
    cite="Honauer 2019, equation 5.1",
    formula="100 * mean over M ln(1 + distance to the nearest estimated pixel of M)",
    revision=2,
    missing_costs="is what it measures, under any `missing` rule.",
    choices=SCALES,
    uses_truth=False,
)
class SpatialSparsity:
    """How large the gaps of a sparse estimate are: 100 times their mean logarithm; needs no truth.

    For each pixel of the region M, it takes the distance in px to the nearest pixel of the region
    with an estimate, right or wrong; `linear` uses the distance itself instead of ln(1 + distance).
    An estimate outside the allowed range is none (`dg.score(..., range=(0, 64))`, or `[estimate]
    range` in a benchmark). It measures missing pixels, so the protocol's `missing` rule does not
    matter. Distances are limited to `cap_px`, which is also the value everywhere in an empty map.

    >>> import depthgauge as dg
    >>> nan = float("nan")
    >>> s = dg.score([[5, nan, nan, 5]], None, "spatial_sparsity:linear")
    >>> s["spatial_sparsity:linear@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        scale: str = "log",
        cap_px: int = 1000,
    ) -> State:
        """Sum of the gaps."""
        inside = whole_region(region, estimate)
        values = gaps(is_known(estimate) & inside, scale, cap_px)
        return gap_state(values, estimate, inside)

    @staticmethod
    def finish(state: State, *, missing: str, scale: str = "log", cap_px: int = 1000) -> float:
        """100 times the mean gap."""
        return finish_gaps(state, "bad")

    @staticmethod
    def error_map(
        estimate: Map, truth: Map | None, *, scale: str = "log", cap_px: int = 1000
    ) -> Map:
        """100 times the gap at each pixel."""
        return np.float32(100) * gaps(is_known(estimate), scale, cap_px)


@metric(
    "spatial_badpix",
    category="sparse_estimates",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=QUANTITIES,
    cite="Honauer 2019, section 5.1.1 (SBP), after equation 5.1",
    formula="100 * mean over M ln(1 + distance to the nearest pixel of M with |e| <= threshold)",
    revision=2,
    missing_costs="is not good; `skip`: is left out of the mean.",
    choices=SCALES,
)
class SpatialBadPix(GapsOfErrors):
    """How large the areas without a good estimate are: 100 times the mean logarithm of the gaps.

    Like `spatial_sparsity`, but only pixels of the region whose error is at most the threshold
    (those that are not bad in `badpix`) end a gap. Scattered bad pixels cost less than the same
    number in one place. A missing pixel is not good; `skip` leaves it out of the mean.

    >>> import depthgauge as dg
    >>> s = dg.score([[5, 9, 9, 5]], [[5, 5, 5, 5]], "spatial_badpix:1,linear")
    >>> s["spatial_badpix:1,linear@all"].value
    50.0
    """
