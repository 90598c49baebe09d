"""Estimates between the points of a sparse truth: do they fit their neighbours?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.metrics._judged import shown, whole_region
from depthgauge.metrics._metric import metric
from depthgauge.metrics.moments import same_size
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")
_CORNERS = 3
Places = NDArray[np.int64]


def surrounded(truth: Map, points: Mask, reach_px: float) -> tuple[Places, Map, Map]:
    """Pixels without truth, and the least and largest truth of the three points around each.

    The points are triangulated (Delaunay), so the three around a pixel are close to it and to each
    other. Triangles with a side longer than `reach_px` are left out.

    Args:
        truth: Sparse.
        points: Which of its pixels are used.
        reach_px: The longest side of a triangle.

    Returns:
        Flat indices of the pixels, and two values for each.
    """
    places = np.argwhere(_beside_gaps(points, np.isfinite(truth)))
    nothing = np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.float32)
    if len(places) < _CORNERS or (np.ptp(places, axis=0) == 0).any():
        return nothing
    from scipy.spatial import Delaunay, QhullError

    from depthgauge.metrics.kernels.triangles import paint_triangles

    try:
        triangles = Delaunay(places).simplices
    except QhullError:  # all points on one line
        return nothing
    sides = places[triangles] - np.roll(places[triangles], 1, axis=1)
    triangles = triangles[(np.hypot(sides[..., 0], sides[..., 1]) <= reach_px).all(axis=1)]
    painted = np.full(truth.shape, -1, np.int64)
    paint_triangles(places[triangles], painted)
    pixels = np.flatnonzero(~np.isfinite(truth) & (painted >= 0))
    values = truth[tuple(places.T)][triangles[painted.ravel()[pixels]]]
    return pixels, values.min(axis=1), values.max(axis=1)


def _beside_gaps(points: Mask, known: Mask) -> Mask:
    """The points that have an unknown pixel among their eight neighbours; others matter nowhere."""
    import cv2

    near = cv2.dilate((~known).astype(np.uint8), np.ones((3, 3), np.uint8))
    return np.asarray(points & (near > 0))


@metric(
    "neighbour_conflicts",
    category="sparse_truth",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="after Morales & Klette 2011",
    formula="100 * mean over pixels without truth of [outside of the three true values around]",
    revision=1,
    missing_costs="is left out: estimates may be as sparse as the truth",
)
class NeighbourConflicts:
    """Percentage of the estimates between points of a sparse truth that contradict these points.

    `badpix` judges pixels with truth; this judges the others. Each pixel without truth lies in a
    triangle of three true points. Its estimate is in conflict if it is in front of all three, or
    behind all three, by more than the threshold: so a pixel on a surface must fit the surface,
    and one beside a discontinuity may be on either side of it. Triangles with a side longer
    than `reach_px`, or with a corner outside of the region, are left out; they say little about
    what is between their corners. `count` is the number of estimates that are judged, `missing`
    that of pixels in triangles without one.

    >>> import numpy as np, depthgauge as dg
    >>> truth = np.full((3, 3), np.nan)
    >>> truth[::2, ::2] = 5, 7
    >>> estimate = np.array([[9, 6, 9], [6, 8.5, 6], [9, 6, np.nan]])
    >>> dg.score(estimate, truth, "neighbour_conflicts:1")["neighbour_conflicts:1@all"].value
    20.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        threshold: float = 1.0,
        reach_px: float = 40.0,
    ) -> State:
        """How many pixels are in conflict."""
        found, pixels = _conflicts(estimate, truth, region, threshold, reach_px)
        count = int(np.count_nonzero(np.isfinite(found)))
        return State(count, pixels.size - count, np.array([float(np.nansum(found))]))

    @staticmethod
    def finish(
        state: State, *, missing: str, threshold: float = 1.0, reach_px: float = 40.0
    ) -> float:
        """Percentage of the estimates."""
        return 100.0 * float(state.sums[0]) / state.count if state.count else math.nan

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, threshold: float = 1.0, reach_px: float = 40.0
    ) -> Map:
        """100 at conflicts, 0 at other pixels that are judged."""
        found, pixels = _conflicts(estimate, truth, None, threshold, reach_px)
        values = np.full(truth.size, np.nan)
        values[pixels] = 100.0 * found
        return shown(values.reshape(truth.shape), np.ones(truth.shape, bool))


def _conflicts(
    estimate: Map, truth: Map, region: Mask | None, threshold: float, reach_px: float
) -> tuple[NDArray[np.float64], Places]:
    """1 where a pixel is in conflict, 0 where it is not, NaN without an estimate; its place."""
    estimate, truth = same_size(estimate, truth)
    if truth.ndim != 2:
        raise WrongShape(f"neighbours are those of a map (H, W), found {truth.shape}.")
    points = np.isfinite(truth) & whole_region(region, truth)
    pixels, least, most = surrounded(truth, points, reach_px)
    values = estimate.ravel()[pixels]
    limit = np.float32(threshold)
    off = np.maximum(least - values, values - most)
    return np.where(np.isfinite(values), ~(off <= limit), np.nan), pixels
