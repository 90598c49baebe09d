"""Planes in a picture: how well the estimated ones cover the true ones."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.metrics._judged import whole_region
from depthgauge.metrics._metric import metric
from depthgauge.metrics._surface_numbers import surface_numbers
from depthgauge.metrics.average_precision import interpolated_precision
from depthgauge.types import Map, Mask, State, sorted_rows
from depthgauge.units import Unit

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
OVERLAPS = np.linspace(0.5, 0.95, 10)
"""The usual steps: 50:5:95 %."""
_JUST_BELOW_1 = 1.0 - 1e-10  # equal masks overlap by 1, even after rounding


class Instances(NamedTuple):
    """Estimated and true instances of one picture and one category."""

    scores: Values
    """(D,) confidences of the estimated instances."""
    areas: Values
    """(D,) their sizes in px."""
    truth_areas: Values
    """(G,) sizes of the true instances."""
    crowd: Flags
    """(G,) true instances that stand for several: they may be matched any number of times, cost
    nothing, and their overlap is the share of the estimated instance."""
    overlaps: Values
    """(D, G) intersection over union."""


class Matches(NamedTuple):
    """The estimated instances in descending order of confidence."""

    scores: Values
    """(D,)"""
    right: Flags
    """(T, D) whether each has a partner at each overlap."""
    counted: Flags
    """(T, D) whether each counts; one on ignored true instances does not."""
    truths: int
    """How many true instances count."""


def overlaps_of(shared: Values, areas: Values, truth_areas: Values, crowd: Flags) -> Values:
    """(D, G) intersection over union (for a crowd: over the estimated instance)."""
    union = areas[:, None] + np.where(crowd, 0.0, truth_areas - shared)
    return np.divide(shared, union, out=np.zeros_like(shared, np.float64), where=union > 0)


def match_instances(
    found: Instances,
    thresholds: Values = OVERLAPS,
    *,
    area_px: tuple[float, float] = (0.0, math.inf),
    most: int | None = None,
) -> Matches:
    """Matches greedily, the most confident first, at every threshold.

    An estimated instance takes the free true one that it overlaps most, by at least the threshold.
    A second one on the same truth is wrong. True instances outside `area_px` are ignored: an
    estimate that matches only them does not count, nor does one that matches nothing and is itself
    outside. Instances with equal confidence keep the given order.

    Args:
        found: The instances.
        thresholds: (T,) overlaps.
        area_px: Smallest and largest size that counts.
        most: The largest number of estimated instances to use; the most confident ones are kept.
    """
    order = np.argsort(-found.scores, kind="stable")[:most]
    least, largest = area_px
    ignored = found.crowd | (found.truth_areas < least) | (found.truth_areas > largest)
    limits = np.minimum(thresholds, _JUST_BELOW_1)
    right = np.zeros((limits.size, order.size), np.bool_)
    on_ignored = np.zeros_like(right)
    taken = np.zeros((limits.size, ignored.size), np.bool_)
    for k, d in enumerate(order):
        partner, right[:, k] = _partners(found.overlaps[d], limits, taken & ~found.crowd, ignored)
        at = np.flatnonzero(right[:, k])
        taken[at, partner[at]] = True
        on_ignored[at, k] = ignored[partner[at]]
    size = found.areas[order]
    outside = (size < least) | (size > largest)
    counted = ~on_ignored & (right | ~outside)
    return Matches(found.scores[order], right, counted, int(np.count_nonzero(~ignored)))


def _partners(
    overlaps: Values, limits: Values, busy: Flags, ignored: Flags
) -> tuple[NDArray[np.int64], Flags]:
    """The best partner of one instance at each threshold, and whether there is one.

    An ignored one is taken only if there is no other; among equals the last one, as in COCO.
    """
    if not overlaps.size:
        return np.zeros(limits.size, np.int64), np.zeros(limits.size, np.bool_)
    fits = ~busy & (overlaps >= limits[:, None])
    proper = fits & ~ignored
    allowed = np.where(proper.any(axis=1, keepdims=True), proper, fits)
    ranked = np.where(allowed, overlaps, -1.0)[:, ::-1]
    return overlaps.size - 1 - np.argmax(ranked, axis=1), np.asarray(fits.any(axis=1))


def _thresholds(overlap: float) -> Values:
    if overlap > 1:
        raise BadScoreId(f"plane_ap: overlap is {overlap:g} but must be from 0 to 1.")
    return np.array([overlap]) if overlap else OVERLAPS


def _instances(estimate: Map, truth: Map, inside: Mask, least_px: int) -> Instances:
    """The instances of a picture, restricted to the region.

    True planes that are too small form one crowd: estimates on them are ignored.
    """
    from depthgauge.metrics.kernels.planes import count_shared

    labels = np.where(inside, truth, 0).astype(np.int64)
    numbers = surface_numbers(labels, inside)
    pixels = np.bincount(numbers)
    real = np.zeros(pixels.size, np.bool_)
    real[numbers] = labels[inside] > 0
    large = real & (pixels >= least_px)
    # Column 0 is for pixels on no plane, the last one for the small planes.
    columns = np.where(large, np.cumsum(large), np.where(real, large.sum() + 1, 0))
    n = int(large.sum())
    places = np.full(truth.shape, -1, np.int64)
    places[inside] = columns[numbers]
    shared = np.zeros((estimate.shape[2], n + 2), np.int64)
    scores = np.zeros(estimate.shape[2])
    # For a read-only array, numba would compile the kernel a second time.
    count_shared(np.require(estimate, np.float32, ["C", "W"]), places, shared, scores)
    seen = shared.sum(axis=1) > 0
    small = float(pixels[real & ~large].sum())
    truth_areas = np.append(pixels[large], small).astype(np.float64)
    crowd = np.arange(n + 1) == n
    areas = shared[seen].sum(axis=1).astype(np.float64)
    overlaps = overlaps_of(shared[seen][:, 1:].astype(np.float64), areas, truth_areas, crowd)
    return Instances(scores[seen], areas, truth_areas, crowd, overlaps)


def _as_bits(flags: NDArray[np.bool_]) -> Values:
    """(T, D) as one number for each D: bit t is threshold t."""
    return np.asarray(2.0 ** np.arange(len(flags)) @ flags, np.float64)


def _check(estimate: Map, truth: Map) -> Map:
    if truth.ndim != 2 or estimate.ndim not in (2, 3) or estimate.shape[:2] != truth.shape:
        sizes = ["x".join(str(n) for n in shape) for shape in (estimate.shape, truth.shape)]
        raise WrongShape(
            f"the estimate is {sizes[0]} but the truth is {sizes[1]}; planes are a map of ids "
            "(height, width), their estimate (height, width, instances), of the same size."
        )
    return estimate if estimate.ndim == 3 else estimate[..., None]


@metric(
    "plane_ap",
    category="outlines",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("planes",),
    cite="Lin et al. 2014; Chen et al. 2020, section 6.4",
    formula="mean over overlaps and 101 recalls of the best precision at that recall or above",
    revision=1,
    pools=("pixel",),
    missing_costs=(
        "`bad`: in a picture without an estimate no plane is found; `skip`: the picture is left "
        "out. A pixel without one is on no estimated plane"
    ),
    level="dataset",
)
class PlaneAp:
    """Average precision of plane instances over a dataset.

    Truth is a map of plane ids (0: none). The estimate has a channel for each instance with its
    confidence at its pixels and 0 elsewhere; instances may overlap. The most confident instance is
    matched first, with the free true plane that it overlaps most (intersection over union, inside
    the region), by at least `overlap`; 0 stands for the mean over 0.5, 0.55 ... 0.95. A second
    estimate of one plane is wrong. True planes below `least_px` are ignored, together with the
    estimates on them with at least that overlap; estimates that are that small and match nothing
    are ignored too. Precision and recall are those of COCO, except that estimates with the same
    confidence are ranked together, so their order does not matter. Counts are numbers of true
    planes.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> truth = np.array([[1, 1, 1, 2, 2, 2]], np.float32)
    >>> both = np.stack([0.9 * (truth == 1), 0.8 * (truth == 2)], axis=-1).astype(np.float32)
    >>> m, params = METRICS["plane_ap"], {"least_px": 1}
    >>> m.finish(m.measure(both, truth, **params), **params)
    1.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        overlap: float = 0.0,
        least_px: int = 100,
    ) -> State:
        """Confidence of each estimated plane, and as bits where it is right and where it counts."""
        estimate = _check(estimate, truth)
        inside = np.isfinite(truth) & whole_region(region, truth)
        thresholds = _thresholds(overlap)
        found = _instances(estimate, truth, inside, max(least_px, 1))
        # A picture without an estimate is not a picture without planes.
        if inside.any() and np.isnan(estimate[inside]).all():
            return State(0, found.truth_areas.size - 1, rows=np.zeros((0, 3)))
        matches = match_instances(found, thresholds, area_px=(max(least_px, 1), math.inf))
        right, counted = _as_bits(matches.right), _as_bits(matches.counted)
        rows = np.column_stack([matches.scores, right, counted])
        return State(matches.truths, 0, rows=sorted_rows(rows))

    @staticmethod
    def finish(state: State, *, missing: str, overlap: float = 0.0, least_px: int = 100) -> float:
        """The mean over the overlaps."""
        rows = np.zeros((0, 3)) if state.rows is None else state.rows
        n = state.count if missing in ("skip", "good") else state.count + state.missing
        scores, right, counted = rows[:, 0], *(rows[:, k].astype(np.int64) for k in (1, 2))
        found = []
        for t in range(_thresholds(overlap).size):
            used = (counted >> t) & 1 == 1
            found.append(interpolated_precision(scores[used], (right[used] >> t) & 1 == 1, n))
        return float(np.mean(found))
