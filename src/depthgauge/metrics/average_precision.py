"""Areas under precision-recall curves of things ranked by a score."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Ties = Literal["together", "given"]
RECALLS = np.linspace(0.0, 1.0, 101)
"""The recalls at which COCO reads the precision."""


def precision_recall(
    scores: Values, right: NDArray[np.bool_], positives: int, *, ties: Ties = "together"
) -> tuple[Values, Values]:
    """Precision and recall at every distinct score, from the highest down.

    Args:
        scores: (n,), higher comes first.
        right: (n,), which of them are right.
        positives: How many there are to find, including those that are not ranked.
        ties: Things with the same score come `together`, because no order among them is better
            than another, or one by one in the `given` order, as in COCO's program.
    """
    order = np.argsort(-scores, kind="stable")
    ranked, found = scores[order], np.cumsum(right[order])
    ends = np.append(ranked[1:] != ranked[:-1], True)[: ranked.size]
    last = np.flatnonzero(ends) if ties == "together" else np.arange(ranked.size)
    return found[last] / (last + 1.0), found[last] / float(positives)


def average_precision(scores: Values, right: NDArray[np.bool_], positives: int) -> float:
    """Sum of (R_n - R_n-1) P_n over the distinct scores; NaN if there is nothing to find.

    >>> right = np.array([True, False, True])
    >>> round(average_precision(np.array([0.9, 0.8, 0.7]), right, 2), 6)
    0.833333
    """
    if positives == 0:
        return math.nan
    precision, recall = precision_recall(scores, right, positives)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def interpolated_precision(
    scores: Values, right: NDArray[np.bool_], positives: int, *, ties: Ties = "together"
) -> float:
    """Mean over 101 recalls of the best precision at that recall or above, as in COCO.

    NaN if there is nothing to find. Arguments are those of `precision_recall`.

    >>> round(interpolated_precision(np.array([0.9, 0.8]), np.array([False, True]), 1), 6)
    0.5
    """
    if positives == 0:
        return math.nan
    precision, recall = precision_recall(scores, right, positives, ties=ties)
    best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(np.mean(best[np.searchsorted(recall, RECALLS, side="left")]))
