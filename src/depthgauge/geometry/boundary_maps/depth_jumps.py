"""Edges of a depth map: by Canny's detector, and as jumps of neighbours by a factor.

Jumps are found between neighbours in four directions; a jump belongs to the pair of pixels, not to
a pixel, so that each direction is a map one pixel narrower or lower than the depth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, Mask

CANNY_SIGMA = math.sqrt(2.0)
CANNY_LOW, CANNY_HIGH = 0.1, 0.2
"""Of the depth scaled to 0..1, as iBims' evaluation has them."""

Jumps = tuple[Mask, Mask, Mask, Mask]
"""Pairs whose left, upper, right, lower pixel is nearer."""


def canny_edges(depth: NDArray[np.generic]) -> Mask:
    """Edges by Canny's detector in the depth scaled to 0..1; missing pixels have none around them.

    Args:
        depth: (H, W), NaN where missing.

    Returns:
        bool (H, W); nothing where the depth is constant or unknown.
    """
    from skimage.feature import canny

    values = np.asarray(depth, np.float64)
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(values.shape, bool)
    low, high = float(values[known].min()), float(values[known].max())
    if high <= low:
        return np.zeros(values.shape, bool)
    scaled = np.where(known, (values - low) / (high - low), np.nan)
    with np.errstate(invalid="ignore"):
        found = canny(scaled, CANNY_SIGMA, low_threshold=CANNY_LOW, high_threshold=CANNY_HIGH)
    return np.asarray(found, bool)


def ratios(nearness: NDArray[np.generic]) -> tuple[NDArray[np.float64], ...]:
    """By what factor the left, upper, right, lower pixel of each pair exceeds the other one.

    Args:
        nearness: (H, W), inverse depth.
    """
    d = np.asarray(nearness, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        across, down = d[:, 1:] / d[:, :-1], d[1:] / d[:-1]
        return d[:, :-1] / d[:, 1:], d[:-1] / d[1:], across, down


def jumps(nearness: NDArray[np.generic], factor: float) -> Jumps:
    """Pairs of neighbours whose nearness differs by more than a factor, in each direction."""
    left, upper, right, lower = (found > factor for found in ratios(nearness))
    return left, upper, right, lower


def thin_jumps(nearness: NDArray[np.generic], factor: float) -> Jumps:
    """The same, where only the largest of consecutive jumps along the direction is kept."""
    left, upper, right, lower = ratios(nearness)
    return (
        largest_of_runs(left, factor),
        largest_of_runs(upper.T, factor).T,
        largest_of_runs(right, factor),
        largest_of_runs(lower.T, factor).T,
    )


def largest_of_runs(values: NDArray[np.float64], limit: float) -> Mask:
    """Of each run of values above the limit in a row, the first of the largest.

    >>> largest_of_runs(np.array([[0.0, 2.0, 3.0, 3.0, 0.0, 2.0]]), 1.0).tolist()
    [[False, False, True, False, False, True]]
    """
    above = values > limit
    places = np.flatnonzero(above)
    if not places.size:
        return above
    columns = values.shape[1]
    begins = np.ones(places.size, bool)
    begins[1:] = (np.diff(places) > 1) | (places[1:] % columns == 0)
    starts = np.flatnonzero(begins)
    found = values.ravel()[places]
    lengths = np.diff(starts, append=places.size)
    largest = np.flatnonzero(found == np.repeat(np.maximum.reduceat(found, starts), lengths))
    _, first = np.unique(np.cumsum(begins)[largest], return_index=True)
    kept = np.zeros(values.size, bool)
    kept[places[largest[first]]] = True
    return kept.reshape(values.shape)


def mask_steps(mask: Mask) -> Jumps:
    """Pairs of which only the left, upper, right, lower pixel is inside a mask."""
    m = np.asarray(mask, bool)
    return (
        m[:, :-1] & ~m[:, 1:],
        m[:-1] & ~m[1:],
        m[:, 1:] & ~m[:, :-1],
        m[1:] & ~m[:-1],
    )


def nearness(depth: Map | NDArray[np.float64], least_m: float = 1e-6) -> NDArray[np.float64]:
    """Inverse depth; depths below the least become it, and NaN stays."""
    return np.asarray(1.0 / np.maximum(np.asarray(depth, np.float64), least_m))
