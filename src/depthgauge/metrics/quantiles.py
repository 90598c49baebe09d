"""The metric of order statistics; `order.py` computes them."""

from __future__ import annotations

import math

from depthgauge.errors import BadScoreId
from depthgauge.metrics._metric import metric
from depthgauge.metrics.pixel import NUMBERS
from depthgauge.metrics.terms import RULES, Order
from depthgauge.units import Unit


@metric(
    "quantile",
    category="values",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=(*NUMBERS, "flow"),
    of_errors=("difference", "length", "channels"),
    cite="Seitz et al. 2006; Baker et al. 2011; A50 ... A99 of Middlebury's stereo table",
    formula="the percent-th percentile of |e|",
    revision=1,
    choices={"rule": RULES},
)
def quantile(*, percent: float = 50.0, rule: str = "linear") -> Order:
    """Error that `percent` of the estimated pixels stay below: A50 is `quantile:50`.

    `rule` says which element of the n sorted errors is meant: `linear` interpolates at
    (n - 1) * percent / 100 as NumPy does; `floor` takes index floor(n * percent / 100) as the 4D
    light field toolkit does; `floor_float32` computes that product in float32 as ETH3D does.

    >>> import depthgauge as dg
    >>> dg.score([[1, 2, 3, 40]], [[0, 0, 0, 0]], "quantile:50")["quantile:50@all"].value
    2.5
    """
    if percent > 100:
        raise BadScoreId(f"quantile: percent is {percent:g} but must be from 0 to 100.")
    return Order(percent, rule)
