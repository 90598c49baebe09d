"""Which pixels of two sets belong together: one-to-one, within a radius, as many as possible.

The matching is of the largest possible size; the common evaluators approximate it with a random
method and lose up to half a percent. Among the largest ones it is found in a fixed order:

1. Pairs that are 0 px apart, then those 1 px apart, and so on. At the same distance an estimated
   pixel prefers the true pixel below it, and in a row the one farther left; so no two prefer the
   same one.
2. The shortest augmenting path from each remaining pixel, in raster order; those that find none
   nearby are treated together, by the algorithm of Hopcroft and Karp. The paths start at estimated
   pixels, or at true ones if fewer of those remain.
3. A remaining estimated pixel takes over a true one whose mate is farther away, until this is no
   longer possible.

So nearer pixels are preferred, as in the usual assignment of least cost. Which estimated pixels
have a mate matters if several people marked a picture: a pixel matched for any of them is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.types import Mask

COUNTS = 4
"""For a threshold: true pixels matched, true pixels, estimated pixels matched, estimated pixels."""
_LARGEST_RADIUS = 0.1
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class _Frame:
    """A flattened plane with an empty border as wide as the radius, and the steps within it."""

    shape: tuple[int, int]
    border: int
    steps: NDArray[np.int64]
    """Steps to all pixels within the radius, in order of preference."""
    squares: NDArray[np.int64]
    """Squared lengths of the steps, px^2."""

    @property
    def stride(self) -> int:
        return self.shape[1] + 2 * self.border

    def plane(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.pad(values, self.border).reshape(-1)

    def pixels(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns in the picture of places in the plane."""
        y, x = np.divmod(places, self.stride)
        return y - self.border, x - self.border

    def numbered(self, mask: Mask) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Places of a set's pixels in raster order, and the plane that holds their numbers."""
        places = np.flatnonzero(self.plane(mask))
        numbers = np.full(self.plane(mask).size, -1, np.int32)
        numbers[places] = np.arange(places.size)
        return places, numbers

    def reach(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A plane that marks what lies within the radius of these places."""
        from depthgauge.metrics.kernels.matching import mark_reach

        plane = np.zeros((self.shape[0] + 2 * self.border) * self.stride, bool)
        mark_reach(places, self.steps, plane)
        return plane


def _frame(shape: tuple[int, ...], radius_px: float) -> _Frame:
    height, width = shape[:2]
    border = max(1, math.ceil(radius_px))
    along = np.arange(-border, border + 1)
    dy, dx = np.meshgrid(along, along, indexing="ij")
    squares = dy * dy + dx * dx
    # A pixel at exactly the radius is within it, even if the radius was rounded.
    within = squares <= radius_px * radius_px * (1 + 1e-12)
    dy, dx, squares = dy[within], dx[within], squares[within]
    order = np.lexsort((dx, -dy, squares))
    steps = (dy * (width + 2 * border) + dx)[order]
    return _Frame((height, width), border, steps, squares[order])


def radius_in_px(shape: tuple[int, ...], radius: float) -> float:
    """The matching radius in a picture: a share of its diagonal.

    >>> radius_in_px((320, 240), 0.0075)
    3.0
    """
    if radius > _LARGEST_RADIUS:
        raise BadScoreId(
            f"radius is {radius}, a share of the picture's diagonal; it must be at most "
            f"{_LARGEST_RADIUS} (0.0075 is usual)."
        )
    return radius * math.hypot(shape[0], shape[1])


def threshold_values(thresholds: int) -> NDArray[np.float64]:
    """The thresholds k / (K + 1), k = 1 ... K.

    They are added up as MATLAB's `linspace` does: if a code is exactly at a threshold (85 / 255
    and 1 / 3), the last bit decides, and it must be the same as in published numbers.

    >>> threshold_values(4)
    array([0.2, 0.4, 0.6, 0.8])
    """
    if thresholds < 1:
        raise BadScoreId(f"thresholds is {thresholds}, but there must be at least one.")
    first = 1 / (thresholds + 1)
    last = 1 - first
    between = np.arange(thresholds) * (last - first) / max(thresholds - 1, 1)
    return np.append((first + between)[:-1], last)


def least_codes(thresholds: int) -> NDArray[np.int64]:
    """The smallest 8-bit code that reaches each threshold.

    >>> least_codes(5)
    array([ 43,  86, 128, 170, 213])
    """
    return np.searchsorted(np.arange(256) / 255, threshold_values(thresholds)).astype(np.int64)


def count_curve(
    codes: NDArray[np.uint8], truths: Sequence[Mask], *, thresholds: int, radius: float
) -> NDArray[np.int64]:
    """The four counts at each threshold.

    At each threshold, the estimated pixels that reach it are thinned to lines and matched with each
    truth separately; the truths are used as they are. True pixels count once for each truth; an
    estimated pixel counts as matched if it is in any of the matchings.

    Args:
        codes: (H, W), probability * 255.
        truths: One or more masks (H, W).
        thresholds: K; they are k / (K + 1).
        radius: Share of the diagonal.

    Returns:
        (K, 4): true pixels matched, true pixels, estimated pixels matched, estimated pixels.

    Raises:
        WrongShape: The sizes differ.
    """
    from depthgauge.geometry.boundary_maps._thinning_kernels import DELETABLE
    from depthgauge.metrics.kernels.boundaries import count_matches

    _need_sizes(codes, truths)
    frame = _frame(codes.shape, radius_in_px(codes.shape, radius))
    numbered = [frame.numbered(truth) for truth in truths]
    starts = np.cumsum([0, *(places.size for places, _ in numbered)])
    true_places = np.concatenate([places for places, _ in numbered])
    true_at = np.stack([numbers for _, numbers in numbered])
    reach = np.stack([frame.reach(places) for places, _ in numbered])
    plane = frame.plane(codes)
    levels, which = _distinct(codes, least_codes(thresholds))
    # Low thresholds take longest. In this order every worker gets some of each kind.
    order = np.argsort(np.arange(levels.size) * _GOLDEN_RATIO % 1, kind="stable")
    counts = np.zeros((levels.size, COUNTS), np.int64)
    truth = (true_places, starts, true_at, reach)
    ways = (frame.steps, frame.squares, frame.stride)
    found = np.flatnonzero(plane)
    count_matches(plane, found, levels[order], *truth, *ways, DELETABLE, counts)
    in_order = np.zeros_like(counts)
    in_order[order] = counts
    return np.asarray(in_order[which])


def _distinct(
    codes: NDArray[np.uint8], levels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Levels that give different sets of pixels, and the index of each threshold's level."""
    present = np.append(np.unique(codes).astype(np.int64), 256)
    reached = present[np.searchsorted(present, levels)]
    distinct, which = np.unique(reached, return_inverse=True)
    return distinct, which


def match_pixels(estimate: Mask, truth: Mask, *, radius: float) -> tuple[Mask, Mask]:
    """The pixels of both sets that have a mate in a largest matching; the module says which one.

    Args:
        estimate: (H, W).
        truth: (H, W).
        radius: Share of the diagonal.

    >>> line, other = np.zeros((2, 30, 40), bool)
    >>> line[10, 5:35], other[10, 5:20] = True, True
    >>> [int(matched.sum()) for matched in match_pixels(line, other, radius=0.02)]
    [15, 15]
    """
    matched = np.zeros((2, *estimate.shape), bool)
    y, x, true_y, true_x = matched_pairs(estimate, truth, radius=radius).T
    matched[0, y, x], matched[1, true_y, true_x] = True, True
    return matched[0], matched[1]


def matched_pairs(estimate: Mask, truth: Mask, *, radius: float) -> NDArray[np.int64]:
    """The pairs of that matching, (n, 4): row and column of an estimated pixel and of its mate.

    Args:
        estimate: (H, W).
        truth: (H, W).
        radius: Share of the diagonal.
    """
    from depthgauge.metrics.kernels.matching import match_sets

    _need_sizes(estimate, [truth])
    frame = _frame(estimate.shape, radius_in_px(estimate.shape, radius))
    places, at = frame.numbered(estimate)
    true_places, true_at = frame.numbered(truth)
    mates = np.full(places.size, -1, np.int64)
    true_mates = np.full(true_places.size, -1, np.int64)
    ways = (frame.steps, frame.squares, frame.stride)
    reach = frame.reach(true_places)
    match_sets(places, at, true_places, true_at, reach, *ways, mates, true_mates)
    matched = mates >= 0
    ends = (*frame.pixels(places[matched]), *frame.pixels(true_places[mates[matched]]))
    return np.stack(ends, axis=1)


def _need_sizes(estimate: NDArray[np.generic], truths: Sequence[Mask]) -> None:
    for truth in truths:
        if truth.shape != estimate.shape or truth.ndim != 2:
            raise WrongShape(
                f"an estimate of boundaries is {estimate.shape} but its truth is {truth.shape}; "
                "both must be (H, W) of the same size."
            )
