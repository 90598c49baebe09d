"""Which estimated instances are right: each is matched with one true instance, as COCO does it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
OVERLAPS = np.linspace(0.5, 0.95, 10)
"""The usual steps: 50:5:95 %."""
_JUST_BELOW_1 = 1.0 - 1e-10  # equal masks overlap by 1, also after rounding


class Instances(NamedTuple):
    """Estimated and true instances of one picture and one category."""

    scores: Values
    """(D,) confidence of the estimated ones."""
    areas: Values
    """(D,) their sizes in px."""
    truth_areas: Values
    """(G,) sizes of the true ones."""
    crowd: Flags
    """(G,) true ones that stand for several: they may be matched again and again, cost nothing, and
    their overlap is the share of the estimated instance."""
    overlaps: Values
    """(D, G) intersection over union."""


class Matches(NamedTuple):
    """The estimated instances in descending order of confidence."""

    scores: Values
    """(D,)"""
    right: Flags
    """(T, D) whether it has a partner at each overlap."""
    counted: Flags
    """(T, D) whether it counts; one that lies on what is ignored does not."""
    truths: int
    """How many true instances count."""


def overlaps_of(shared: Values, areas: Values, truth_areas: Values, crowd: Flags) -> Values:
    """(D, G) intersection over union, of a crowd over the estimated instance, from pixel counts."""
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
    A second one on the same truth is wrong. True instances outside `area_px` are ignored: what
    matches only them does not count, nor does what matches nothing and is itself outside. Equally
    confident instances come in the order in which they are given.

    Args:
        found: The instances.
        thresholds: (T,) overlaps.
        area_px: Smallest and largest size that counts.
        most: Only so many estimated instances, the most confident ones, are looked at.
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

    One that is ignored is taken only where no other will do. The last of equal ones, as COCO.
    """
    if not overlaps.size:
        return np.zeros(limits.size, np.int64), np.zeros(limits.size, np.bool_)
    fits = ~busy & (overlaps >= limits[:, None])
    proper = fits & ~ignored
    allowed = np.where(proper.any(axis=1, keepdims=True), proper, fits)
    ranked = np.where(allowed, overlaps, -1.0)[:, ::-1]
    return overlaps.size - 1 - np.argmax(ranked, axis=1), np.asarray(fits.any(axis=1))
