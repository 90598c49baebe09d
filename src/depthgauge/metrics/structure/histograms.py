"""How far distributions of values are apart: for estimates and truths that hardly meet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.metrics._judged import judged_pixels
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")
_MOST_CUTS = 16


def earth_movers_distance(first: NDArray[Any], second: NDArray[Any]) -> float:
    """The least mean distance by which values must be moved to turn one set into the other.

    In one dimension it is the area between the two distribution functions.

    Args:
        first: Any number of values, at least one, in any order.
        second: The same.

    >>> earth_movers_distance(np.array([0.0, 1.0, 3.0]), np.array([5.0, 6.0, 8.0]))
    5.0
    """
    from depthgauge.metrics.kernels.distributions import earth_movers

    found = np.zeros(1)
    earth_movers(np.sort(first).astype(np.float64), np.sort(second).astype(np.float64), found)
    return float(found[0])


def tiles(shape: tuple[int, int], cuts: int) -> Iterator[tuple[slice, slice]]:
    """2^cuts tiles of about equal size: halves along x first, then along y, and so on."""
    columns, rows = 2 ** math.ceil(cuts / 2), 2 ** (cuts // 2)
    for top, bottom in _ranges(shape[0], rows):
        for left, right in _ranges(shape[1], columns):
            yield slice(top, bottom), slice(left, right)


def _ranges(length: int, parts: int) -> Iterator[tuple[int, int]]:
    ends = [length * k // parts for k in range(parts + 1)]
    yield from itertools.pairwise(ends)


@metric(
    "histogram_error",
    category="sparse_truth",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    choices={"estimates": ("tile", "region")},
    cite="Sellent & Wingbermühle 2012; Honauer 2019, equation 3.14",
    formula="mean over 2^cuts tiles of the earth mover's distance of both histograms",
    revision=1,
    missing_costs="does not matter as long as its tile has others; a tile without any is missing",
)
class HistogramError:
    """Mean distance between the distributions of estimated and true values, tile by tile.

    Values need not be at the same pixels: for sparse estimates and sparse truth. The distance is
    that of the values themselves unless `bin_width`, in the unit of the map, says that they are
    sorted into a histogram first; then each counts as the middle of its bin. Tiles with truth and
    without any estimate are missing. `estimates` says which values of a tile are taken: all (the
    default, since a region ends where the truth does), or those of the region's pixels.

    >>> import depthgauge as dg
    >>> s = dg.score([[9, 9, 1, 3]], [[1, 3, 9, 9]], ["histogram_error:0", "histogram_error:1"])
    >>> s["histogram_error:0@all"].value, s["histogram_error:1@all"].value
    (0.0, 7.0)
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        cuts: int = 2,
        bin_width: float = 0.0,
        estimates: str = "tile",
    ) -> State:
        """The sum over tiles and their number; counts are of true pixels."""
        if cuts > _MOST_CUTS:
            raise BadScoreId(f"histogram_error: cuts is {cuts} but at most {_MOST_CUTS}.")
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        taken = np.isfinite(estimate)
        if estimates == "region":
            taken &= judged
        total, used, count, lost = 0.0, 0, 0, 0
        for tile in tiles(truth.shape, cuts):
            wanted, there = truth[tile][judged[tile]], estimate[tile][taken[tile]]
            if not wanted.size:
                continue
            if there.size:
                sides = (_binned(values, bin_width) for values in (there, wanted))
                total += earth_movers_distance(*sides)
                used, count = used + 1, count + wanted.size
            else:
                lost += wanted.size
        return State(count, lost, np.array([total, float(used)]))

    @staticmethod
    def finish(
        state: State,
        *,
        missing: str,
        cuts: int = 2,
        bin_width: float = 0.0,
        estimates: str = "tile",
    ) -> float:
        """The mean over tiles."""
        total, used = (float(value) for value in state.sums)
        return total / used if used else math.nan


def _binned(values: Map, width: float) -> NDArray[Any]:
    """The middles of the bins of values; the values themselves if the width is 0."""
    if width == 0:
        return values
    return np.asarray((np.floor(values.astype(np.float64) / width) + 0.5) * width)
