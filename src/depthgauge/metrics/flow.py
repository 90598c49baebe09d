"""Metrics of optical flow; the error of a pixel is the length of the difference vector."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._metric import metric
from depthgauge.metrics.terms import ABS, Recipe, mean, over, over_both, own
from depthgauge.units import Unit

FLOW = ("flow",)
Values = NDArray[np.float64]
_STEPS = 100


@metric(
    "epe",
    category="motion",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=FLOW,
    of_errors=("length",),
    cite="Otte & Nagel 1994; Baker et al. 2011",
    formula="mean |estimate - truth|",
    revision=1,
)
def epe() -> Recipe:
    """Mean end-point error: length in px of the difference between the flow vectors.

    >>> import depthgauge as dg
    >>> s = dg.score([[[3, 4], [1, 0]]], [[[0, 0], [0, 0]]], "epe", quantity="flow")
    >>> s["epe@all"].value
    3.0
    """
    return mean(ABS)


@metric(
    "npx",
    category="motion",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=FLOW,
    of_errors=("length",),
    cite="Geiger et al. 2012 (KITTI); Mehl et al. 2023 (Spring, 1px)",
    formula="100 * mean [not |estimate - truth| <= threshold]",
    revision=1,
)
def npx(*, threshold: float = 1.0) -> Recipe:
    """Percentage of pixels whose end-point error exceeds the threshold, or that have no estimate.

    >>> import depthgauge as dg
    >>> s = dg.score([[[3, 4], [1, 0]]], [[[0, 0], [0, 0]]], "npx:1", quantity="flow")
    >>> s["npx:1@all"].value
    50.0
    """
    return mean(over(threshold), 100.0)


@metric(
    "fl",
    category="motion",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=FLOW,
    cite="Menze & Geiger 2015 (KITTI)",
    formula="100 * mean [|e| > threshold and |e| > share * |truth|]",
    revision=1,
)
def fl(*, threshold: float = 3.0, share: float = 0.05) -> Recipe:
    """Percentage of flow outliers: end-point error above the threshold AND above that share of the
    truth.

    >>> import depthgauge as dg
    >>> s = dg.score([[[84, 0], [14, 0]]], [[[80, 0], [10, 0]]], "fl", quantity="flow")
    >>> s["fl@all"].value
    50.0
    """
    return mean(over_both(threshold, share), 100.0)


@metric(
    "flow_angle",
    category="motion",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, 180),
    of=FLOW,
    cite="Barron, Fleet & Beauchemin 1994",
    formula="mean angle between (u, v, step) of the estimate and of the truth",
    revision=1,
)
def flow_angle(*, step: float = 1.0) -> Recipe:
    """Mean angular error of flow: the angle between the directions (u, v, step) in space-time.

    With a step of 1 px it is the AAE of the literature. The step keeps small motions from
    dominating: at a true flow of 0, an error of 1 px is 45 degrees, and at one of 10 px across it
    is 5.7.

    >>> import depthgauge as dg
    >>> s = dg.score([[[1, 0], [3, 4]]], [[[0, 0], [3, 4]]], "flow_angle", quantity="flow")
    >>> round(s["flow_angle@all"].value, 4)
    22.5
    """
    return mean(own("flow_angle", space_time_angle, step, worst=180.0))


def space_time_angle(error: Values, estimate: Values, truth: Values, step: float) -> Values:
    """Degrees between (u, v, step) of both; by the tangent, which is exact for small angles."""
    x, g = estimate.astype(np.float64), truth.astype(np.float64)
    u, v = step * (g - x).T
    across = np.sqrt(u * u + v * v + (x[:, 0] * g[:, 1] - x[:, 1] * g[:, 0]) ** 2)
    along = x[:, 0] * g[:, 0] + x[:, 1] * g[:, 1] + step * step
    return np.asarray(np.degrees(np.arctan2(across, along)))


@metric(
    "wauc",
    category="motion",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=FLOW,
    of_errors=("length",),
    cite="Richter, Hayder & Koltun 2017 (VIPER); Mehl et al. 2023 (Spring)",
    formula="100 * mean of sum_i w_i [|e| <= i t / 100] / sum_i w_i, w_i = 1 - (i - 1) / 100",
    revision=1,
)
def wauc(*, threshold: float = 5.0) -> Recipe:
    """Weighted area under the curve of correct pixels over 100 thresholds up to the largest one.

    Thresholds are i / 100 of the largest one (0.05 px to 5 px), and smaller ones have more weight.
    A pixel without an error has 100, one beyond the largest threshold, or without an estimate, 0.

    >>> import depthgauge as dg
    >>> s = dg.score([[[2.5, 0], [0, 9]]], [[[0, 0], [0, 0]]], "wauc", quantity="flow")
    >>> round(100 * s["wauc@all"].value * 5050 / 100) == round(100 * (51 * 52 / 2) / 2)
    True
    """
    return mean(own("wauc", weight_within, threshold, worst=0.0), 100.0)


def weight_within(error: Values, estimate: Values, truth: Values, threshold: float) -> Values:
    """The share of the weights of all thresholds that an error is within."""
    weights = 1.0 - np.arange(_STEPS) / _STEPS
    within = np.append(np.cumsum(weights[::-1])[::-1], 0.0) / weights.sum()
    # In float32, as the maps are: an error of exactly a threshold is within it.
    limits = np.arange(1, _STEPS + 1) * threshold / _STEPS
    return np.asarray(within[np.searchsorted(limits.astype(np.float32), error, side="left")])
