"""Pairs of points whose order in depth follows from what a person drew.

A reconstruction has one depth map, but the records do not determine all of it. The scale of each
continuous surface is the smallest that keeps the orders at occlusions; any larger scale of a far
surface would do as well. So the order of two points is certain if they lie on one surface, or if it
holds for all scales that the orders allow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._depth_pairs import groups_of, order_pairs
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.geometry.pairs import DepthPairs, sample_depth_pairs
from depthgauge.types import Map

Array = NDArray[np.float64]

MARGIN_PERCENT = 1.0
"""Least difference of the depths of a pair. Smaller ones are within the errors of hand-drawn lines,
and those of a plane that faces the viewer come from the solver's tolerance."""
_LEFT_OUT = 0.1
"""Share of each stroke's pixels, the most demanding ones, that bounds are not derived from."""
_ROUNDS = 20


def certain_depth_pairs(
    made: Reconstruction, count: int, seed: int, margin_percent: float = MARGIN_PERCENT
) -> DepthPairs:
    """Pairs of pixels, half of them anywhere and half on one row, whose order is certain.

    The same arguments give the same pairs; a picture with too few of them gives fewer.

    Args:
        made: The reconstruction.
        count: Number of pairs.
        seed: Seed of the random choice.
        margin_percent: The least difference of the two depths, in percent of the smaller one, for
            all scales that the orders allow.
    """
    bounds, depth = scale_bounds(made), _unscaled(made)
    halves: list[list[DepthPairs]] = [[], []]
    wanted = (count - count // 2, count // 2)
    for turn in range(_ROUNDS):
        drawn = sample_depth_pairs(made.depth, 2 * count, _ROUNDS * seed + turn, margin_percent)
        rows = len(drawn) - count  # the second half of what is drawn lies on one row
        for half, pairs in zip(halves, (drawn[:rows], drawn[rows:]), strict=True):
            half.append(_certain(pairs, bounds, depth, made, margin_percent))
        if all(sum(map(len, half)) >= n for half, n in zip(halves, wanted, strict=True)):
            break
    return np.concatenate(
        [np.concatenate(half)[:n] for half, n in zip(halves, wanted, strict=True)]
    )


def scale_bounds(made: Reconstruction) -> Array:
    """(n + 1, n + 1): ln of the least factor from the scale of one surface to that of another.

    Row and column are numbers of continuous surfaces; -inf where the orders say nothing. The factor
    is between scales of depths whose geometric mean is 1. Orders that do not hold are not used.
    """
    names = made.strokes
    depth = _unscaled(made)
    count = int(made.segmentation.continuous.max(initial=0)) + 1
    bounds = np.full((count, count), -np.inf)
    for group in groups_of(order_pairs(made.segmentation, depth), _LEFT_OUT):
        if group.near != group.far and names[group.stroke] not in made.violated:
            known = bounds[group.near, group.far]
            bounds[group.near, group.far] = max(known, group.log_ratio)
    np.fill_diagonal(bounds, 0.0)
    # The least factor over a chain of orders is the product of theirs (Floyd and Warshall).
    for middle in range(count):
        np.maximum(bounds, bounds[:, middle, None] + bounds[None, middle], out=bounds)
    return bounds


def _certain(
    pairs: DepthPairs, bounds: Array, depth: Map, made: Reconstruction, margin_percent: float
) -> DepthPairs:
    """Those whose order holds by the margin with the least scale of the deeper point's surface."""
    swapped = np.where(pairs[:, 4:] > 0, pairs[:, [2, 3, 0, 1]], pairs[:, :4])
    x_near, y_near, x_far, y_far = swapped.T
    surfaces = made.segmentation.continuous
    least = bounds[surfaces[y_near, x_near], surfaces[y_far, x_far]]
    with np.errstate(divide="ignore"):
        ratio = np.log(depth[y_far, x_far]) - np.log(depth[y_near, x_near])
    certain = least + ratio >= np.log1p(margin_percent / 100)
    return np.asarray(pairs[certain], np.int32)


def _unscaled(made: Reconstruction) -> Map:
    table = np.ones(int(made.segmentation.continuous.max(initial=0)) + 1)
    for surface, scale in made.scales.items():
        table[surface] = scale
    return (made.depth / table[made.segmentation.continuous]).astype(np.float32)
