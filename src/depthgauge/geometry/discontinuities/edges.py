"""Depth discontinuities, their two sides, and each side's surface continued across them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry._checks import need_length
from depthgauge.geometry._maps import as_map
from depthgauge.geometry.discontinuities._jumps import (
    Indices,
    Jumps,
    Seeds,
    continue_surfaces,
    find_jumps,
)
from depthgauge.geometry.discontinuities.gaps import close_gaps
from depthgauge.geometry.distances import distance_to, nearest_pixel
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Mask


@dataclass(frozen=True, slots=True)
class Edges:
    """The discontinuities of a map and what lies near them (Honauer 2019, section 4.2.2)."""

    edge: Mask
    """M_d: both pixels of every jump."""
    foreground: Mask
    """M_f: pixels within reach of a jump, on the side in front."""
    background: Mask
    """M_b: pixels within reach of a jump, on the side behind."""
    distance_px: Map
    """Distance to the nearest pixel of M_d, or of a jump inside a closed gap; infinite where there
    is none."""
    foreground_map: Map
    """f: the foreground continued into M_b, and the truth on M_f; NaN elsewhere."""
    background_map: Map
    """b: the background continued into M_f, and the truth on M_b; NaN elsewhere."""

    @property
    def boundary_px(self) -> Map:
        """Distance to the boundary, which runs between two pixels of M_d, half a px from each."""
        return self.distance_px + np.float32(0.5)


def front(truth: Map, quantity: str) -> Map:
    """How far in front a pixel is: larger is nearer to the viewer.

    This is the disparity itself, the negated depth, or the length of the flow, because what moves
    faster is assumed to be in front. That holds when the camera moves; an object that runs behind a
    fence is wrongly assumed to be in front of it.

    Args:
        truth: (H, W), or (H, W, 2) for flow.
        quantity: disparity, depth or flow.

    Returns:
        float32 (H, W), NaN where the truth is missing.

    Raises:
        Misuse: The quantity does not say what is in front.

    >>> front(np.array([[1.0, 3.0]]), "depth")
    array([[-1., -3.]], dtype=float32)
    """
    values = as_map(truth)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[..., 0]
    return QUANTITIES[quantity].front(values)


def find_edges(
    truth: Map,
    order: Map,
    *,
    jump: float = 1.0,
    reach: int = 10,
    window: int = 5,
    gaps: str = "background",
    right_disparity: Map | None = None,
) -> Edges:
    """The discontinuities of a dense map.

    Two 4-neighbours whose truth differs by more than `jump` form a jump; with several channels, the
    length of the difference counts. A pixel belongs to the side of the nearest jump pixel if the
    boundary, which runs half a px beyond that pixel, is at most `reach` px away; so both sides of
    a straight edge are `reach` px wide. It belongs to the foreground if the jump pixel is in front
    at its jumps, to the background if it is behind. It belongs to neither side if it is equally
    near to both, if its nearest jump pixel is both (in front of one neighbour and behind another),
    or if an open gap lies between the two, because its surface is then unknown.

    Gaps of the truth are first closed with what is behind (`close_gaps`), so that an object has an
    edge also where its background is hidden from the other camera. A pixel without truth belongs to
    nothing. With `gaps="open"`, missing truth is never part of a jump.

    The foreground is continued into the background from the pixel across the nearest jump. The
    continuation is the least-squares plane over those pixels of the `window` x `window` around it
    that are connected to it without a jump. Across a border of mixed pixels (consecutive jumps, at
    most three) it is the surface behind the border. Where those pixels are too narrow to show a
    slope (across a bar of less than three px), the surface is assumed to be level in that
    direction. Two surfaces that meet cannot be told apart: f is kept at least `jump` in front of
    the truth, measured along the difference of the two sides at the jump. The background is
    continued into the foreground in the same way, and kept behind. The result is exact where both
    sides are planes at least a jump apart.

    Args:
        truth: (H, W) or (H, W, C), NaN where missing.
        order: (H, W), larger in front; see `front`.
        jump: In the truth's unit.
        reach: Euclidean distance in px.
        window: Width in px, odd, at most 99.
        gaps: `background` or `open`.
        right_disparity: (H, W) that of the right view, which says more about gaps; only if the
            truth is the left view's disparity.

    Raises:
        WrongShape: Truth and order differ in size.
        Misuse: A negative jump or reach, a window that is not odd or too wide, or no such way to
            treat gaps.

    >>> found = find_edges(*2 * [np.array([[1, 1, 5, 5]], np.float32)], reach=2)
    >>> found.background, found.foreground_map
    (array([[ True, True, False, False]]), array([[5., 5., 5., 5.]], dtype=float32))
    """
    closed = close_gaps(truth, order, jump=jump, gaps=gaps, right_disparity=right_disparity)
    jumps = find_jumps(closed.truth, closed.order, jump, known=closed.filled)
    return _edges(jumps, closed.known, reach, window, truth.shape)


def edges_from_mask(
    mask: NDArray[np.generic],
    truth: Map,
    order: Map,
    *,
    jump: float = 0.0,
    reach: int = 10,
    window: int = 5,
) -> Edges:
    """The discontinuities at the outlines of objects whose masks are known.

    As `find_edges`, but only neighbours on different objects form a jump, and by default any
    difference is enough. The truth decides which side is in front: where something else hides the
    object, the object is behind its outline.

    Args:
        mask: (H, W); True, or a separate label for each object; 0 elsewhere.
        truth: (H, W) or (H, W, C), NaN where missing; `fill_cardboard` adds truth to objects
            that have none.
        order: (H, W), larger in front.
        jump: Differences up to this value are not discontinuities, as at the feet of an object
            that stands on the ground.
        reach: Euclidean distance in px.
        window: Width in px, odd, at most 99.

    Raises:
        WrongShape: Truth, order and mask differ in size.
        Misuse: A negative jump or reach, or a window that is not odd or too wide.
    """
    jumps = find_jumps(truth, order, jump, _numbered(mask))
    return _edges(jumps, None, reach, window, truth.shape)


def _numbered(objects: NDArray[np.generic]) -> NDArray[np.int32]:
    """The same objects with consecutive numbers: labels may be large and sparse."""
    if np.can_cast(objects.dtype, np.int32):
        return np.ascontiguousarray(objects, np.int32)
    return np.searchsorted(np.unique(objects), objects).astype(np.int32)


def _edges(
    jumps: Jumps, known: Mask | None, reach: int, window: int, shape: tuple[int, ...]
) -> Edges:
    """The discontinuities of a map; `known` says where it has truth of its own, if not where the
    jumps do.
    """
    need_length("reach", reach)
    edge, in_front, behind = jumps.sides()
    distance_px = distance_to(edge)
    chosen, foreground, background = _near(jumps, in_front, behind, reach)
    if known is not None:
        for mask in (edge, foreground, background):
            mask &= known
        chosen[~known] = -1
    # A pixel that is both in front and behind has no side.
    at = np.flatnonzero(in_front ^ behind).astype(np.int32)
    ends = jumps.ends(at, in_front.reshape(-1)[at])
    seeds = Seeds(at, ends, jumps.directions(at, ends))
    across = continue_surfaces(jumps, chosen, seeds, window)
    return Edges(
        edge=edge,
        foreground=foreground,
        background=background,
        distance_px=distance_px,
        foreground_map=_pieced(jumps.truth, foreground, across, background).reshape(shape),
        background_map=_pieced(jumps.truth, background, across, foreground).reshape(shape),
    )


def _near(jumps: Jumps, in_front: Mask, behind: Mask, reach: int) -> tuple[Indices, Mask, Mask]:
    """The jump pixel that decides each pixel's side, and the two sides."""
    from depthgauge.geometry.discontinuities import _edge_kernels as kernels

    chosen = nearest_pixel(in_front, reach)
    foreground, background = np.zeros_like(in_front), np.zeros_like(in_front)
    holes = not jumps.known.all()
    to_back = nearest_pixel(behind, reach)
    # (reach - 1/2) squared, for squares of whole numbers: the boundary is half a px farther away.
    most = reach * (reach - 1) if reach > 0 else -1
    kernels.choose_sides(jumps.known, holes, most, chosen, to_back, foreground, background)
    return chosen, foreground, background


def _pieced(truth: Map, own: Mask, across: Map, other: Mask) -> Map:
    """The truth on a surface's own side, its continuation on the other."""
    pieces = np.full(truth.shape, np.nan, np.float32)
    np.copyto(pieces, truth, where=own[..., np.newaxis])
    np.copyto(pieces, across, where=other[..., np.newaxis])
    return pieces
