"""Boundaries: precision and recall over thresholds, matched pixel by pixel.

All these metrics are for a whole dataset: counts of all images are added at each threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadEstimate, BadScoreId, WrongShape
from depthgauge.metrics._matching import COUNTS, count_curve, least_codes, match_pixels
from depthgauge.metrics._metric import metric
from depthgauge.metrics.edges._boundary_curves import (
    average_precision,
    best_point,
    best_threshold,
    rates,
    recall_at_half,
)
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

CHOICES = {"classes": ("annotators", "occlusion_fold"), "nms": ("none", "dollar")}
MISSING_COSTS = (
    "`bad`: in an image without an estimate all true boundaries are missed; `skip`: the image is "
    "left out. A pixel without one is not a boundary, so true ones around it are missed"
)
NOTHING, HIT, FALSE_ALARM, MISSED = range(4)
"""What the pictures of these metrics show at each pixel."""

_ROUNDING = 1e-4
"""How far beyond 0 and 1 a probability may be, after arithmetic in float32."""

_TRUE = 1
"""The place of the number of true pixels among the four counts."""

Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Matching:
    """How boundaries are matched: the parameters of all metrics here."""

    thresholds: int = 99
    """K; they are k / (K + 1)."""
    radius: float = 0.0075
    """How far two pixels may be apart, as a share of the diagonal."""
    classes: str = "annotators"
    """`annotators`, or `occlusion_fold`: each class is matched with its own truth."""
    nms: str = "none"
    """`dollar`: the estimate is smoothed and its crests are kept first."""


def _codes(estimate: Map, region: Mask, nms: str) -> Codes:
    """Probabilities as 8-bit codes, 0 outside the region and where there is no estimate."""
    from depthgauge.geometry.boundary_maps.edge_maps import thin_edges

    known = np.isfinite(estimate)
    values = np.where(known, estimate, np.float32(0))
    if values.size and (values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING):
        raise BadEstimate(
            "boundaries are probabilities from 0 to 1, but this estimate has values from "
            f"{values.min():g} to {values.max():g}; divide 8-bit codes by 255."
        )
    if nms == "dollar":
        values = thin_edges(values)
    codes = np.floor(np.clip(values, 0, 1) * np.float32(255) + np.float32(0.5))
    return np.where(region, codes, 0).astype(np.uint8)


def _pairs(
    estimate: Map, truth: Map, region: Mask | None, how: Matching
) -> Iterator[tuple[Codes, list[Mask]]]:
    """What is matched with what: codes, and the truths of one or more annotators."""
    judged = is_known(truth) if region is None else is_known(truth) & region
    channels = _channels(truth)
    found = _channels(estimate)
    if found[0].shape != judged.shape:
        raise WrongShape(
            f"an estimate of boundaries is {found[0].shape} but its truth is {judged.shape}; "
            "both must have the same size."
        )
    marked = [(channel > 0) & judged for channel in channels]
    codes = _codes(found[0], judged, how.nms)
    if how.classes == "annotators":
        yield codes, marked
        return
    if len(found) != 2 or len(marked) != 2:
        raise BadEstimate(
            "boundaries with classes have two channels, the probability of a boundary and that of "
            f"an occlusion; the estimate has {len(found)}, the truth {len(marked)}."
        )
    occlusion = found[1] >= np.float32(0.5)
    yield np.where(occlusion, codes, np.uint8(0)), marked[:1]
    yield np.where(occlusion, np.uint8(0), codes), marked[1:]


def _channels(values: Map) -> list[Map]:
    return [values] if values.ndim == 2 else [values[..., c] for c in range(values.shape[2])]


def boundary_counts(
    estimate: Map, truth: Map, region: Mask | None = None, **parameters: Any
) -> NDArray[np.int64]:
    """The counts of one image at all thresholds.

    Args:
        estimate: (H, W) or (H, W, C): channel 0 is the probability of a boundary; with the classes
            `occlusion_fold`, channel 1 is the probability that a boundary is an occlusion.
        truth: (H, W, A), 0 or 1: one channel per annotator, or occlusion and fold.
        region: Boundaries outside are neither expected nor wrong.
        parameters: The fields of `Matching`.

    Returns:
        (K, 4): true pixels matched, true pixels, estimated pixels matched, estimated pixels.
    """
    how = Matching(**parameters)
    counts = np.zeros((how.thresholds, COUNTS), np.int64)
    for codes, truths in _pairs(estimate, truth, region, how):
        counts += count_curve(codes, truths, thresholds=how.thresholds, radius=how.radius)
    return counts


def boundary_map(
    estimate: Map, truth: Map, *, threshold: int | None = None, **parameters: Any
) -> NDArray[np.uint8]:
    """The outcome at each pixel: 0 nothing, 1 a hit, 2 a false alarm, 3 missed.

    A hit is an estimated pixel with a mate; a true pixel is missed if it has no mate in any
    annotator's matching.

    Args:
        estimate: As for `boundary_counts`.
        truth: As for `boundary_counts`.
        threshold: Which of the K thresholds, from 0; None: where F of this image is largest.
        parameters: The fields of `Matching`.
    """
    from depthgauge.geometry.boundary_maps.thinning import thin

    how = Matching(**parameters)
    if threshold is None:
        threshold = best_threshold(boundary_counts(estimate, truth, None, **parameters))
    if not 0 <= threshold < how.thresholds:
        raise BadScoreId(f"threshold is {threshold}, but there are {how.thresholds}, from 0.")
    level = least_codes(how.thresholds)[threshold]
    found = {code: np.zeros(truth.shape[:2], bool) for code in (MISSED, FALSE_ALARM, HIT)}
    for codes, truths in _pairs(estimate, truth, None, how):
        lines = thin(codes >= level)
        matched = [match_pixels(lines, marked, radius=how.radius) for marked in truths]
        hit = np.any([mates for mates, _ in matched], axis=0)
        found[HIT] |= hit
        found[FALSE_ALARM] |= lines & ~hit
        found[MISSED] |= np.any(truths, axis=0) & ~np.any([mates for _, mates in matched], axis=0)
    shown = np.full(truth.shape[:2], NOTHING, np.uint8)
    # Estimated pixels are drawn over true ones.
    for code, where in found.items():
        shown[where] = code
    return shown


class _Boundaries:
    """What all these metrics share: the counts of an image, and those at its best threshold."""

    parameters = Matching

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, **parameters: Any) -> State:
        """Four counts at each threshold, then those at the image's own best threshold.

        The rows hold the numbers of true pixels of images without any estimate; the counts include
        them too.
        """
        counts = boundary_counts(estimate, truth, region, **parameters)
        own = counts[best_threshold(counts)]
        judged = is_known(truth) if region is None else is_known(truth) & region
        present = judged & np.isfinite(_channels(estimate)[0])
        count = int(np.count_nonzero(present))
        sums = np.concatenate([counts.reshape(-1), own]).astype(np.float64)
        # An image without an estimate differs from one in which nothing was found.
        lost = [[own[_TRUE]]] if judged.any() and not count else np.zeros((0, 1))
        return State(
            count, int(np.count_nonzero(judged)) - count, sums, rows=np.array(lost, np.float64)
        )

    @staticmethod
    def error_map(estimate: Map, truth: Map, **parameters: Any) -> Map:
        """0 nothing, 1 a hit, 2 a false alarm, 3 missed; at the image's own best threshold."""
        shown = boundary_map(estimate, truth, **parameters)
        return np.where(is_known(truth), shown, np.float32(np.nan)).astype(np.float32)


def used_counts(state: State, missing: str) -> NDArray[np.float64] | None:
    """The counts to use: (K + 1, 4), at each threshold and at each image's best one.

    Args:
        state: What these metrics measured, of one image or of many.
        missing: What an image without any estimate costs; if it is left out, its true pixels, which
            are all that it adds to the counts, are subtracted again.

    Returns:
        None if there is no image.
    """
    left_out = missing in ("skip", "good")
    if not (state.count if left_out else state.count + state.missing):
        return None
    counts = state.sums.reshape(-1, COUNTS).copy()
    if left_out and state.rows is not None:
        counts[:, _TRUE] -= state.rows.sum()
    return counts


def _of_curve(state: State, missing: str, sum_up: Callable[[NDArray[np.float64]], float]) -> float:
    """The number that summarises the curve in a state; NaN if there is no image."""
    counts = used_counts(state, missing)
    return math.nan if counts is None else sum_up(counts[:-1])


@metric(
    "ods",
    category="outlines",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("boundaries",),
    cite="Arbelaez, Maire, Fowlkes & Malik 2011",
    formula="max over thresholds 2 P R / (P + R), P and R of all images together",
    revision=1,
    pools=("pixel",),
    choices=CHOICES,
    missing_costs=MISSING_COSTS,
    level="dataset",
)
class Ods(_Boundaries):
    """F-measure at the threshold that is best for the whole dataset.

    At each of K thresholds k / (K + 1), the pixels that reach it are thinned to lines and matched
    one-to-one with the true ones, at most `radius` (a share of the diagonal) away. The matching is
    the largest possible one, not an approximation. Recall is the share of true pixels that are
    matched, added over annotators; precision is the share of estimated pixels that are matched for
    any of them. The counts of all images are added; between thresholds, both are interpolated in
    100 steps.

    With `classes = occlusion_fold`, a boundary is right only if its kind is right: the two kinds
    are matched separately, and their counts are added. `nms = dollar` first smooths the estimate
    and keeps its crests. Values are rounded to 1/255, so PNG files and floats give the same score.
    """

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The largest F of the pooled counts."""
        return _of_curve(state, missing, lambda counts: best_point(counts).f)


@metric(
    "ois",
    category="outlines",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("boundaries",),
    cite="Arbelaez, Maire, Fowlkes & Malik 2011",
    formula="2 P R / (P + R), P and R of all images together, each at its own best threshold",
    revision=1,
    pools=("pixel",),
    choices=CHOICES,
    missing_costs=MISSING_COSTS,
    level="dataset",
)
class Ois(_Boundaries):
    """F-measure with the best threshold for each image.

    Counts are made as for `ods`. Each image adds the counts at the threshold with its largest F
    (the lowest if there are several); F is then computed from the sums. An image without any true
    boundary adds those at the last threshold.
    """

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """F of the sums."""
        counts = used_counts(state, missing)
        return math.nan if counts is None else float(rates(counts[-1:])[2][0])


@metric(
    "boundary_ap",
    category="outlines",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1.01),
    of=("boundaries",),
    cite="Arbelaez, Maire, Fowlkes & Malik 2011",
    formula="sum of P at R = 0, 0.01 ... 1, divided by 100",
    revision=1,
    pools=("pixel",),
    choices=CHOICES,
    missing_costs=MISSING_COSTS,
    level="dataset",
)
class BoundaryAp(_Boundaries):
    """Average precision: the area under the curve of precision over recall.

    Counts are made as for `ods`. Precision is interpolated linearly at recalls of 0, 0.01 ... 1;
    recalls that no threshold reaches, including small ones, add nothing, and thresholds that no
    pixel reaches have a precision of 0. The sum of the 101 values is divided by 100, as in all
    published numbers. A method with few different values has a short curve and a small area.
    """

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The area of the pooled curve."""
        return _of_curve(state, missing, average_precision)


@metric(
    "boundary_r50",
    category="outlines",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("boundaries",),
    cite="Dollar & Zitnick 2015",
    formula="R where P is one half",
    revision=1,
    pools=("pixel",),
    choices=CHOICES,
    missing_costs=MISSING_COSTS,
    level="dataset",
)
class BoundaryR50(_Boundaries):
    """Recall at a precision of one half.

    Counts are made as for `ods`. If precision is always above one half, it is the recall at the
    lowest precision; if precision never reaches one half, it is 0.
    """

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """Recall of the pooled curve."""
        return _of_curve(state, missing, recall_at_half)
