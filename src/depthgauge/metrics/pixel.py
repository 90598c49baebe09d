"""Metrics of one number per pixel: disparity and depth. Each is a formula over means of terms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._metric import metric
from depthgauge.metrics.terms import (
    ABS,
    SIGNED,
    SQUARE,
    Recipe,
    mean,
    over,
    over_both,
    own,
    root_mean,
)
from depthgauge.types import Map
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")


@metric(
    "mae",
    category="values",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    of_errors=("difference", "channels"),
    cite="common",
    formula="mean |e|",
    revision=1,
)
def mae() -> Recipe:
    """Mean absolute error over the pixels that have an estimate.

    >>> import depthgauge as dg
    >>> dg.score([[0, 1, -3, 4]], [[0, 0, 0, 0]], "mae")["mae@all"].value
    2.0
    """
    return mean(ABS)


@metric(
    "rms",
    category="values",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    of_errors=("difference", "channels"),
    cite="Scharstein & Szeliski 2002",
    formula="sqrt(mean e^2)",
    revision=1,
)
def rms() -> Recipe:
    """Root of the mean squared error; a few large errors dominate it.

    >>> import depthgauge as dg
    >>> dg.score([[1, 7, 5, -5]], [[0, 0, 0, 0]], "rms")["rms@all"].value
    5.0
    """
    return root_mean(SQUARE, shown=ABS)


@metric(
    "mse",
    category="values",
    unit=Unit.QUANTITY_SQUARED,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    of_errors=("difference", "channels"),
    cite="Honauer et al. 2016",
    formula="factor * mean e^2",
    revision=1,
)
def mse(*, factor: float = 1.0) -> Recipe:
    """Mean squared error times a factor (light-field papers use 100).

    >>> import depthgauge as dg
    >>> dg.score([[0, 1, 1, 0]], [[0, 0, 0, 0]], "mse:100")["mse:100@all"].value
    50.0
    """
    return mean(SQUARE, factor)


@metric(
    "bias",
    category="values",
    unit=Unit.QUANTITY,
    better="zero",
    bounds=(-math.inf, math.inf),
    of=NUMBERS,
    of_errors=("difference",),
    cite="Leclercq & Morris 2003",
    formula="mean e, e = estimate - truth",
    revision=1,
)
def bias() -> Recipe:
    """Mean signed error: positive if the estimate is too large on average.

    >>> import depthgauge as dg
    >>> dg.score([[1, 2, 3, 0]], [[0, 0, 0, 2]], "bias")["bias@all"].value
    1.0
    """
    return mean(SIGNED)


@metric(
    "bias_deviation",
    category="values",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    of_errors=("difference",),
    cite="Leclercq & Morris 2003",
    formula="sqrt(mean e^2 - (mean e)^2)",
    revision=1,
)
def bias_deviation() -> Recipe:
    """Standard deviation of the signed error around its bias.

    >>> import depthgauge as dg
    >>> dg.score([[1, 3, 1, 3]], [[0, 0, 0, 0]], "bias_deviation")["bias_deviation@all"].value
    1.0
    """
    return Recipe(
        (SQUARE, SIGNED), lambda s, m: math.sqrt(max(s - m * m, 0.0)), SIGNED, factor=None
    )


@metric(
    "badpix",
    category="values",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    of_errors=("difference", "channels"),
    cite="Scharstein & Szeliski 2002",
    formula="100 * mean [not |e| <= threshold]",
    revision=1,
)
def badpix(*, threshold: float = 1.0) -> Recipe:
    """Percentage of pixels whose error exceeds the threshold, or that have no estimate.

    The threshold is in the quantity's unit (px for disparity, m for depth). An error of exactly
    the threshold is not bad; a missing estimate is bad unless the protocol says `skip`. The error
    is the float32 difference of the maps, and the threshold is rounded to float32.

    >>> import depthgauge as dg
    >>> dg.score([[0, 2, 3.5, float("nan")]], [[0, 0, 0, 0]], "badpix:2")["badpix:2@all"].value
    50.0
    """
    return mean(over(threshold), 100.0)


@metric(
    "d1",
    category="values",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("disparity",),
    cite="Menze & Geiger 2015 (KITTI)",
    formula="100 * mean [|e| > threshold and |e| > share * |truth|]",
    revision=1,
)
def d1(*, threshold: float = 3.0, share: float = 0.05) -> Recipe:
    """Percentage of outliers: error above the threshold AND above that share of the truth.

    Both conditions must hold. The share is compared in float64, so exactly 5 % is not an outlier
    (KITTI's own program divides in float32, where 4 px of 80 px counts as one).

    >>> import depthgauge as dg
    >>> dg.score([[14, 84, 104, 2]], [[10, 80, 98, 1]], "d1")["d1@all"].value
    50.0
    """
    return mean(over_both(threshold, share), 100.0)


@metric(
    "d1_or",
    category="values",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("disparity",),
    cite="a common misreading of Menze & Geiger 2015 (KITTI)",
    formula="100 * mean [|e| > threshold or |e| > share * |truth|]",
    revision=1,
)
def d1_or(*, threshold: float = 3.0, share: float = 0.05) -> Recipe:
    """Percentage of outliers: error above the threshold OR above that share of the truth.

    Some programs read "3 px and 5 %" in this way. It is at least as large as `d1`: use it to
    find out whether a published number was computed so, not for new tables.

    >>> import depthgauge as dg
    >>> dg.score([[14, 84, 104, 2]], [[10, 80, 98, 1]], "d1_or")["d1_or@all"].value
    100.0
    """
    return mean(own("either", beyond_either, threshold, share, worst=1.0), 100.0)


def beyond_either(
    error: Map, estimate: Map, truth: Map, threshold: float, share: float
) -> NDArray[np.float64]:
    """1 where not |e| <= threshold, or not |e| <= share * |g|."""
    size = np.abs(error)
    fits = (size <= np.float32(threshold)) & (size <= share * np.abs(truth.astype(np.float64)))
    return np.asarray(~fits, np.float64)


@metric(
    "density",
    category="sparse_estimates",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=(*NUMBERS, "flow"),
    of_errors=("difference", "length", "channels"),
    cite="after Kostlivá et al. 2007 (sparsity rate)",
    formula="100 * estimated / (estimated + missing)",
    revision=1,
)
def density() -> Recipe:
    """Percentage of the region's truth pixels that have an estimate, under any `missing` rule.

    >>> import depthgauge as dg
    >>> dg.score([[0, 2, 3.5, float("nan")]], [[0, 0, 0, 0]], "density")["density@all"].value
    75.0
    """
    return Recipe((), lambda count, missing: 100.0 * count / (count + missing), from_counts=True)


@metric(
    "sparsity",
    category="sparse_estimates",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=(*NUMBERS, "flow"),
    of_errors=("difference", "length", "channels"),
    cite="Kostlivá et al. 2007 (sparsity rate); Honauer 2019, equation 3.13",
    formula="100 * missing / (estimated + missing)",
    revision=1,
)
def sparsity() -> Recipe:
    """Percentage of the region's truth pixels that have no estimate: 100 - `density`.

    >>> import depthgauge as dg
    >>> dg.score([[0, 2, 3.5, float("nan")]], [[0, 0, 0, 0]], "sparsity")["sparsity@all"].value
    25.0
    """
    return Recipe(
        (),
        lambda count, missing: 100.0 * missing / (count + missing),
        from_counts=True,
        flipped=True,
    )
