"""Sparsification: does the error fall when the least confident pixels are taken away?

The confidence is a part of the estimate. Pixels are sorted by it, and the error of the most
confident ones is drawn against how many there are. A method that knew its errors would take away
the worst ones first: that is the oracle's curve.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._judged import distance, judged_pixels, need_size
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

OF = ("disparity", "depth", "flow")
STEPS = 20
"""Curves have a point at each twentieth of the estimated pixels."""
DENSITIES = tuple(k / STEPS for k in range(1, STEPS + 1))
ERRORS = {"kind": ("mae", "rms")}
_NEEDS = ("estimate_confidence",)
_LEFT_OUT = "is left out; read the score with `density`"
Values = NDArray[np.float64]


def sparsify(errors: Values, confidence: Values) -> Values:
    """The mean error of the most confident pixels, at each of `DENSITIES`.

    Equally confident pixels are taken away together, in no order: each of them counts as their
    mean. A pixel without a confidence is taken away first.

    Args:
        errors: One for each pixel, at least one.
        confidence: The larger, the surer.

    >>> curve = sparsify(np.array([0.0, 2.0, 4.0, 8.0]), np.array([9.0, 8.0, 8.0, 1.0]))
    >>> curve[[4, 9, 19]].tolist()
    [0.0, 1.5, 3.5]
    """
    sure = np.where(np.isnan(confidence), -np.inf, confidence)
    order = np.argsort(-sure, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(sure[order]) != 0])
    sizes = np.diff(np.r_[first, order.size])
    means = np.add.reduceat(errors[order], first) / sizes
    sums = np.cumsum(np.repeat(means, sizes))
    counts = np.maximum(1, np.rint(np.array(DENSITIES) * order.size)).astype(np.int64)
    return np.asarray(sums[counts - 1] / counts)


def curve_state(errors: Map, judged: Mask, confidence: Map, *, root: bool = False) -> State:
    """The curve, the oracle's curve, and the number of pictures: 1, or 0 without any estimate.

    Curves of several pictures add up, so pooled curves are means over pictures.

    Args:
        errors: Of each pixel, NaN without an estimate.
        judged: Where pixels count.
        confidence: Of each pixel.
        root: Whether curves are roots of means.
    """
    known = judged & np.isfinite(errors)
    count = int(np.count_nonzero(known))
    lost = int(np.count_nonzero(judged)) - count
    if not count:
        return State(0, lost, np.zeros(2 * STEPS + 1))
    values = errors[known].astype(np.float64)
    curves = [sparsify(values, by) for by in (confidence[known].astype(np.float64), -values)]
    if root:
        curves = [np.sqrt(curve) for curve in curves]
    return State(count, lost, np.concatenate([*curves, [1.0]]))


def curves_of(state: State) -> tuple[Values, Values] | None:
    """The mean curve of a state, and the oracle's; None without any picture."""
    pictures = float(state.sums[-1])
    if not pictures:
        return None
    both = state.sums[:-1].reshape(2, STEPS) / pictures
    return both[0], both[1]


def area(curve: Values) -> float:
    """The area below a curve over densities from 0 to 1.

    Each point stands for the twentieth that ends at it, so a constant curve has its own value.
    """
    return float(np.mean(curve))


def _errors(estimate: Map, truth: Map, region: Mask | None, confidence: Map) -> tuple[Map, Mask]:
    """The error of each pixel, NaN without an estimate, and which are judged."""
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    need_size(confidence, "the confidence", truth)
    sizes = distance(estimate, truth)
    return np.where(is_known(estimate), sizes, np.float32(np.nan)), judged


class _Sparsification:
    """The curve of mean errors."""

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        estimate_confidence: Map,
        kind: str = "mae",
    ) -> State:
        """Both curves."""
        sizes, judged = _errors(estimate, truth, region, estimate_confidence)
        if kind == "rms":
            return curve_state(np.square(sizes), judged, estimate_confidence, root=True)
        return curve_state(sizes, judged, estimate_confidence)


_SHARED: dict[str, Any] = {
    "category": "confidence",
    "of": OF,
    "needs": _NEEDS,
    "revision": 1,
    "missing_costs": _LEFT_OUT,
}


@metric(
    "ause",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    choices=ERRORS,
    cite="Ilg et al. 2018",
    formula="area between the curve of the error by confidence and that by the error itself",
    **_SHARED,
)
class AreaUnderSparsificationError(_Sparsification):
    """Area under the sparsification error: how far the confidence is from knowing the errors.

    The mean error (or `rms`) of the most confident pixels, at 5 %, 10 % ... 100 % of those with an
    estimate, minus that of the pixels with the smallest errors, averaged over the 20 densities.
    0 if pixels are sorted by confidence as by their errors. It depends on how large errors are:
    compare `aurg` with it, which says whether the confidence is better than none.

    >>> import depthgauge as dg
    >>> sure = {"disparity": [[0, 2, 4, 8]], "confidence": [[4, 3, 2, 1]]}
    >>> unsure = {"disparity": [[0, 2, 4, 8]], "confidence": [[1, 1, 1, 1]]}
    >>> found = [dg.score(e, [[0, 0, 0, 0]], ["ause", "aurg"], quantity="disparity")
    ...          for e in (sure, unsure)]
    >>> [[round(score.value, 4) for score in s.values()] for s in found]
    [[0.0, 2.225], [2.225, 0.0]]
    """

    @staticmethod
    def finish(state: State, *, missing: str, kind: str = "mae") -> float:
        """The area between both curves."""
        found = curves_of(state)
        return math.nan if found is None else max(0.0, area(found[0] - found[1]))


@metric(
    "aurg",
    unit=Unit.QUANTITY,
    better="higher",
    bounds=(-math.inf, math.inf),
    choices=ERRORS,
    cite="Poggi et al. 2020",
    formula="error of all pixels - area below the curve of the error by confidence",
    **_SHARED,
)
class AreaUnderRandomGain(_Sparsification):
    """Area under the random gain: how much better the confidence is than none at all.

    The error of all pixels, which is that of pixels taken away at random, minus the mean over 20
    densities of the error of the most confident ones. Negative if the confidence is misleading.

    >>> import depthgauge as dg
    >>> wrong = {"disparity": [[0, 2, 4, 8]], "confidence": [[1, 2, 3, 4]]}
    >>> s = dg.score(wrong, [[0, 0, 0, 0]], "aurg", quantity="disparity")
    >>> round(s["aurg@all"].value, 4)
    -2.4917
    """

    @staticmethod
    def finish(state: State, *, missing: str, kind: str = "mae") -> float:
        """The area between the curve and a constant one."""
        found = curves_of(state)
        return math.nan if found is None else float(found[0][-1]) - area(found[0])


@metric(
    "density_auc",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    cite="Hu & Mordohai 2012",
    formula="area below the percentage of bad pixels among the most confident ones",
    **_SHARED,
)
class DensityAuc:
    """Area below the curve of bad pixels over density, most confident pixels first.

    The percentage of bad pixels (error above the threshold) among the most confident 5 %, 10 % ...
    100 % of those with an estimate, averaged. The best value for a share b of bad pixels is
    about b + (1 - b) ln(1 - b); a confidence that says nothing has b.

    >>> import depthgauge as dg
    >>> sure = {"disparity": [[0, 2, 4, 8]], "confidence": [[4, 3, 2, 1]]}
    >>> s = dg.score(sure, [[0, 0, 0, 0]], "density_auc:3", quantity="disparity")
    >>> round(s["density_auc:3@all"].value, 4)
    15.8333
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        estimate_confidence: Map,
        threshold: float = 1.0,
    ) -> State:
        """Both curves, in percent."""
        sizes, judged = _errors(estimate, truth, region, estimate_confidence)
        bad = np.where(np.isnan(sizes), np.nan, 100.0 * ~(sizes <= np.float32(threshold)))
        return curve_state(np.asarray(bad, np.float32), judged, estimate_confidence)

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0) -> float:
        """The area below the curve."""
        found = curves_of(state)
        return math.nan if found is None else area(found[0])
