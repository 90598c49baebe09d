"""Depth discontinuities, both sides of them, and each side's surface continued across them."""

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
    """Distance to the nearest pixel of M_d, infinite where there is none."""
    foreground_map: Map
    """f: the foreground continued into M_b, and the truth on M_f; NaN elsewhere."""
    background_map: Map
    """b: the background continued into M_f, and the truth on M_b; NaN elsewhere."""

    @property
    def boundary_px(self) -> Map:
        """Distance to the boundary, which runs between two pixels of M_d, half a px from each."""
        return self.distance_px + np.float32(0.5)


def front(truth: Map, quantity: str) -> Map:
    """How far in front a pixel is: the larger, the nearer to the viewer.

    Disparity itself; depth with its sign turned; of flow the length, because what moves faster is
    taken to be in front. That is so where the camera moves; an object that runs behind a fence is
    taken to be in front of it.

    Args:
        truth: (H, W), or (H, W, 2) of flow.
        quantity: disparity, depth or flow.

    Returns:
        float32 (H, W), NaN where the truth is missing.

    Raises:
        Misuse: The quantity has no front.

    >>> front(np.array([[1.0, 3.0]]), "depth")
    array([[-1., -3.]], dtype=float32)
    """
    values = as_map(truth)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[..., 0]
    return QUANTITIES[quantity].front(values)


def find_edges(
    truth: Map, order: Map, *, jump: float = 1.0, reach: int = 10, window: int = 5
) -> Edges:
    """The discontinuities of a dense map.

    Two 4-neighbours whose truth differs by more than `jump` are a jump; of several channels it is
    the length of the difference. Missing truth is never part of one. A pixel belongs to the side of
    the nearest pixel of a jump, up to `reach` px away: to the foreground where that one is in front
    at its jumps, to the background where it is behind. A pixel as near to both, or whose nearest is
    both (in front of one neighbour and behind another), belongs to neither; so does one from which
    that pixel lies beyond missing truth, for nobody knows which surface it is on.

    The foreground is continued into the background from the pixel across the nearest jump, by the
    plane of least squares over the pixels in the `window` x `window` around it that hang together
    with it without a jump. Across a border of mixed pixels (jump upon jump, at most three)
    that is the surface behind the border. Where those pixels spread too little to show a slope (a
    bar of less than three px shows none across it) the surface is taken to be level in that
    direction. Two surfaces that meet cannot be told apart: f is kept at least `jump` in front of
    the truth, measured along the difference of the two sides at the jump. The background is
    continued into the foreground in the same way, and kept behind. Exact where both sides are
    planes at least a jump apart.

    Args:
        truth: (H, W) or (H, W, C), NaN where missing.
        order: (H, W), larger in front; see `front`.
        jump: In the truth's unit.
        reach: Euclidean distance in px.
        window: Width in px, odd, at most 99.

    Raises:
        WrongShape: Truth and order are not of one size.
        Misuse: A negative jump or reach, or a window that is not odd or too wide.

    >>> found = find_edges(*2 * [np.array([[1, 1, 5, 5]], np.float32)], reach=1)
    >>> found.background, found.foreground_map
    (array([[ True, True, False, False]]), array([[5., 5., 5., 5.]], dtype=float32))
    """
    return _edges(find_jumps(truth, order, jump), reach, window, truth.shape)


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

    As `find_edges`, but only neighbours that are of different objects are a jump, and with the
    default any difference is enough. Which side is in front is the truth's to say: an outline where
    something else hides the object has the object behind.

    Args:
        mask: (H, W); True or a label of its own for each object, 0 elsewhere.
        truth: (H, W) or (H, W, C), NaN where missing; `fill_cardboard` gives one to objects
            without.
        order: (H, W), larger in front.
        jump: Differences up to this one are no discontinuity, as at the feet of an object that
            stands on the ground.
        reach: Euclidean distance in px.
        window: Width in px, odd, at most 99.

    Raises:
        WrongShape: Truth, order and mask are not of one size.
        Misuse: A negative jump or reach, or a window that is not odd or too wide.
    """
    jumps = find_jumps(truth, order, jump, _numbered(mask))
    return _edges(jumps, reach, window, truth.shape)


def _numbered(objects: NDArray[np.generic]) -> NDArray[np.int32]:
    """The same objects by numbers that fit: labels may be larger, and far apart."""
    if np.can_cast(objects.dtype, np.int32):
        return np.ascontiguousarray(objects, np.int32)
    return np.searchsorted(np.unique(objects), objects).astype(np.int32)


def _edges(jumps: Jumps, reach: int, window: int, shape: tuple[int, ...]) -> Edges:
    need_length("reach", reach)
    edge, in_front, behind = jumps.sides()
    chosen, foreground, background = _near(jumps, in_front, behind, reach)
    # A pixel that is both is nearest to nothing that has a side.
    at = np.flatnonzero(in_front ^ behind).astype(np.int32)
    ends = jumps.ends(at, in_front.reshape(-1)[at])
    seeds = Seeds(at, ends, jumps.directions(at, ends))
    across = continue_surfaces(jumps, chosen, seeds, window)
    return Edges(
        edge=edge,
        foreground=foreground,
        background=background,
        distance_px=distance_to(edge),
        foreground_map=_pieced(jumps.truth, foreground, across, background).reshape(shape),
        background_map=_pieced(jumps.truth, background, across, foreground).reshape(shape),
    )


def _near(jumps: Jumps, in_front: Mask, behind: Mask, reach: int) -> tuple[Indices, Mask, Mask]:
    """The pixel of a jump that decides each pixel's side, and both sides."""
    from depthgauge.geometry.discontinuities import _edge_kernels as kernels

    chosen = nearest_pixel(in_front, reach)
    foreground, background = np.zeros_like(in_front), np.zeros_like(in_front)
    holes = not jumps.known.all()
    to_back = nearest_pixel(behind, reach)
    kernels.choose_sides(jumps.known, holes, chosen, to_back, foreground, background)
    return chosen, foreground, background


def _pieced(truth: Map, own: Mask, across: Map, other: Mask) -> Map:
    """The truth on a surface's own side, its continuation on the other."""
    pieces = np.full(truth.shape, np.nan, np.float32)
    np.copyto(pieces, truth, where=own[..., np.newaxis])
    np.copyto(pieces, across, where=other[..., np.newaxis])
    return pieces
