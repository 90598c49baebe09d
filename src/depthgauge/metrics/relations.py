"""Relations of planes: whether estimated normals show which planes are parallel or orthogonal."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.angles import angles_between
from depthgauge.geometry.pairs import NEITHER, ORTHOGONAL, PARALLEL, NormalPairs, ends_inside
from depthgauge.metrics._metric import metric
from depthgauge.metrics.average_precision import average_precision
from depthgauge.metrics.moments import same_size
from depthgauge.types import Map, Mask, State, sorted_rows
from depthgauge.units import Unit

Values = NDArray[np.float64]
_CITE = "Chen et al. 2020, section 6.3"
_NONE = -1.0
"""Stands for the angle of a pair with a missing normal."""
_COSTS = (
    "`bad`: a pair with an end that has no normal is never found if it should be, and comes "
    "first if it should not; `skip`: it is left out"
)
_CHOICES = {"negatives": ("neither", "both")}


class _Relations:
    """What both relations share."""

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        normal_pairs: NormalPairs,
        negatives: str = "neither",
    ) -> State:
        """Relation, key and estimated angle of each pair."""
        estimate, truth = same_size(estimate, truth)
        pairs = normal_pairs[ends_inside(normal_pairs, region, truth)]
        x_a, y_a, x_b, y_b = pairs[:, :4].T.astype(np.int64)
        angle = angles_between(estimate[y_a, x_a], estimate[y_b, x_b])
        present = np.isfinite(angle)
        rows = np.column_stack([pairs[:, 4], pairs[:, 5], np.where(present, angle, _NONE)])
        count = int(present.sum())
        return State(count, len(pairs) - count, rows=sorted_rows(rows))


def equal_numbers(rows: Values) -> Values:
    """The rows (relation, key, ...) with the smallest keys, equally many of each relation.

    >>> rows = np.array([[0, 0.3, 1], [0, 0.2, 2], [1, 0.9, 3]])
    >>> equal_numbers(rows).tolist()
    [[0.0, 0.2, 2.0], [1.0, 0.9, 3.0]]
    """
    ordered = sorted_rows(np.asarray(rows, np.float64))
    _, starts, counts = np.unique(ordered[:, 0], return_index=True, return_counts=True)
    if not counts.size:
        return ordered
    kept = np.concatenate([np.arange(counts.min()) + start for start in starts])
    return np.asarray(ordered[kept], np.float64)


def _precision(
    state: State, relation: int, wrong_by: Callable[[Values], Values], missing: str, negatives: str
) -> float:
    """Average precision of a relation; `wrong_by` gives how far angles are off."""
    rows = equal_numbers(np.zeros((0, 3)) if state.rows is None else state.rows)
    positive = rows[:, 0] == relation
    used = positive | (rows[:, 0] == NEITHER) | (negatives == "both")
    lost = rows[:, 2] == _NONE
    if missing in ("skip", "good"):
        used, lost = used & ~lost, np.zeros_like(lost)
    n = int((positive & used).sum())
    if not n or n == int(used.sum()):
        return math.nan
    # A pair that should not be found and has no normal counts as found with certainty.
    score = np.where(lost, 2.0, 1.0 - wrong_by(rows[:, 2]) / 180.0)
    ranked = used & ~(positive & lost)
    return average_precision(score[ranked], positive[ranked], n)


@metric(
    "ap_parallel",
    category="normals",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("normals",),
    cite=_CITE,
    formula="sum (R_n - R_n-1) P_n, pairs ranked by 1 - min(a, 180 - a) / 180, a their angle",
    revision=1,
    pools=("pixel",),
    needs=("normal_pairs",),
    choices=_CHOICES,
    missing_costs=_COSTS,
    level="dataset",
)
class ApParallel(_Relations):
    """How well the angles of estimated normals tell parallel planes from others.

    Pairs of points on planes are ranked by how parallel their estimated normals are; the score is
    the average precision over the whole dataset. Of each relation that occurs (parallel,
    orthogonal, neither), the same number of pairs is used, and the same pairs for every method.
    Negatives are the pairs with the relation `neither` or, with `both`, also the orthogonal ones.
    If all normals are equal, the score is the share of positives: 0.5, or a third with `both`.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> normals = np.array([[[0, 0, -1], [0, 0, -1], [0, -1, -1]]], np.float32)
    >>> pairs = np.array([[0, 0, 1, 0, 1, 0.5], [0, 0, 2, 0, 0, 0.5]])
    >>> m = METRICS["ap_parallel"]
    >>> m.finish(m.measure(normals, normals, normal_pairs=pairs))
    1.0
    """

    @staticmethod
    def finish(state: State, *, missing: str, negatives: str = "neither") -> float:
        """The average precision."""
        return _precision(state, PARALLEL, lambda a: np.minimum(a, 180.0 - a), missing, negatives)


@metric(
    "ap_orthogonal",
    category="normals",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("normals",),
    cite=_CITE,
    formula="sum (R_n - R_n-1) P_n, pairs ranked by 1 - |a - 90| / 180, a their angle",
    revision=1,
    pools=("pixel",),
    needs=("normal_pairs",),
    choices=_CHOICES,
    missing_costs=_COSTS,
    level="dataset",
)
class ApOrthogonal(_Relations):
    """How well the angles of estimated normals tell orthogonal planes from others.

    Like `ap_parallel`, but ranked by how near the angle is to 90 degrees; `both` adds the parallel
    pairs to the negatives.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> normals = np.array([[[0, 0, -1], [0, -1, 0], [0, -1, -1]]], np.float32)
    >>> pairs = np.array([[0, 0, 1, 0, 2, 0.5], [0, 0, 2, 0, 0, 0.5]])
    >>> m = METRICS["ap_orthogonal"]
    >>> m.finish(m.measure(normals, normals, normal_pairs=pairs))
    1.0
    """

    @staticmethod
    def finish(state: State, *, missing: str, negatives: str = "neither") -> float:
        """The average precision."""
        return _precision(state, ORTHOGONAL, lambda a: np.abs(a - 90.0), missing, negatives)
