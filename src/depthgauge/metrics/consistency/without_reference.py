"""Measures that have nothing but the estimate and the image below it.

Both rest on assumptions that many methods make too: that depth changes where colour does, and that
maps are smooth. `docs/metrics-without-truth.md` has how little they say about the true error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.metrics._judged import need_size, shown, whole_region
from depthgauge.metrics._metric import metric
from depthgauge.metrics.bumpiness import bend
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.metrics.consistency.view_prediction import OwnView

NUMBERS = ("disparity", "depth")
Values = NDArray[np.float64]
Labels = NDArray[np.int64]
_ROUNDS = 25
_MOST_PIXELS = 65_536
"""Clusters are found from this many pixels, evenly spread; all pixels are then assigned."""


def clusters(features: Values, count: int) -> Labels:
    """k-means: the cluster of each row. The same rows always give the same clusters.

    It starts from the means of groups of equal size, sorted along the first feature, and ends when
    nothing changes, or after 25 rounds.

    Args:
        features: (n, k).
        count: How many clusters; fewer if there are fewer different rows.

    >>> clusters(np.array([[0.0], [9.0], [1.0], [8.0]]), 2).tolist()
    [0, 1, 0, 1]
    """
    step = max(1, -(-len(features) // _MOST_PIXELS))
    few = features[::step]
    order = np.argsort(few[:, 0], kind="stable")
    groups = [group for group in np.array_split(order, count) if group.size]
    centres = np.stack([few[group].mean(axis=0) for group in groups])
    nearest = _nearest(few, centres)
    for _ in range(_ROUNDS):
        centres = _moved(few, nearest, centres)
        again = _nearest(few, centres)
        if np.array_equal(again, nearest):
            break
        nearest = again
    return _nearest(features, centres)


def _moved(features: Values, nearest: Labels, centres: Values) -> Values:
    """The means of all clusters; an empty one starts anew at the row that is worst served."""
    sizes = np.bincount(nearest, minlength=len(centres))
    sums = np.stack([np.bincount(nearest, c, len(centres)) for c in features.T], axis=1)
    moved = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    off = np.sum((features - moved[nearest]) ** 2, axis=1)
    for empty in np.flatnonzero(sizes == 0):
        worst = int(np.argmax(off))
        moved[empty], off[worst] = features[worst], 0.0
    return np.asarray(moved)


def _nearest(features: Values, centres: Values) -> Labels:
    """The nearest centre of each row."""
    offset = np.sum(centres**2, axis=1)
    return np.asarray(np.argmin(offset - 2 * features @ centres.T, axis=1), np.int64)


def separation(colours: Values, labels: Labels) -> float:
    """F_RC of Rosenberger & Chehdi 2000: how uniform segments are, and how different.

    (1 + difference between segments - variation within them) / 2, colours from 0 to 1: the
    difference is the mean distance of a segment's mean colour to those of the others, the variation
    its standard deviation, both weighted by the segments' sizes and divided by the largest possible
    distance.

    Args:
        colours: (n, channels).
        labels: The segment of each row.
    """
    names, labels = np.unique(labels, return_inverse=True)
    sizes = np.bincount(labels).astype(np.float64)
    means = np.stack([np.bincount(labels, c) for c in colours.T], axis=1) / sizes[:, None]
    largest = math.sqrt(colours.shape[1])
    squares = np.sum((colours - means[labels]) ** 2, axis=1)
    within = np.sqrt(np.bincount(labels, squares) / sizes) / largest
    apart = np.linalg.norm(means[:, None] - means[None], axis=2) / largest
    between = apart.sum(axis=1) / max(len(names) - 1, 1)
    share = sizes / sizes.sum()
    return float((1.0 + share @ between - share @ within) / 2.0)


@metric(
    "segment_consistency",
    category="no_reference",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, math.inf),
    of=NUMBERS,
    needs=("truth_view",),
    cite="after Milani, Ferrario & Tubaro 2013; Rosenberger & Chehdi 2000",
    formula="F_RC(image by segments of the estimate) / F_RC(image by segments of the image)",
    revision=1,
    uses_truth=False,
    missing_costs="is left out; read the score with `density`",
    pools=("image", "median"),
)
class SegmentConsistency:
    """How well segments of the estimate explain the colours of the image; no truth is used.

    k-means finds `segments` segments of equal colour in the image, and as many of equal value in
    the estimate. F_RC says how uniform segments are within and how different from each other;
    the score is F_RC of the image cut as the estimate says, relative to the image cut by itself.
    It assumes that depth changes where colour does. Where it does not, a right map scores badly.

    >>> import numpy as np, depthgauge as dg
    >>> image = np.repeat(np.uint8([[0, 255]]), 4, axis=1)
    >>> right, wrong = [[5, 5, 5, 5, 9, 9, 9, 9]], [[5, 9, 5, 9, 5, 9, 5, 9]]
    >>> found = [dg.score(d, None, "segment_consistency:2", items={"left_image": image})
    ...          for d in (right, wrong)]
    >>> [s["segment_consistency:2@all"].value for s in found]
    [1.0, 0.25]
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        truth_view: OwnView,
        segments: int = 6,
    ) -> State:
        """The ratio of one picture."""
        if segments < 2:
            raise BadScoreId(f"segment_consistency: segments is {segments} but at least 2.")
        need_size(truth_view.channels, "the image", estimate)
        inside = whole_region(region, estimate)
        known = inside & np.isfinite(estimate)
        count = int(np.count_nonzero(known))
        lost = int(np.count_nonzero(inside)) - count
        if not count:
            return State(0, lost, np.zeros(2))
        colours = truth_view.channels[known].astype(np.float64) / 255.0
        values = estimate[known].astype(np.float64)[:, None]
        own = separation(colours, clusters(_by_brightness(colours), segments))
        by_estimate = separation(colours, clusters(values, segments))
        return State(count, lost, np.array([by_estimate / own, 1.0]))

    @staticmethod
    def finish(state: State, *, missing: str, segments: int = 6) -> float:
        """The mean over pictures."""
        total, pictures = (float(value) for value in state.sums)
        return total / pictures if pictures else math.nan


def _by_brightness(colours: Values) -> Values:
    """Colours in other axes, of which the first is the brightness; distances are the same."""
    if colours.shape[1] == 1:
        return colours
    axes = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3], [2], [6]])
    return np.asarray(colours @ axes.T)


@metric(
    "rough_gradients",
    category="no_reference",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    choices={"order": ("first", "second")},
    cite="after Zhang, Hou, Shen & Yang 2009",
    formula="100 * mean [gradient of the estimate > threshold]",
    revision=1,
    uses_truth=False,
    missing_costs="takes its neighbours with it; `bad`: they are rough; `skip`: are left out.",
)
class RoughGradients:
    """Percentage of pixels at which the estimate is not smooth; no truth is used.

    `first`: the length of the gradient, by differences of the two neighbours along each axis;
    `second`: the larger magnitude of the Hessian's eigenvalues, as in `weak_bumpiness`. Outermost
    pixels are not judged. A constant map is perfect, and true edges and slopes cost as much as
    noise: compare maps of one scene only.

    >>> import numpy as np, depthgauge as dg
    >>> step = np.repeat([[1.0, 5.0]], 4, axis=1) * np.ones((5, 1))
    >>> s = dg.score(step, None, ["rough_gradients", "rough_gradients:second"])
    >>> [round(score.value, 2) for score in s.values()]
    [33.33, 33.33]
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        order: str = "first",
        threshold: float = 1.0,
    ) -> State:
        """How many pixels are rough."""
        found = roughness(estimate, order)
        judged = np.zeros(found.shape, bool)
        judged[1:-1, 1:-1] = whole_region(region, found)[1:-1, 1:-1]
        known = judged & np.isfinite(found)
        count = int(np.count_nonzero(known))
        rough = np.count_nonzero(found[known] > np.float32(threshold))
        return State(count, int(np.count_nonzero(judged)) - count, np.array([float(rough)]))

    @staticmethod
    def finish(
        state: State, *, missing: str, order: str = "first", threshold: float = 1.0
    ) -> float:
        """The percentage."""
        lost = state.missing if missing in ("bad", "interpolate") else 0
        n = state.count + lost
        return 100.0 * (float(state.sums[0]) + lost) / n if n else math.nan

    @staticmethod
    def error_map(
        estimate: Map, truth: Map | None, *, order: str = "first", threshold: float = 1.0
    ) -> Map:
        """100 at rough pixels."""
        found = roughness(estimate, order)
        return shown(100.0 * (found > np.float32(threshold)), np.isfinite(found))


def roughness(values: Map, order: str) -> Map:
    """The gradient's length, or the bend; NaN at the border and beside missing pixels."""
    if order == "second":
        return bend(values)
    found = np.full(values.shape, np.nan, np.float32)
    with np.errstate(invalid="ignore"):  # what is infinite has no gradient
        across = (values[1:-1, 2:] - values[1:-1, :-2]) / 2
        down = (values[2:, 1:-1] - values[:-2, 1:-1]) / 2
        # A pixel that is missing itself has no gradient either.
        found[1:-1, 1:-1] = np.hypot(across, down) + 0 * values[1:-1, 1:-1]
    return found
