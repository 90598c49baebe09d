"""Where surfaces end: exact depth steps between neighbouring pixels, and the pieces they bound.

Between two pixels that see different things, the position of the border is found by bisection on
the ray between them, and the depths just before and just behind it are compared. So a fold (no
step) and an occlusion (a step) are distinguished without a threshold on slopes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.single_views._view import Labels
from depthgauge.types import Map, Mask

Floats = NDArray[np.float64]
Probe = Callable[[Floats, Floats], tuple[Floats, NDArray[Any]]]
"""Depth and number of the thing at image positions x, y."""
ATTACHED = 3e-3
"""Surfaces whose depths differ by less than this share at a border touch there."""
SAME_SURFACE_DEG = 2.0
"""Attached surfaces whose normals differ by less are one surface."""
_HALVINGS = 24
_FLAT_DEG, _BENT_SHARE = 1.0, 0.05
"""A piece is flat if fewer than this share of its normals are this far from their mean."""
_BENT = 0.02
"""Relative depth steps within one thing above this are examined."""


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """Depth steps across the borders between pixels; 0 where there is none."""

    right: Map
    down: Map

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Borders:
        """No step anywhere."""
        height, width = shape
        return cls(
            np.zeros((height, width - 1), np.float32), np.zeros((height - 1, width), np.float32)
        )


def exact_gaps(probe: Probe, depth: Floats, which: NDArray[Any], normals: Floats) -> Borders:
    """The depth steps between neighbours.

    Args:
        probe: What the ray through any image position meets.
        depth: (H, W) at pixel centres.
        which: (H, W) numbers of things there.
        normals: (H, W, 3) there; where they are known, a thing may hide part of itself.
    """
    return Borders(
        _gaps(probe, depth, which, normals, (0, 1)), _gaps(probe, depth, which, normals, (1, 0))
    )


def _gaps(
    probe: Probe, depth: Floats, which: NDArray[Any], normals: Floats, way: tuple[int, int]
) -> Map:
    here, there = _sides(way)
    jump = np.abs(depth[there] - depth[here]) > _BENT * np.minimum(depth[there], depth[here])
    turned = np.einsum("ijk,ijk->ij", normals[here], normals[there]) < 0.5
    y, x = np.nonzero((which[here] != which[there]) | jump | turned)
    gap = np.zeros(jump.shape, np.float32)
    if not x.size:
        return gap
    first = x.astype(np.float64), y.astype(np.float64)
    last = first[0] + way[1], first[1] + way[0]
    near, behind = _step_from(probe, first, last)
    far, before = _step_from(probe, last, first)
    # A thing narrower than a pixel between them has two borders: the larger step decides.
    one, other = behind - near, far - before
    step = np.where(np.abs(one) >= np.abs(other), one, other)
    step[np.abs(step) <= ATTACHED * np.minimum(near, far)] = 0
    gap[y, x] = step
    return gap


def _step_from(
    probe: Probe, start: tuple[Floats, Floats], end: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Depths just before and just behind where the thing seen at the start ends.

    Where the same thing is seen all the way, the largest step on the way.
    """
    depth, thing = probe(*start)
    depth_end, thing_end = probe(*end)
    low, high = np.zeros(depth.size), np.ones(depth.size)
    before, behind = depth.copy(), depth_end.copy()
    same = thing == thing_end
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        now, what = probe(x, y)
        # Within one thing the half with the larger step is kept.
        left = np.where(same, np.abs(now - before) < np.abs(behind - now), what == thing)
        low, high = np.where(left, share, low), np.where(left, high, share)
        before, behind = np.where(left, now, before), np.where(left, behind, now)
    return before, behind


def pieces(borders: Borders, which: NDArray[Any], normals: Floats) -> tuple[Labels, Labels]:
    """Smooth and continuous surfaces as connected pieces of the image, numbered from 1."""
    smooth, continuous = [], []
    for gap, way in ((borders.right, (0, 1)), (borders.down, (1, 0))):
        here, there = _sides(way)
        seen = (which[here] >= 0) & (which[there] >= 0)
        attached = seen & (gap == 0)
        cosine = np.einsum("ijk,ijk->ij", normals[here], normals[there])
        flush = cosine > np.cos(np.radians(SAME_SURFACE_DEG))
        continuous.append(attached)
        smooth.append(attached & ((which[here] == which[there]) | flush))
    seen_at = which >= 0
    return linked(smooth[0], smooth[1], seen_at), linked(continuous[0], continuous[1], seen_at)


def linked(right: Mask, down: Mask, seen: Mask) -> Labels:
    """Numbers of the pieces that links between neighbours make; 0 where nothing is seen."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    index = np.arange(seen.size).reshape(seen.shape)
    a = np.concatenate([index[:, :-1][right], index[:-1][down]])
    b = np.concatenate([index[:, 1:][right], index[1:][down]])
    links = coo_matrix((np.ones(a.size, np.int8), (a, b)), shape=(seen.size, seen.size))
    numbers = connected_components(links, directed=False)[1].reshape(seen.shape)
    return renumbered(np.where(seen, numbers + 1, 0))


def renumbered(labels: NDArray[Any]) -> Labels:
    """The same pieces numbered 1, 2, ... in the order of their first pixel; 0 stays."""
    flat = labels.ravel()
    values, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(np.where(values == 0, -1, first), kind="stable")
    rank = np.zeros(values.size, np.int32)
    rank[order] = np.arange(values.size) + (0 if (values == 0).any() else 1)
    return rank[inverse].reshape(labels.shape)


def flat_pieces(smooth: Labels, normals: NDArray[Any]) -> dict[int, bool]:
    """For each piece, whether almost all of its normals are equal."""
    flat = smooth.ravel()
    vectors = np.nan_to_num(normals.reshape(-1, 3).astype(np.float64))
    count = np.bincount(flat)
    sums = [np.bincount(flat, weights=vectors[:, i]) for i in range(3)]
    mean = np.stack(sums, axis=-1).astype(np.float64)
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    off = np.einsum("ij,ij->i", vectors, mean[flat]) < np.cos(np.radians(_FLAT_DEG))
    bent = np.bincount(flat, weights=off, minlength=count.size)
    return {n: bool(bent[n] < _BENT_SHARE * count[n]) for n in range(1, count.size)}


def _sides(way: tuple[int, int]) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """The pixels that have a neighbour in a direction, and those neighbours."""
    if way == (0, 1):
        return np.s_[:, :-1], np.s_[:, 1:]
    return np.s_[:-1, :], np.s_[1:, :]
