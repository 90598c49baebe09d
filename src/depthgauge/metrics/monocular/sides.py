"""Whether a pixel is on the right side of a distance: iBims' directed depth errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._metric import metric
from depthgauge.metrics.terms import Recipe, mean, own, percent_without
from depthgauge.units import Unit

Values = NDArray[np.floating]
_CITE = "Koch, Liebel, Fraundorfer & Körner 2018"


def other_side(error: Values, estimate: Values, truth: Values, threshold: float) -> Values:
    """1 where one of the two is at most at the threshold and the other is beyond it."""
    return np.asarray((estimate <= threshold) != (truth <= threshold), np.float64)


def near_side(error: Values, estimate: Values, truth: Values, threshold: float) -> Values:
    """1 where only the estimate is at most at the threshold."""
    return np.asarray((estimate <= threshold) & (truth > threshold), np.float64)


def far_side(error: Values, estimate: Values, truth: Values, threshold: float) -> Values:
    """1 where only the truth is at most at the threshold."""
    return np.asarray((estimate > threshold) & (truth <= threshold), np.float64)


@metric(
    "same_side",
    category="depths",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=("depth",),
    cite=_CITE,
    formula="100 * mean [(estimate <= threshold) = (truth <= threshold)]",
    revision=1,
)
def same_side(*, threshold: float = 3.0) -> Recipe:
    """Percentage of pixels on the same side of a distance as the truth (iBims' dde_0).

    What is exactly at the threshold is near.

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 3, 4, 2]], [[2, 5, 5, 4]], "same_side:3", quantity="depth")
    >>> s["same_side:3@all"].value
    50.0
    """
    return percent_without(own("other_side", other_side, threshold, worst=1.0))


@metric(
    "wrongly_near",
    category="depths",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("depth",),
    cite=_CITE,
    formula="100 * mean [estimate <= threshold < truth]",
    revision=1,
)
def wrongly_near(*, threshold: float = 3.0) -> Recipe:
    """Percentage of pixels that are estimated near but are far (iBims' dde_m).

    >>> import depthgauge as dg
    >>> s = dg.score([[1, 3, 4, 2]], [[2, 5, 5, 4]], "wrongly_near:3", quantity="depth")
    >>> s["wrongly_near:3@all"].value
    50.0
    """
    return mean(own("near_side", near_side, threshold, worst=1.0), 100.0)


@metric(
    "wrongly_far",
    category="depths",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("depth",),
    cite=_CITE,
    formula="100 * mean [truth <= threshold < estimate]",
    revision=1,
)
def wrongly_far(*, threshold: float = 3.0) -> Recipe:
    """Percentage of pixels that are estimated far but are near (iBims' dde_p).

    >>> import depthgauge as dg
    >>> s = dg.score([[4, 3, 4, 2]], [[2, 5, 5, 4]], "wrongly_far:3", quantity="depth")
    >>> s["wrongly_far:3@all"].value
    25.0
    """
    return mean(own("far_side", far_side, threshold, worst=1.0), 100.0)
