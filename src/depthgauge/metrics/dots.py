"""Small objects on a background: how many of them an estimate does not find."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._judged import distance, judged_pixels, need_size, shown
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

Labels = NDArray[np.integer[Any]]
RULES = {"rule": ("at_least", "more_than")}


def _dots(boxes: Labels, sizes_of_dots: Labels, sizes: int) -> NDArray[np.int64]:
    """The number of the dot that each pixel belongs to, one for each box and size; 0 for none."""
    inside = (boxes > 0) & (sizes_of_dots > 0) & (sizes_of_dots <= sizes)
    size = _numbered(sizes_of_dots[inside])
    box = _numbered(boxes[inside])
    numbers = np.zeros(inside.shape, np.int64)
    numbers[inside] = 1 + _numbered(box * (1 + size.max(initial=0)) + size)
    return numbers


def _numbered(labels: Labels) -> NDArray[np.int64]:
    """Consecutive numbers for the labels that occur, which may be large and far apart."""
    return np.searchsorted(np.unique(labels), labels)


def _found(
    good: NDArray[np.int64], pixels: NDArray[np.int64], share: float, rule: str
) -> NDArray[np.bool_]:
    """Whether enough of each dot's pixels are good; a dot without pixels is not found."""
    have, need = 100.0 * good, share * pixels
    enough = have > need if rule == "more_than" else have >= need
    return enough & (pixels > 0)


def _counts(numbers: NDArray[np.int64], mask: Mask, n: int) -> NDArray[np.int64]:
    """How many pixels of a mask each dot has."""
    return np.bincount(numbers[mask], minlength=n)


@metric(
    "missed_dots",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("disparity", "depth"),
    cite="Honauer 2019, figure 6.14; Honauer et al. 2016 (toolkit)",
    formula="100 * mean over dots [less than share % of the dot has an error of at most threshold]",
    revision=1,
    needs=("boxes_labels", "dots_by_size_labels"),
    choices=RULES,
)
class MissedDots:
    """Percentage of dots that are not found, over all boxes and sizes.

    A dot is the set of pixels of one box (label above 0) and one size (labels from 1, the smallest,
    to `sizes`). It is found if at least `share` % of its pixels have an error of at most the
    threshold. Two definitions are in use: figure 6.14 of the thesis uses 80 % and seven sizes,
    which is the default; the benchmark's program uses a BadPix below 50 and eight sizes, which is
    `missed_dots:50,0.4,8,more_than`. A missing pixel is not found; under `skip`, a dot is judged by
    its estimated pixels. Counts are numbers of dots: a dot without any estimate is missing, and one
    without a pixel of truth in the region does not count.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> boxes, dots = np.array([[1, 1, 1, 1]]), np.array([[1, 1, 2, 2]])
    >>> s = dg.score([[5, 5, 5, 7]], [[5, 5, 5, 5]], "missed_dots",
    ...              items={"boxes_labels": boxes, "dots_by_size_labels": dots})
    >>> s["missed_dots@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        boxes_labels: Labels,
        dots_by_size_labels: Labels,
        share: float = 80.0,
        threshold: float = 0.4,
        sizes: int = 7,
        rule: str = "at_least",
    ) -> State:
        """Missed dots if missing pixels are bad, are left out, and are good."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        need_size(boxes_labels, "boxes_labels", truth)
        need_size(dots_by_size_labels, "dots_by_size_labels", truth)
        numbers = _dots(boxes_labels, dots_by_size_labels, sizes)
        n = int(numbers.max(initial=0)) + 1
        known = is_known(estimate)
        good = _counts(numbers, judged & (distance(estimate, truth) <= np.float32(threshold)), n)
        present, pixels = _counts(numbers, judged & known, n), _counts(numbers, judged, n)
        dots = pixels > 0
        dots[0] = False
        seen = dots & (present > 0)
        missed = (
            seen & ~_found(good, pixels, share, rule),
            seen & ~_found(good, present, share, rule),
            dots & ~_found(good + pixels - present, pixels, share, rule),
        )
        sums = np.array([np.count_nonzero(kind) for kind in missed], np.float64)
        count = int(np.count_nonzero(seen))
        return State(count, int(np.count_nonzero(dots)) - count, sums)

    @staticmethod
    def finish(
        state: State,
        *,
        missing: str,
        share: float = 80.0,
        threshold: float = 0.4,
        sizes: int = 7,
        rule: str = "at_least",
    ) -> float:
        """Percentage of dots that are missed."""
        bad, skipped, lenient = (float(value) for value in state.sums)
        n = state.count + state.missing
        if missing == "skip":
            return 100.0 * skipped / state.count if state.count else math.nan
        missed = lenient if missing == "good" else bad + state.missing
        return 100.0 * missed / n if n else math.nan

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        boxes_labels: Labels,
        dots_by_size_labels: Labels,
        share: float = 80.0,
        threshold: float = 0.4,
        sizes: int = 7,
        rule: str = "at_least",
    ) -> Map:
        """100 on dots that are missed, 0 on those that are found."""
        estimate, truth, judged = judged_pixels(estimate, truth, None)
        numbers = _dots(boxes_labels, dots_by_size_labels, sizes)
        n = int(numbers.max(initial=0)) + 1
        good = judged & (distance(estimate, truth) <= np.float32(threshold))
        found = _found(_counts(numbers, good, n), _counts(numbers, judged, n), share, rule)
        return shown(100.0 * ~found[numbers], judged & (numbers > 0))
