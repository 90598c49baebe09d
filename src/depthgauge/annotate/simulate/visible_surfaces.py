"""The surfaces of a view that a person sees: those that are large enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.simulate._depth_steps import estimated_gaps, plane_depth, ray_slopes
from depthgauge.synth.sets.single_views import SAME_SURFACE_DEG, ExactView
from depthgauge.types import Map, Mask

_SIDES = ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1, :], np.s_[1:, :]))
"""Pixels and their neighbours to the right, and below."""
_NEAR_PX = 8
_FLUSH_SHARE = 0.6
"""Two pieces are one surface if this share of their common border has no step and no fold."""


@dataclass(frozen=True, slots=True, eq=False)
class VisibleSurfaces:
    """The surfaces of a view; those too small to draw are assigned to their neighbours."""

    labels: NDArray[np.int32]
    """(H, W), 0 outside the region."""
    depth: Map
    normals: Map
    gap_right: Map
    gap_down: Map
    planar: Mapping[int, bool]
    own: Mask
    """Pixels that a surface had before others were assigned to it."""


def visible_surfaces(
    view: ExactView, region: Mask, smallest_px: int, thinnest_px: float
) -> VisibleSurfaces:
    """The surfaces within a region that are large and thick enough."""
    labels = np.where(region, view.smooth_labels, 0)
    small = _small(labels, smallest_px, thinnest_px)
    if not small.any() or not ((labels > 0) & ~small).any():
        gaps = view.gap_right, view.gap_down
        return VisibleSurfaces(labels, view.depth, view.normals, *gaps, view.planar, labels > 0)
    given, depth, normals = _given_away(view, labels, small)
    gaps = _new_gaps(view, given, depth, normals, small)
    merged = _merged(given, normals, gaps, small)
    return VisibleSurfaces(merged, depth, normals, *gaps, view.planar, (labels > 0) & ~small)


def _small(labels: NDArray[np.int32], smallest_px: int, thinnest_px: float) -> Mask:
    """Pixels of pieces that are too small or nowhere thick enough."""
    from scipy import ndimage

    inner = np.ones(labels.shape, bool)
    across, along = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    inner[:, 1:] &= ~across
    inner[:, :-1] &= ~across
    inner[1:] &= ~along
    inner[:-1] &= ~along
    reach = ndimage.distance_transform_edt(inner) if not inner.all() else np.full(labels.shape, 1e9)
    count = np.bincount(labels.ravel())
    numbers = np.arange(count.size)
    thick = 2 * np.asarray(ndimage.maximum(reach, labels, numbers)) + 1
    bad = (count < smallest_px) | (thick < thinnest_px)
    bad[0] = False
    return np.asarray(bad[labels])


def _given_away(
    view: ExactView, labels: NDArray[np.int32], small: Mask
) -> tuple[NDArray[np.int32], Map, Map]:
    """Small pieces become parts of the surfaces beside them; each pixel joins the nearest."""
    rows, columns = _heirs(view, labels, small)
    source = rows[small], columns[small]
    slopes = ray_slopes(view.camera, view.depth.shape)
    given, depth, normals = labels.copy(), view.depth.copy(), view.normals.copy()
    given[small] = labels[source]
    normals[small] = view.normals[source]
    there = plane_depth(
        view.depth[source], view.normals[source].astype(np.float64), slopes[source], slopes[small]
    )
    # A tangent plane that diverges is useless; there the surface keeps its depth.
    near = view.depth[source]
    depth[small] = np.where(np.abs(there - near) < 0.2 * near, there, near)
    return given, depth, normals


def _heirs(
    view: ExactView, labels: NDArray[np.int32], small: Mask
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For every small pixel, row and column of the pixel whose surface it joins.

    That surface is attached to its piece, or else behind it, so that the outline of what is in
    front stays. If neither is near, it is the nearest pixel of any surface.
    """
    from scipy import ndimage

    kept = (labels > 0) & ~small
    rows, columns = _nearest(kept)
    wanted = _wanted(view, labels, small)
    for number, box in enumerate(ndimage.find_objects(np.where(small, labels, 0)), start=1):
        if box is None or number not in wanted:
            continue
        top, left = (max(0, side.start - _NEAR_PX) for side in box)
        part = np.s_[top : box[0].stop + _NEAR_PX, left : box[1].stop + _NEAR_PX]
        mine = labels[part] == number
        near_rows, near_columns = _nearest(kept[part] & np.isin(labels[part], wanted[number]))
        rows[part][mine] = near_rows[mine] + top
        columns[part][mine] = near_columns[mine] + left
    return rows, columns


def _nearest(chosen: Mask) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Row and column of the nearest chosen pixel."""
    from scipy import ndimage

    rows, columns = ndimage.distance_transform_edt(
        ~chosen, return_distances=False, return_indices=True
    )
    return rows, columns


def _wanted(view: ExactView, labels: NDArray[np.int32], small: Mask) -> dict[int, list[int]]:
    """For each small piece, the large ones attached to it, or else those behind it."""
    attached: dict[int, set[int]] = {}
    behind: dict[int, set[int]] = {}
    for gap, (here, there) in zip((view.gap_right, view.gap_down), _SIDES, strict=True):
        for own, other, sign in ((here, there, 1), (there, here, -1)):
            border = small[own] & ~small[other] & (labels[other] > 0)
            step = sign * gap[border]
            found = np.stack([labels[own][border], labels[other][border]], axis=-1)
            for piece, large in np.unique(found[step == 0], axis=0):
                attached.setdefault(int(piece), set()).add(int(large))
            for piece, large in np.unique(found[step > 0], axis=0):
                behind.setdefault(int(piece), set()).add(int(large))
    return {piece: sorted(large) for piece, large in {**behind, **attached}.items()}


def _new_gaps(
    view: ExactView, labels: NDArray[np.int32], depth: Map, normals: Map, small: Mask
) -> tuple[Map, Map]:
    """Exact steps where nothing was reassigned, estimated ones elsewhere."""
    estimated = estimated_gaps(depth, normals, labels, view.planar, view.camera)
    touched = small[:, 1:] | small[:, :-1], small[1:] | small[:-1]
    exact = view.gap_right, view.gap_down
    right, down = (
        np.where(new, guess, known)
        for new, guess, known in zip(touched, estimated, exact, strict=True)
    )
    return right, down


def _merged(
    labels: NDArray[np.int32], normals: Map, gaps: tuple[Map, Map], small: Mask
) -> NDArray[np.int32]:
    """Joins pieces that only something small had separated."""
    pairs, flush = [], []
    flat_enough = np.cos(np.radians(SAME_SURFACE_DEG))
    for gap, (here, there) in zip(gaps, _SIDES, strict=True):
        touched = (small[here] | small[there]) & (labels[here] != labels[there])
        touched &= (labels[here] > 0) & (labels[there] > 0)
        cosine = np.einsum("ij,ij->i", normals[here][touched], normals[there][touched])
        pairs.append(np.stack([labels[here][touched], labels[there][touched]], axis=-1))
        flush.append((gap[touched] == 0) & (cosine > flat_enough))
    return _united(labels, np.sort(np.concatenate(pairs), axis=1), np.concatenate(flush))


def _united(labels: NDArray[np.int32], pairs: NDArray[Any], flush: Mask) -> NDArray[np.int32]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not len(pairs):
        return labels
    distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
    share = np.bincount(inverse.ravel(), weights=flush) / np.bincount(inverse.ravel())
    a, b = distinct[share >= _FLUSH_SHARE].T
    count = int(labels.max()) + 1
    links = coo_matrix((np.ones(a.size, np.int8), (a, b)), shape=(count, count))
    part = connected_components(links, directed=False)[1]
    # Each part keeps the smallest of its numbers, so that `planar` stays valid.
    smallest = np.full(int(part.max()) + 1, count)
    np.minimum.at(smallest, part, np.arange(count))
    return np.asarray(smallest[part][labels], np.int32)
