"""Pairs of pixels across occlusions, and which of them are binding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.segmentation import FOLD, Segmentation
from depthgauge.types import Map

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

_REACHES_PX = (1.0, 1.5, 2.0, 3.0)
"""Distances from the line at which the far side is searched; the first that finds it counts."""
_FEW, _FEWER = 2, 3
"""A group of at most this many pairs is an accident of pixels at a junction if the same stroke has
another group this many times as large."""

_BEHIND = 0.005
"""Share of the depth: within one surface, a smaller difference may come from the pixel grid."""


@dataclass(frozen=True)
class Pairs:
    """p on the closer side of an occlusion, q on the far side; one entry per pair."""

    near: Numbers
    far: Numbers
    """Numbers of the continuous surfaces."""
    stroke: Numbers
    near_depth: Array
    far_depth: Array


@dataclass(frozen=True)
class Group:
    """The binding pairs of one stroke between the same two surfaces."""

    near: int
    far: int
    stroke: int
    near_depth: Array
    far_depth: Array
    log_ratio: float
    """The largest ln(z_p / z_q): the far surface must be scaled up by at least this factor."""
    mostly_wrong: bool
    """Whether the closer side is clearly behind in most pairs, before any scaling."""
    length: int
    """How many pairs there were, before those that imply the others were chosen."""


def order_pairs(segmentation: Segmentation, depth: Map) -> Pairs:
    """For each occlusion pixel: the pixel itself, owned by the closer side, and one beyond it.

    What lies beyond another occlusion is not the far side; it is used only for a stroke that has
    other occlusions behind it all along.
    """
    ys, xs = np.nonzero((segmentation.kind > FOLD) & np.isfinite(depth))
    toward = segmentation.toward[ys, xs].astype(np.float64)
    own = segmentation.stroke[ys, xs]
    far_y, far_x = np.full(len(ys), -1), np.full(len(ys), -1)
    hidden = np.zeros(len(ys), np.bool_)
    height, width = depth.shape
    for reach in _REACHES_PX:
        qx = np.floor(xs - reach * toward[:, 0] + 0.5).astype(np.int64)
        qy = np.floor(ys - reach * toward[:, 1] + 0.5).astype(np.int64)
        inside = (far_x < 0) & (qx >= 0) & (qy >= 0) & (qx < width) & (qy < height)
        inside &= toward.any(axis=1)
        at = np.flatnonzero(inside)
        line = segmentation.kind[qy[at], qx[at]] > FOLD
        good = ~line & np.isfinite(depth[qy[at], qx[at]])
        far_x[at[good]], far_y[at[good]] = qx[at[good]], qy[at[good]]
        hidden[at] |= line & (segmentation.stroke[qy[at], qx[at]] != own[at])
    found = far_x >= 0
    clear = np.bincount(own[found & ~hidden], minlength=int(own.max(initial=0)) + 1) > 0
    kept = found & (~hidden | ~clear[own])
    ys, xs, far_y, far_x = ys[kept], xs[kept], far_y[kept], far_x[kept]
    return Pairs(
        segmentation.continuous[ys, xs].astype(np.int64),
        segmentation.continuous[far_y, far_x].astype(np.int64),
        segmentation.stroke[ys, xs].astype(np.int64),
        depth[ys, xs].astype(np.float64),
        depth[far_y, far_x].astype(np.float64),
    )


def groups_of(pairs: Pairs, left_out: float = 0.0) -> list[Group]:
    """Pairs grouped by stroke and surfaces, without accidents, reduced to those that are binding.

    Args:
        pairs: All of them.
        left_out: The share of each group's pairs, those with the largest z_p / z_q, to ignore.
    """
    keys = np.stack([pairs.stroke, pairs.near, pairs.far], axis=1)
    names, members, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(members.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(counts)[:-1]) if len(counts) else []
    largest: dict[int, int] = {}
    for stroke, count in zip(names[:, 0].tolist(), counts.tolist(), strict=True):
        largest[stroke] = max(count, largest.get(stroke, 0))
    groups = []
    for (stroke, near, far), part in zip(names.tolist(), parts, strict=True):
        if len(part) <= _FEW and len(part) * _FEWER <= largest[stroke]:
            continue
        ratio = pairs.near_depth[part] / pairs.far_depth[part]
        part = part[np.argsort(ratio, kind="stable")[: len(part) - int(left_out * len(part))]]
        p, q = pairs.near_depth[part], pairs.far_depth[part]
        bind = binding(p, q)
        groups.append(
            Group(
                near,
                far,
                stroke,
                p[bind],
                q[bind],
                float(np.log(p / q).max()),
                bool(np.median((p - q) / q) > _BEHIND),
                len(part),
            )
        )
    return groups


def binding(near_depth: Array, far_depth: Array) -> Numbers:
    """Indices of the pairs that imply all others.

    For positive a and b, a z_p + e <= b z_q holds for all pairs if it holds for those on the hull
    of the points (z_q, z_p) towards small z_q and large z_p.

    >>> binding(np.array([1.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    array([0, 1])
    """
    hull: list[int] = []
    for i in np.lexsort((-near_depth, far_depth)).tolist():
        if hull and near_depth[i] <= near_depth[hull[-1]]:
            continue
        while len(hull) > 1 and not _turns_right(near_depth, far_depth, hull[-2], hull[-1], i):
            hull.pop()
        hull.append(i)
    return np.array(sorted(hull), np.int64)


def _turns_right(near: Array, far: Array, a: int, b: int, c: int) -> bool:
    return bool((far[b] - far[a]) * (near[c] - near[a]) < (near[b] - near[a]) * (far[c] - far[a]))
