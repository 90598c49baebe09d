"""Computes precision, recall, and the numbers that summarise a curve from counts at thresholds.

Counts are (K, 4): true pixels matched, true pixels, estimated pixels matched, estimated pixels;
from the lowest threshold to the highest. Rules and rounding are those of the usual evaluators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._matching import threshold_values

Numbers = NDArray[np.float64]
Counts = NDArray[np.integer] | NDArray[np.floating]

_EPS = float(np.finfo(np.float64).eps)
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a precision-recall curve."""

    f: float
    precision: float
    recall: float
    threshold: float


def rates(counts: Counts) -> tuple[Numbers, Numbers, Numbers]:
    """Recall, precision and their harmonic mean F; 0 where there is nothing to divide by.

    >>> recall, precision, f = rates(np.array([[1, 2, 3, 4]]))
    >>> float(recall[0]), float(precision[0]), float(f[0])
    (0.5, 0.75, 0.6)
    """
    hit, true, right, estimated = np.asarray(counts, np.float64).T
    recall, precision = hit / np.maximum(_EPS, true), right / np.maximum(_EPS, estimated)
    return recall, precision, _f(recall, precision)


def _f(recall: Numbers, precision: Numbers) -> Numbers:
    return np.asarray(2 * precision * recall / np.maximum(_EPS, precision + recall))


def best_point(counts: Counts) -> Point:
    """The point with the largest F; rates are interpolated linearly between thresholds.

    >>> best_point(np.array([[10, 10, 5, 10], [5, 10, 5, 5]])).f > 2 / 3
    True
    """
    recall, precision, f = rates(counts)
    thresholds = threshold_values(recall.size)
    if recall.size > 1:
        share = np.linspace(0, 1, _STEPS)
        recall, precision, thresholds = (
            values[1:, None] * share + values[:-1, None] * (1 - share)
            for values in (recall, precision, thresholds)
        )
        f = _f(recall, precision)
    at = int(np.argmax(f))
    chosen = (float(values.reshape(-1)[at]) for values in (f, precision, recall, thresholds))
    return Point(*chosen)


def best_threshold(counts: Counts) -> int:
    """The index of the best threshold of one image: the one with the largest F.

    If there is nothing to find, it is the last one, so that an image without any boundary adds as
    few false alarms as possible.
    """
    if not counts[0, 1]:
        return int(counts.shape[0]) - 1
    return int(np.argmax(rates(counts)[2]))


def average_precision(counts: Counts) -> float:
    """Area under the curve: mean precision at recalls 0, 0.01 ... 1; 0 at recalls never reached.

    Divided by 100 although there are 101 recalls, as is usual; so it can be 1.01.
    """
    recall, precision = _by_recall(counts)
    if recall.size < 2:
        return 0.0
    wanted = np.arange(_STEPS + 1) / _STEPS
    inside = (wanted >= recall[0]) & (wanted <= recall[-1])
    return float(np.sum(np.interp(wanted[inside], recall, precision)) / _STEPS)


def recall_at_half(counts: Counts) -> float:
    """Recall where precision is one half, interpolated linearly; 0 if it is never reached.

    If precision is always higher, this is the recall at the lowest precision.
    """
    recall, precision = (values[::-1] for values in _by_recall(counts))
    found, first = np.unique(precision, return_index=True)
    wanted = max(float(found[0]), 0.5)
    if wanted > found[-1]:
        return 0.0
    return float(np.interp(wanted, found, recall[first]))


def _by_recall(counts: Counts) -> tuple[Numbers, Numbers]:
    """Ascending recalls, each once, with the precision at the lowest threshold that has it."""
    recall, precision, _ = rates(counts)
    found, first = np.unique(recall, return_index=True)
    return found, precision[first]
