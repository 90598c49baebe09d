"""How far errors of the calibration move labels and rows, in px of a rectified pair.

The covariance of the calibration is a set of independent errors, each of one standard deviation.
For each of them a point is followed as an exact truth would follow it: its raw position in L and
its matched column in R are facts, the cameras are moved, and the point is projected again through
the rectification as it was estimated. The squares of the differences add up to the variance. They
change slowly over the image and with the distance, so they are computed on a coarse grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.calibration import Calibration
from depthgauge.geometry.projection import project, slopes_at, to_camera
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.types import Map, is_known

Points = NDArray[np.float64]
_GRID = (7, 9)
_LEVELS = 5
_BAND = 256
_STEPS = 4
"""Steps of the search for a depth; each reduces the error by orders of magnitude."""


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """Points whose raw position in L and column in R are known."""

    raw: Points
    """(N, 2) in L."""
    column: Points
    """(N,) in the rectified right image of the balanced pair."""
    depth_m: Points
    """(N,) along L's axis, with the calibration as it is."""


def row_variance(calibration: Calibration, pair: RectifiedPair, disparity: Map) -> Map:
    """Variance of the row at which the match of each pixel lies, px^2; 0 without a covariance.

    Args:
        calibration: With its covariance.
        pair: The balanced pair.
        disparity: Disparities of its left image.
    """

    def row(facts: _Facts, moved: Calibration) -> Points:
        return _match(facts, moved, pair, "R")[:, 1]

    return _variance(calibration, pair, pair, disparity, row)


def unbalanced_variance(
    calibration: Calibration, balanced: RectifiedPair, unbalanced: RectifiedPair, disparity: Map
) -> Map:
    """Variance that the calibration adds to labels of L-C that were measured in L-R, px^2.

    Args:
        calibration: With its covariance; without one the result is 0.
        balanced: The pair that was matched.
        unbalanced: The pair of the labels.
        disparity: The labels, in px of the unbalanced pair's left image.
    """

    def across(facts: _Facts, moved: Calibration) -> Points:
        place = _match(facts, moved, balanced, "C", unbalanced)
        return unbalanced.to_left_size(place)[:, 0]

    return _variance(calibration, balanced, unbalanced, disparity, across)


def _variance(
    calibration: Calibration,
    balanced: RectifiedPair,
    pair: RectifiedPair,
    disparity: Map,
    where: Callable[[_Facts, Calibration], Points],
) -> Map:
    known = is_known(disparity)
    out = np.where(known, np.float32(0), np.float32(np.nan))
    offset = pair.rig().principal_offset_px
    if calibration.covariance is None or not known.any():
        return out
    low, high = (float(v) for v in np.percentile(disparity[known], [0.5, 99.5]))
    low = max(low, 0.5 - offset)
    levels = np.linspace(low, max(high, low + 1.0), _LEVELS)
    width, height = pair.left.camera.size_px
    x, y = np.linspace(0, width - 1, _GRID[1]), np.linspace(0, height - 1, _GRID[0])
    at = np.stack([a.ravel() for a in np.meshgrid(levels, y, x, indexing="ij")], axis=-1)
    facts = _facts(calibration, balanced, pair, at[:, [2, 1]], at[:, 0])
    total = np.zeros(len(at))
    for column in calibration.covariance.directions().T:
        there = [where(facts, calibration.moved(sign * column)) for sign in (0.5, -0.5)]
        total += (there[0] - there[1]) ** 2
    grid = np.nan_to_num(total).reshape(_LEVELS, *_GRID)
    for start in range(0, height, _BAND):
        rows = slice(start, min(start + _BAND, height))
        out[rows] = _interpolated(grid, levels, disparity[rows], rows, (height, width))
    return np.where(known, out, np.float32(np.nan))


def _facts(
    calibration: Calibration,
    balanced: RectifiedPair,
    pair: RectifiedPair,
    place: Points,
    disparity: Points,
) -> _Facts:
    """The points at these positions of a pair's left image, as the calibration sees them."""
    raw = pair.left.to_raw(place)
    near = disparity + pair.rig().principal_offset_px
    depth = pair.left.camera.focal_px[0] * pair.baseline_m / near
    slopes = slopes_at(place, pair.left.camera)
    rectified = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1) * depth[:, None]
    forward = (rectified @ pair.left.rotation)[:, 2]
    facts = _Facts(raw, np.zeros(len(raw)), forward)
    column = balanced.right.from_raw(_seen(facts, calibration, "R", forward))[:, 0]
    return _Facts(raw, column, forward)


def _seen(facts: _Facts, calibration: Calibration, camera: str, depth_m: Points) -> Points:
    """Raw positions in a camera of the points at these depths behind L's pixels."""
    slopes = slopes_at(facts.raw, calibration.cameras["L"])
    points = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1) * depth_m[:, None]
    other = calibration.cameras[camera]
    return np.asarray(project(to_camera(points, other), other), np.float64)


def _match(
    facts: _Facts,
    calibration: Calibration,
    balanced: RectifiedPair,
    camera: str,
    pair: RectifiedPair | None = None,
) -> Points:
    """Where a camera sees the points, after the depth is found from their column in R."""
    inverse = 1 / facts.depth_m
    step = 1e-3 * inverse
    for _ in range(_STEPS):  # the column is almost linear in the inverse of the depth
        now, then = (
            balanced.right.from_raw(_seen(facts, calibration, "R", 1 / value))[:, 0]
            for value in (inverse, inverse + step)
        )
        inverse = inverse + (facts.column - now) * step / (then - now)
    view = (pair or balanced).right
    return view.from_raw(_seen(facts, calibration, camera, 1 / inverse))


def _interpolated(
    grid: Points, levels: Points, disparity: Map, rows: slice, size: tuple[int, int]
) -> Map:
    """The grid's values at all pixels of some rows."""
    height, width = size
    down = _weights(np.arange(rows.start, rows.stop), height, grid.shape[1])
    across = _weights(np.arange(width), width, grid.shape[2])
    planes = np.einsum("ij,kjl,ml->kim", down, grid, across, optimize=True)
    place = (disparity - levels[0]) / (levels[1] - levels[0])
    place = np.clip(np.nan_to_num(place), 0, len(levels) - 1)
    below = np.minimum(place.astype(np.intp), len(levels) - 2)
    share = place - below
    first, second = (np.take_along_axis(planes, (below + n)[None], axis=0)[0] for n in (0, 1))
    return np.asarray(first * (1 - share) + second * share, np.float32)


def _weights(at: NDArray[np.intp], size: int, count: int) -> Points:
    """(len(at), count): weights of linear interpolation between equally distant places."""
    place = at * (count - 1) / max(size - 1, 1)
    return np.asarray(np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(count))))
