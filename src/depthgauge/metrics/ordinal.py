"""The order of depths: which of two points is deeper."""

from __future__ import annotations

import numpy as np

from depthgauge.geometry.pairs import DepthPairs, ends_inside
from depthgauge.metrics._judged import finish_share
from depthgauge.metrics._metric import metric
from depthgauge.metrics.moments import same_size
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit


def _judge(estimate: Map, pairs: DepthPairs) -> State:
    """The numbers of pairs with both ends, of pairs that lack one, and of wrong pairs."""
    x_a, y_a, x_b, y_b, order = pairs.T
    first, second = estimate[y_a, x_a], estimate[y_b, x_b]
    present = np.isfinite(first) & np.isfinite(second)
    right = np.sign(first - second)[present] == order[present]
    count = int(present.sum())
    return State(count, len(pairs) - count, np.array([float(count - right.sum())]))


def percent_wrong(depth: Map, pairs: DepthPairs) -> float:
    """Percentage of pairs whose order in depth is wrong: `wkdr` without a truth.

    A tie is wrong, and so is a pair with an end without depth; NaN if there is no pair.

    >>> pairs = np.array([[0, 0, 1, 0, -1], [1, 0, 2, 0, -1]], np.int32)
    >>> percent_wrong(np.array([[1, 2, 2]], np.float32), pairs)
    50.0
    """
    return finish_share(_judge(depth, pairs), "bad")


@metric(
    "wkdr",
    category="shape",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("depth",),
    cite="Chen et al. 2016; Chen et al. 2020, section 6",
    formula="100 * mean over pairs [sign(estimate A - estimate B) is not the true order]",
    revision=1,
    needs=("depth_pairs",),
    missing_costs="`bad`: a pair with an end that has no estimate is wrong; `skip`: it is left out",
)
class Wkdr:
    """Percentage of pairs of points whose order in depth is wrong.

    Two equal estimates are wrong, because no true order is a tie. Counts are numbers of pairs. In a
    region, pairs are judged if both ends lie in it. A pixel without true depth is in no region but
    may be the end of an annotated pair, so it does not exclude a pair.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> pairs = np.array([[0, 0, 1, 0, -1], [2, 0, 1, 0, 1], [0, 0, 3, 0, -1], [1, 0, 3, 0, 1]])
    >>> s = dg.score([[1, 2, 2, 4]], [[1, 2, 3, 4]], "wkdr", quantity="depth",
    ...              items={"relative_depth": pairs})
    >>> s["wkdr@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, depth_pairs: DepthPairs
    ) -> State:
        """The numbers of pairs, of pairs that lack an end, and of wrong pairs."""
        estimate, truth = same_size(estimate, truth)
        return _judge(estimate, depth_pairs[ends_inside(depth_pairs, region, truth)])

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Percentage of wrong pairs."""
        return finish_share(state, missing)
