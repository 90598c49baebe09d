"""Outliers of scene flow: of points in space, and of disparities and flow together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._judged import (
    finish_share,
    judged_pixels,
    need_size,
    share_map,
    share_state,
)
from depthgauge.metrics._metric import metric
from depthgauge.metrics.terms import Recipe, mean, own, percent_without
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

SPACE = ("scene_flow",)
Values = NDArray[np.float64]
_CITE = "Liu, Qi & Guibas 2019 (FlowNet3D); Gu et al. 2019 (HPLFlowNet)"


def beyond_either(
    error: Values, estimate: Values, truth: Values, threshold: float, share: float
) -> Values:
    """1 where an error exceeds the threshold or that share of the truth's length."""
    length = np.linalg.norm(truth.astype(np.float64), axis=-1)
    far = ~(error <= np.float32(threshold)) | (error.astype(np.float64) > share * length)
    return np.asarray(far, np.float64)


def beyond_both(
    error: Values, estimate: Values, truth: Values, threshold: float, share: float
) -> Values:
    """1 where an error exceeds neither small limit: the threshold and the share of the truth."""
    length = np.linalg.norm(truth.astype(np.float64), axis=-1)
    far = ~(error < np.float32(threshold)) & ~(error.astype(np.float64) < share * length)
    return np.asarray(far, np.float64)


@metric(
    "scene_outliers",
    category="motion",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=SPACE,
    cite=_CITE,
    formula="100 * mean [|e| > threshold or |e| > share * |truth|]",
    revision=1,
)
def scene_outliers(*, threshold: float = 0.3, share: float = 0.1) -> Recipe:
    """Percentage of points whose motion in space is off by more than a length OR a share of it.

    The outliers of papers on scene flow of points: 0.3 m or 10 %. Either is enough, unlike in
    `d1` and `fl`.

    >>> import depthgauge as dg
    >>> truth, estimate = [[[1, 0, 0], [9, 0, 0]]], [[[1.2, 0, 0], [9.2, 0, 0]]]
    >>> s = dg.score(estimate, truth, "scene_outliers", quantity="scene_flow")
    >>> s["scene_outliers@all"].value
    50.0
    """
    return mean(own("scene_outliers", beyond_either, threshold, share, worst=1.0), 100.0)


@metric(
    "scene_accuracy",
    category="motion",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=SPACE,
    cite=_CITE,
    formula="100 * mean [|e| < threshold or |e| < share * |truth|]",
    revision=1,
)
def scene_accuracy(*, threshold: float = 0.05, share: float = 0.05) -> Recipe:
    """Percentage of points whose motion in space is right to a length OR to a share of it.

    With 0.05 m and 5 % it is the strict accuracy (AS) of papers on scene flow of points, with
    `scene_accuracy:0.1,0.1` the relaxed one (AR).

    >>> import depthgauge as dg
    >>> truth, estimate = [[[1, 0, 0], [9, 0, 0]]], [[[1.2, 0, 0], [9.2, 0, 0]]]
    >>> s = dg.score(estimate, truth, "scene_accuracy", quantity="scene_flow")
    >>> s["scene_accuracy@all"].value
    50.0
    """
    return percent_without(own("scene_accuracy", beyond_both, threshold, share, worst=1.0))


@metric(
    "sf",
    category="motion",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("flow",),
    needs=("disparity", "second_disparity", "estimate_disparity", "estimate_second_disparity"),
    cite="Menze & Geiger 2015 (KITTI, SF)",
    formula="100 * mean [disparity or second disparity or flow is an outlier]",
    revision=1,
    missing_costs="`bad`: a pixel without all three estimates is an outlier; `skip`: is left out.",
)
class SceneFlowOutliers:
    """Percentage of pixels at which the disparity, that of the next frame, or the flow is wrong.

    Each is an outlier as in `d1` and `fl`: error above the threshold AND above that share of the
    truth. `second_disparity` is the disparity, at the next frame, of the point that a pixel of the
    first frame shows. Pixels are judged where all three have a truth. It is a score of the part
    `flow` of the quantity `image_scene_flow`.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> m, still, same = METRICS["sf"], np.zeros((1, 4, 2), "f4"), np.full((1, 4), 20, "f4")
    >>> flow, first, second = still.copy(), same.copy(), same.copy()
    >>> flow[0, 2], first[0, 1], second[0, 3] = 9, 9, 9
    >>> needs = {"disparity": same, "second_disparity": same, "estimate_disparity": first,
    ...          "estimate_second_disparity": second}
    >>> m.finish(m.measure(flow, still, **needs, threshold=3, share=0.05), threshold=3, share=0.05)
    75.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        disparity: Map,
        second_disparity: Map,
        estimate_disparity: Map,
        estimate_second_disparity: Map,
        threshold: float = 3.0,
        share: float = 0.05,
    ) -> State:
        """How many pixels are outliers."""
        pairs = [
            (estimate_disparity, disparity),
            (estimate_second_disparity, second_disparity),
        ]
        return share_state(*_outliers(estimate, truth, region, pairs, threshold, share))

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 3.0, share: float = 0.05) -> float:
        """Percentage of outliers."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        disparity: Map,
        second_disparity: Map,
        estimate_disparity: Map,
        estimate_second_disparity: Map,
        threshold: float = 3.0,
        share: float = 0.05,
    ) -> Map:
        """100 at outliers."""
        pairs = [
            (estimate_disparity, disparity),
            (estimate_second_disparity, second_disparity),
        ]
        return share_map(*_outliers(estimate, truth, None, pairs, threshold, share))


def _outliers(
    flow: Map,
    true_flow: Map,
    region: Mask | None,
    pairs: list[tuple[Map, Map]],
    threshold: float,
    share: float,
) -> tuple[Mask, Map, Mask]:
    """Outliers in any of the three, a map that is NaN without all estimates, judged pixels."""
    flow, true_flow, judged = judged_pixels(flow, true_flow, region)
    size, length = (np.hypot(v[..., 0], v[..., 1]) for v in (flow - true_flow, true_flow))
    fails = _outlier(size, length, threshold, share)
    present = is_known(flow)
    for estimate, truth in pairs:
        estimate, truth = (np.asarray(values, np.float32) for values in (estimate, truth))
        need_size(estimate, "a disparity of the estimate", true_flow)
        need_size(truth, "a disparity of the truth", true_flow)
        judged = judged & np.isfinite(truth)
        present = present & np.isfinite(estimate)
        fails = fails | _outlier(np.abs(estimate - truth), np.abs(truth), threshold, share)
    known = np.where(present, np.float32(0), np.float32(np.nan)).astype(np.float32)
    return fails, known, judged


def _outlier(size: Map, length: Map, threshold: float, share: float) -> Mask:
    """The rule of KITTI; the share is compared in float64, as in `d1`."""
    far = ~(size <= np.float32(threshold))
    return far & ~(size.astype(np.float64) <= share * length.astype(np.float64))
