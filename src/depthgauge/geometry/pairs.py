"""Pairs of points with a relation: which point is deeper, how two planes are oriented."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.types import Map, Mask

DepthPairs = NDArray[np.int32]
"""(n, 5): xA, yA, xB, yB, relation; +1 where A is deeper, -1 where B is."""
NormalPairs = NDArray[np.float64]
"""(n, 6): xA, yA, xB, yB, relation (`NEITHER`, `PARALLEL`, `ORTHOGONAL`), key from 0 to 1."""
NEITHER, PARALLEL, ORTHOGONAL = 0, 1, 2

_ROUNDS = 20  # a map on which nearly all depths are equal gives fewer pairs, not an endless search


def sample_depth_pairs(
    depth: Map, count: int, seed: int, margin_percent: float = 0.0
) -> DepthPairs:
    """Pairs of pixels with different depths: half anywhere, half on one row.

    The same map, count and seed give the same pairs. A map with too few different depths gives
    fewer pairs.

    Args:
        depth: (H, W), NaN where unknown.
        count: Number of pairs; if it is odd, the extra pair may be anywhere.
        seed: Seed of the random choice.
        margin_percent: The least difference of the two depths, in percent of the smaller one. 0, as
            published, keeps pairs that differ by rounding only.

    >>> pairs = sample_depth_pairs(np.array([[1.0, 1.0, 2.0]], np.float32), 6, seed=0)
    >>> all((order == -1) == (x_b == 2) for x_a, _, x_b, _, order in pairs)
    True
    """
    if depth.ndim != 2:
        raise WrongShape(f"depth is (height, width); this map has shape {depth.shape}.")
    rng = np.random.default_rng(seed)
    known = np.flatnonzero(np.isfinite(depth))
    on_rows = count // 2
    halves = ((count - on_rows, False), (on_rows, True))
    return np.concatenate(
        [_distinct(depth, known, n, rng, margin_percent, by_row=by_row) for n, by_row in halves]
    )


def clear_depth_pairs(pairs: DepthPairs, depth: Map, margin_percent: float) -> DepthPairs:
    """The given pairs without those whose depths differ by less than a margin.

    Args:
        pairs: (n, 5).
        depth: (H, W), the true depth; a pair with an end without depth is kept.
        margin_percent: As in `sample_depth_pairs`.

    >>> pairs = np.array([[0, 0, 1, 0, -1], [0, 0, 2, 0, -1]], np.int32)
    >>> clear_depth_pairs(pairs, np.array([[1.0, 1.001, 2.0]], np.float32), 1.0).tolist()
    [[0, 0, 2, 0, -1]]
    """
    x_a, y_a, x_b, y_b, _ = pairs.T
    first, second = depth[y_a, x_a], depth[y_b, x_b]
    unknown = ~(np.isfinite(first) & np.isfinite(second))
    kept: DepthPairs = pairs[unknown | _differ(first, second, margin_percent)]
    return kept


def _differ(first: Map, second: Map, margin_percent: float) -> NDArray[np.bool_]:
    """Whether depths differ by at least the margin; with no margin, at all."""
    if margin_percent <= 0:
        return np.asarray(first != second)
    low = np.minimum(first, second).astype(np.float64)
    gap = np.abs(first.astype(np.float64) - second.astype(np.float64))
    return np.asarray(gap >= margin_percent / 100 * np.abs(low))


def _distinct(
    depth: Map,
    known: NDArray[np.int64],
    count: int,
    rng: np.random.Generator,
    margin_percent: float,
    *,
    by_row: bool,
) -> DepthPairs:
    """Up to the wanted number of pairs of known pixels with different depths."""
    height, width = depth.shape
    values = depth.ravel()
    rows = known // max(width, 1)
    starts, ends = (np.searchsorted(rows, np.arange(height), side) for side in ("left", "right"))
    found = np.zeros((0, 2), np.int64)
    for _ in range(_ROUNDS if known.size else 0):
        lacking = count - len(found)
        if lacking <= 0:
            break
        first = rng.integers(0, known.size, 2 * lacking)
        low, high = (starts[rows[first]], ends[rows[first]]) if by_row else (0, known.size)
        pair = known[np.stack([first, rng.integers(low, high, first.size)], axis=1)]
        differ = _differ(values[pair[:, 0]], values[pair[:, 1]], margin_percent)
        found = np.concatenate([found, pair[differ][:lacking]])
    (y_a, x_a), (y_b, x_b) = (np.divmod(found[:, end], max(width, 1)) for end in (0, 1))
    deeper = np.where(values[found[:, 0]] > values[found[:, 1]], 1, -1)
    return np.stack([x_a, y_a, x_b, y_b, deeper], axis=1).astype(np.int32)


def sample_normal_pairs(
    labels: NDArray[Any], relations: NDArray[Any], count: int, seed: int
) -> NormalPairs:
    """Pairs of pixels on planes that are parallel, orthogonal, or neither.

    Each relation that occurs gives `count` pairs: two planes with this relation are drawn, then a
    pixel of each plane. The same arguments give the same pairs.

    Args:
        labels: (H, W) plane ids; 0 or NaN where there is none.
        relations: (m, 3): plane id, plane id, relation.
        count: Number of pairs for each relation.
        seed: Seed of the random choice.

    >>> pairs = sample_normal_pairs(np.array([[1.0, 2.0]]), np.array([[1, 2, 2]]), 3, seed=0)
    >>> pairs[:, :5].tolist()
    [[0.0, 0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0, 2.0]]
    """
    ids = np.nan_to_num(np.asarray(labels, np.float64)).astype(np.int64).ravel()
    order = np.argsort(ids, kind="stable")
    table = np.asarray(relations, np.int64).reshape(-1, 3)
    first, last = (np.searchsorted(ids[order], table[:, :2], side) for side in ("left", "right"))
    rng = np.random.default_rng([seed, _fingerprint(ids, table)])
    drawn = []
    for relation in (NEITHER, PARALLEL, ORTHOGONAL):
        (usable,) = np.nonzero((table[:, 2] == relation) & (first < last).all(axis=1))
        if usable.size:
            chosen = rng.choice(usable, count)
            pixels = order[rng.integers(first[chosen], last[chosen])]
            y, x = np.divmod(pixels, labels.shape[1])
            same = np.full(count, relation)
            drawn.append(np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1], same], axis=1))
    pairs = np.concatenate(drawn) if drawn else np.zeros((0, 5))
    return _keyed(pairs, rng)


def keyed_normal_pairs(pairs: NDArray[Any], seed: int) -> NormalPairs:
    """Adds to given pairs (xA, yA, xB, yB, relation) the key that orders them in a dataset."""
    table = np.asarray(pairs, np.int64).reshape(-1, 5)
    return _keyed(table, np.random.default_rng([seed, _fingerprint(table)]))


def _keyed(pairs: NDArray[Any], rng: np.random.Generator) -> NormalPairs:
    return np.column_stack([pairs.astype(np.float64), rng.random(len(pairs))])


def _fingerprint(*arrays: NDArray[np.int64]) -> int:
    """Differs between samples; with equal numbers, each would give only its first pairs."""
    found = 0
    for array in arrays:
        found = zlib.crc32(np.ascontiguousarray(array).tobytes(), found)
    return found


def ends_inside(pairs: NDArray[Any], region: Mask | None, truth: Map) -> NDArray[np.bool_]:
    """Which pairs have both ends in a region.

    Relations are also known at pixels where the map has no truth. Such pixels are in no region, but
    they do not exclude a pair.

    Args:
        pairs: (n, 5) or more: xA, yA, xB, yB ...
        region: The region; None for the whole image.
        truth: The map from which the region was computed.

    Raises:
        WrongShape: An end lies outside the map.
    """
    height, width = truth.shape[:2]
    ends = np.asarray(pairs[:, :4], np.int64)
    outside = (ends < 0) | (ends >= [width, height, width, height])
    if outside.any():
        x_a, y_a, x_b, y_b = (int(v) for v in ends[outside.any(axis=1)][0])
        raise WrongShape(
            f"the pair ({x_a}, {y_a}), ({x_b}, {y_b}) lies outside the map, which is {width} wide "
            f"and {height} high; give x before y, counted from 0."
        )
    if region is None:
        return np.ones(len(ends), np.bool_)
    known = np.isfinite(truth) if truth.ndim == 2 else np.isfinite(truth).all(axis=2)
    open_ = np.asarray(region, bool) | ~known
    return np.asarray(open_[ends[:, 1], ends[:, 0]] & open_[ends[:, 3], ends[:, 2]])
