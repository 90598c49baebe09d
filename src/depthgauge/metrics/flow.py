"""Metrics of optical flow; the error of a pixel is the length of the difference vector."""

from __future__ import annotations

import math

from depthgauge.metrics._metric import metric
from depthgauge.metrics.terms import ABS, Recipe, mean, over, over_both
from depthgauge.units import Unit

FLOW = ("flow",)


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
