"""Fine structures: how well they are sampled, how fat they become, how much they break up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._gaps import SCALES, GapsOfErrors
from depthgauge.metrics._judged import (
    Judged,
    crossed,
    distance,
    finish_mean,
    finish_share,
    judged_pixels,
    need_size,
    share_map,
    share_state,
    shown,
)
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.discontinuities.structures import Structures

NUMBERS = ("disparity", "depth")


@metric(
    "porosity",
    category="geometry",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=(*NUMBERS, "flow"),
    cite="Honauer 2019, equation 4.11",
    formula="100 * mean over M_r ln(1 + distance to the nearest found pixel of a structure)",
    revision=1,
    missing_costs="is not found; `skip`: is left out of the mean.",
    needs=("structures",),
    choices=SCALES,
)
class Porosity(GapsOfErrors):
    """How badly fine structures are sampled: 100 times the mean logarithm of the gaps in them.

    For each pixel of a structure, it takes the distance in px to the nearest pixel of any structure
    whose error is at most the threshold; `linear` uses the distance itself instead of ln(1 +
    distance). Many small holes cost less than one large hole of the same area. The region says
    which pixels are averaged; distances may lead out of it. Distances are limited to `cap_px`,
    which is also the distance if nothing is found. A missing pixel is not found; `skip` leaves it
    out of the mean.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 9, 1, 1, 9, 1]], [[1, 9, 9, 9, 9, 1]], "porosity:1,linear")
    >>> s["porosity:1,linear@all"].value
    50.0
    """

    within = ("structures", "mask")


def found_pixels(estimate: Map, truth: Map, structures: Structures, threshold: float) -> Mask:
    """M_a (equation 4.10): the pixels of fine structures whose error is at most the threshold."""
    need_size(structures.mask, "the structures' mask", truth)
    near = distance(estimate, truth) <= np.float32(threshold)
    return np.asarray(structures.mask & near)


def fragments(
    estimate: Map, truth: Map, structures: Structures, threshold: float = 1.0, smallest: int = 1
) -> NDArray[np.int32]:
    """The fragments of each structure, numbered 1..n in reading order; 0 elsewhere.

    A fragment is a set of 8-connected pixels of one structure with an error of at most the
    threshold. Fragments of fewer than `smallest` pixels are left out.
    """
    from depthgauge.metrics.kernels.fragments import components

    found = found_pixels(estimate, truth, structures, threshold)
    numbers = np.zeros(found.shape, np.int32)
    components(structures.labels, found, numbers)
    if smallest <= 1:
        return numbers
    kept = np.bincount(numbers.ravel()) >= smallest
    kept[0] = False
    renumbered = np.where(kept, np.cumsum(kept), 0).astype(np.int32)
    return renumbered[numbers]


def _breaks(
    estimate: Map, truth: Map, structures: Structures, threshold: float, smallest: int
) -> NDArray[np.float64]:
    """1 - 1 / fragments of each structure, 1 if it has none; index 0 is not a structure."""
    labels = structures.labels
    numbers = fragments(estimate, truth, structures, threshold, smallest)
    inside = numbers > 0
    owners = np.zeros(int(numbers.max(initial=0)) + 1, np.int64)
    owners[numbers[inside]] = labels[inside]
    counts = np.bincount(owners[1:], minlength=int(labels.max(initial=0)) + 1)
    return np.where(counts > 0, 1.0 - 1.0 / np.maximum(counts, 1), 1.0)


@metric(
    "fragmentation",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=(*NUMBERS, "flow"),
    cite="Honauer 2019, equation 4.14",
    formula="100 * mean over structures (1 - 1 / fragments), 1 for a structure without any",
    revision=1,
    needs=("structures",),
)
class Fragmentation:
    """Into how many pieces fine structures break: 0 for one piece each, towards 100 for many.

    A fragment is a set of 8-connected pixels of one structure whose error is at most the threshold.
    Fragments of fewer than `smallest` pixels do not count, and a structure without any fragment
    counts as 100. The region chooses structures: those with a pixel in it are judged as a whole.
    Counts are numbers of structures; a structure without any estimate is missing, a single missing
    pixel is just not found.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 9, 9, 1, 9, 9, 1]], [[1, 9, 9, 9, 9, 9, 1]], "fragmentation")
    >>> s["fragmentation@all"].value, s["fragmentation@all"].count
    (50.0, 1)
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        structures: Structures,
        threshold: float = 1.0,
        smallest: int = 1,
    ) -> State:
        """Sum over structures."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        breaks = _breaks(estimate, truth, structures, threshold, smallest)
        here = np.bincount(structures.labels[judged], minlength=breaks.size) > 0
        seen = np.bincount(structures.labels[is_known(estimate)], minlength=breaks.size) > 0
        here[0] = False
        count = int(np.count_nonzero(here & seen))
        lost = int(np.count_nonzero(here)) - count
        return State(count, lost, np.array([np.sum(breaks[here & seen])]))

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0, smallest: int = 1) -> float:
        """100 times the mean over structures."""
        return finish_mean(state, missing, factor=100.0, worst=1.0)

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        structures: Structures,
        threshold: float = 1.0,
        smallest: int = 1,
    ) -> Map:
        """At each pixel of a structure, what the structure adds to the mean."""
        estimate, truth, judged = judged_pixels(estimate, truth, None)
        breaks = _breaks(estimate, truth, structures, threshold, smallest)
        return shown(100.0 * breaks[structures.labels], judged & structures.mask)


def _fattened(estimate: Map, truth: Map, region: Mask | None, structures: Structures) -> Judged:
    """Which pixels around structures are nearer to the structures' values than to their truth."""
    around, front = structures.surrounding, structures.foreground_map
    return crossed(estimate, truth, region, around, front)


@metric(
    "detail_fattening",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=(*NUMBERS, "flow"),
    cite="Honauer 2019, equation 4.13",
    formula="100 * mean over M_s [|estimate - f| < |estimate - truth|]",
    revision=1,
    needs=("structures",),
)
class DetailFattening:
    """Percentage of the surroundings of fine structures that is estimated as part of them.

    M_s is the background near fine structures, f is the structures' values extrapolated into it. A
    pixel is fattened if its estimate is nearer to f than to its truth. For flow, distances are
    between vectors.

    >>> import depthgauge as dg
    >>> s = dg.score([[2, 9, 8]], [[1, 9, 1]], "detail_fattening")
    >>> s["detail_fattening@all"].value
    50.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, structures: Structures) -> State:
        """Number of fattened pixels."""
        return share_state(*_fattened(estimate, truth, region, structures))

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Percentage of pixels that are fattened."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, structures: Structures) -> Map:
        """100 where a pixel of M_s is fattened, 0 where it is not."""
        return share_map(*_fattened(estimate, truth, None, structures))
