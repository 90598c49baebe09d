"""At which threshold two methods change places (figure 7.9 of Honauer 2019)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from depthgauge.analysis.bootstrap.resampling import Floats
from depthgauge.analysis.stability import rank_stability
from depthgauge.engine.store.record import Run


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two methods whose curves of correct pixels cross."""

    stricter: str
    """The method that leads below the crossing."""
    looser: str
    """The method that leads above it."""
    at: float
    """The threshold of the crossing, in the quantity's unit; curves are linear between known
    thresholds."""
    percent: float
    """The percentage of correct pixels of both there."""
    below: float
    """The last known threshold at which `stricter` is ahead."""
    above: float
    """The first known threshold at which `looser` is ahead."""


def crossings_over_thresholds(run: Run) -> tuple[Crossing, ...]:
    """Every threshold at which two methods swap ranks.

    `rank_stability` has the ranks at every threshold; this says where and between which methods
    they change. Curves that touch and separate in the same order do not cross. If they are equal
    over a stretch, the crossing is where they meet. Incomplete methods have no curve to cross.

    Args:
        run: A run with curves.

    Returns:
        Crossings sorted by threshold, then by labels.
    """
    found = rank_stability(run)
    complete = [i for i in range(len(found.labels)) if not np.isnan(found.bad[i]).any()]
    crossings = [
        crossing
        for i, j in itertools.combinations(complete, 2)
        for crossing in _crossings(
            (found.labels[i], found.labels[j]),
            found.thresholds,
            100.0 - found.bad[i],
            100.0 - found.bad[j],
        )
    ]
    return tuple(sorted(crossings, key=lambda c: (c.at, c.stricter, c.looser)))


def _crossings(
    labels: tuple[str, str], thresholds: Floats, first: Floats, second: Floats
) -> Iterator[Crossing]:
    lead = np.sign(first - second)
    apart = np.flatnonzero(lead).tolist()
    for i, j in itertools.pairwise(apart):
        if lead[i] == lead[j]:
            continue
        before, after = labels if lead[i] > 0 else labels[::-1]
        at, percent = _meeting(thresholds, first, second, i)
        yield Crossing(before, after, at, percent, float(thresholds[i]), float(thresholds[j]))


def _meeting(thresholds: Floats, first: Floats, second: Floats, i: int) -> tuple[float, float]:
    """Where the line segments after threshold i meet."""
    start, end = first[i] - second[i], first[i + 1] - second[i + 1]
    share = float(start / (start - end))
    at = math.fsum([(1 - share) * thresholds[i], share * thresholds[i + 1]])
    percent = math.fsum([(1 - share) * first[i], share * first[i + 1]])
    return at, percent
