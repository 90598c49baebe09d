"""Metrics of depth that compare ratios: relative, logarithmic, scale-invariant, delta."""

from __future__ import annotations

import math

from depthgauge.errors import BadScoreId
from depthgauge.metrics._metric import metric
from depthgauge.metrics.pixel import NUMBERS
from depthgauge.metrics.terms import (
    LOG,
    LOG10,
    LOG_SQUARE,
    RELATIVE,
    RELATIVE_SQUARE,
    Recipe,
    beyond,
    mean,
    percent_without,
    root_mean,
)
from depthgauge.units import Unit

DEPTH = ("depth",)


@metric(
    "absrel",
    category="depths",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    cite="for depth: Saxena et al. 2009; for disparity: van der Mark & Gavrila 2006",
    formula="mean |e| / |truth|",
    revision=1,
)
def absrel() -> Recipe:
    """Mean error relative to the truth.

    Infinite if a true disparity is 0 and its estimate is not. A depth of 0 is not a truth.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 3, 4, 2]], [[2, 2, 4, 2]], "absrel", quantity="depth")
    >>> s["absrel@all"].value
    0.25
    """
    return mean(RELATIVE)


@metric(
    "sqrel",
    category="depths",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=DEPTH,
    cite="Eigen et al. 2014",
    formula="mean e^2 / truth",
    revision=1,
)
def sqrel() -> Recipe:
    """Mean squared error relative to the truth, divided by the truth once.

    Not the number of the KITTI depth benchmark, which divides by the squared truth.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 3, 4, 2]], [[2, 2, 4, 2]], "sqrel", quantity="depth")
    >>> s["sqrel@all"].value
    0.25
    """
    return mean(RELATIVE_SQUARE)


@metric(
    "rmse_log",
    category="depths",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=DEPTH,
    cite="Eigen et al. 2014",
    formula="sqrt(mean (ln estimate - ln truth)^2)",
    revision=1,
)
def rmse_log() -> Recipe:
    """Root mean squared difference of the natural logarithms.

    >>> import math, depthgauge as dg
    >>> s = dg.score([[2, 2, 8, 8]], [[1, 1, 4, 4]], "rmse_log", quantity="depth")
    >>> round(s["rmse_log@all"].value / math.log(2), 9)
    1.0
    """
    return root_mean(LOG_SQUARE, shown=LOG)


@metric(
    "silog",
    category="depths",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, math.inf),
    of=DEPTH,
    cite="the idea: Eigen et al. 2014; this form: KITTI depth benchmark, Uhrig et al. 2017",
    formula="100 * sqrt(mean l^2 - (mean l)^2), l = ln estimate - ln truth",
    revision=1,
)
def silog() -> Recipe:
    """Scale-invariant logarithmic error, times 100: a global factor does not matter.

    The unit % is 100 times the natural logarithm, so 1 % is about 1 % of the depth.

    >>> import depthgauge as dg
    >>> s = dg.score([[2, 4, 8, 6]], [[1, 2, 4, 3]], "silog", quantity="depth")
    >>> round(s["silog@all"].value, 6)
    0.0
    """
    return Recipe(
        (LOG_SQUARE, LOG), lambda s, m: 100.0 * math.sqrt(max(s - m * m, 0.0)), LOG, factor=None
    )


@metric(
    "log10",
    category="depths",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=DEPTH,
    cite="Saxena et al. 2005",
    formula="mean |log10 estimate - log10 truth|",
    revision=1,
)
def log10() -> Recipe:
    """Mean absolute difference of the decimal logarithms.

    >>> import depthgauge as dg
    >>> s = dg.score([[10, 1, 1, 10]], [[1, 1, 10, 10]], "log10", quantity="depth")
    >>> s["log10@all"].value
    0.5
    """
    return mean(LOG10)


@metric(
    "delta",
    category="depths",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=DEPTH,
    cite="Ladický et al. 2014; Eigen et al. 2014",
    formula="100 * mean [max(estimate / truth, truth / estimate) < ratio]",
    revision=1,
)
def delta(*, ratio: float = 1.25) -> Recipe:
    """Percentage of pixels whose estimate is within a factor of the truth (strictly below it).

    delta_1 is `delta:1.25`, delta_2 is `delta:1.5625`, delta_3 is `delta:1.953125`.

    >>> import depthgauge as dg
    >>> s = dg.score([[1.2, 1.25, 2, float("nan")]], [[1, 1, 2, 1]], "delta", quantity="depth")
    >>> s["delta@all"].value
    50.0
    """
    if ratio <= 1:
        raise BadScoreId(f"delta: ratio is {ratio:g} but must be above 1.")
    return percent_without(beyond(ratio))
