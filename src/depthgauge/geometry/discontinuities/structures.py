"""Fine structures: the thin parts of the foreground, and the background around them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry._checks import need_length
from depthgauge.geometry._maps import need_same_size
from depthgauge.geometry.discontinuities._jumps import (
    Indices,
    Jumps,
    Seeds,
    continue_surfaces,
    find_jumps,
)
from depthgauge.geometry.discontinuities.gaps import close_gaps
from depthgauge.geometry.distances import distance_to, nearest_pixel
from depthgauge.types import Map, Mask

_WINDOW = 5
"""px; the slope of a structure is that of the plane over a window of this width."""
_STANDS_OUT = 0.75
"""How far a thin part must stand out from what is not thin, as a share of the width. The thin part
of a right-angled corner stands out by half the width, that of a 67 degree tip by three quarters."""


@dataclass(frozen=True, slots=True)
class Structures:
    """The fine structures of a map and what lies around them (Honauer 2019, section 4.2.3)."""

    mask: Mask
    """M_r: pixels of fine structures."""
    surrounding: Mask
    """M_s: background pixels near them."""
    labels: NDArray[np.int32]
    """The structures: 8-connected components of M_r, 1..n; 0 elsewhere."""
    foreground_map: Map
    """f: the structures continued into M_s, and the truth on M_r; NaN elsewhere."""


def find_structures(
    truth: Map,
    order: Map,
    *,
    jump: float = 1.0,
    width: int = 10,
    reach: int = 10,
    least: int = 5,
    gaps: str = "background",
    right_disparity: Map | None = None,
) -> Structures:
    """The fine structures of a dense map.

    A pixel is *thin* if, along a row, a column or a diagonal, it lies between a rise of more than
    `jump` and the opposite fall, at most `width` px apart. Diagonal steps count sqrt 2, so a bar of
    any direction appears at most 8 % wider than it is. Between rise and fall the surface may be
    slanted, and something smaller may be in front of it. A part that reaches the image border has
    only one edge and is not thin there.

    Gaps of the truth are first closed with what is behind (`close_gaps`): a structure has an edge
    also where its background is hidden from the other camera. A pixel without truth belongs to
    nothing. With `gaps="open"`, a part that reaches missing truth has only one edge there.
    Measured truth has specks of a few px beside its gaps: a structure of fewer than `least` px with
    a gap within `reach` does not count. Without gaps nearby, every dot counts.

    The corners of wide objects are thin too. A thin pixel belongs to a fine structure if its thin
    part stands out by more than three quarters of `width` from the wide surface that it is
    connected to, or is connected to none. So bars, dots, grids and tips of less than 67 degrees are
    fine structures; right-angled corners and ragged outlines are not.

    The surrounding is the set of pixels within `reach` of a structure that are behind its nearest
    pixel by more than `jump`. The structure is continued into it as `find_edges` continues a
    foreground.

    Args:
        truth: (H, W) or (H, W, C), NaN where missing.
        order: (H, W), larger in front; see `front`. Rises and falls are those of the order.
        jump: In the unit of the order.
        width: In px.
        reach: Euclidean distance in px.
        least: In px.
        gaps: `background` or `open`.
        right_disparity: As in `find_edges`.

    Raises:
        WrongShape: Truth and order differ in size.
        Misuse: A negative jump, width, reach or least size, or no such way to treat gaps.

    >>> row = np.array([[1, 1, 5, 5, 1, 1, 1]], np.float32)
    >>> found = find_structures(row, row, reach=2)
    >>> found.labels, found.foreground_map
    (array([[0, 0, 1, 1, 0, 0, 0]], dtype=int32),
     array([[ 5., 5., 5., 5., 5., 5., nan]], dtype=float32))
    """
    need_length("width", width)
    need_length("least", least)
    closed = close_gaps(truth, order, jump=jump, gaps=gaps, right_disparity=right_disparity)
    jumps = find_jumps(closed.truth, closed.order, jump, known=closed.filled)
    mask = _stands_out(jumps, _thin(jumps, width), width)
    known = jumps.known if closed.known is None else closed.known
    mask = _without_specks(mask & known, known, least, reach)
    return _around(jumps, mask, known, None, reach, truth.shape)


def structures_from_masks(
    mask: Mask,
    surrounding: Mask | None,
    truth: Map,
    order: Map,
    *,
    jump: float = 0.0,
    reach: int = 10,
) -> Structures:
    """Fine structures whose masks are known, rendered or drawn by hand.

    Args:
        mask: (H, W) pixels of fine structures; those without truth do not count.
        surrounding: (H, W) pixels around them. By default those within `reach` that are behind the
            nearest pixel of a structure by more than `jump`.
        truth: (H, W) or (H, W, C), NaN where missing.
        order: (H, W), larger in front.
        jump: In the unit of the order.
        reach: Euclidean distance in px; a given surrounding may extend farther.

    Raises:
        WrongShape: Truth, order and masks differ in size.
        Misuse: A negative jump or reach.
    """
    inside = np.not_equal(mask, 0)
    # A structure is one surface, however steep it is: it may jump only at its outline.
    jumps = find_jumps(truth, order, jump, np.ascontiguousarray(inside, np.int32))
    if surrounding is not None:
        need_same_size(surrounding, truth, ("the surrounding", "the truth"))
        surrounding = np.not_equal(surrounding, 0)
    return _around(jumps, jumps.known & inside, jumps.known, surrounding, reach, truth.shape)


def _thin(jumps: Jumps, width: int) -> Mask:
    from depthgauge.geometry.discontinuities import _structure_kernels as kernels

    # The nearer end of a run through a pixel is at most half its length away; in a diagonal run the
    # jump may be at the neighbour around the corner.
    near = np.isfinite(distance_to(jumps.sides().front, math.ceil(width / 2) + 1))
    slopes = np.zeros(near.shape, np.uint8)
    kernels.find_slopes(jumps.order, jumps.known, jumps.jump, slopes)
    thin = np.zeros_like(near)
    kernels.find_thin(jumps.order, slopes, near & jumps.known, jumps.jump, float(width), thin)
    return thin


def _stands_out(jumps: Jumps, thin: Mask, width: int) -> Mask:
    """The thin pixels without the corners of what is wide."""
    limit = _STANDS_OUT * width
    beside = np.isfinite(distance_to(thin, 2))
    corners = _flooded(jumps, beside & jumps.known & ~thin, thin, limit)
    return _flooded(jumps, thin & ~corners, thin, limit)


def _flooded(jumps: Jumps, starts: Mask, within: Mask, limit: float) -> Mask:
    """The starts, and all pixels `within` up to a limit from them on the same surface."""
    from depthgauge.geometry.discontinuities import _structure_kernels as kernels

    distance = np.where(starts, np.float32(0), np.float32(np.inf))
    queue = np.zeros(np.count_nonzero(starts | within) + 1, np.int32)
    kernels.flood(jumps.order, within, jumps.jump, limit, queue, distance)
    return np.isfinite(distance)


def _without_specks(mask: Mask, known: Mask, least: int, reach: int) -> Mask:
    """The mask without small structures that have missing truth nearby."""
    if least <= 1 or known.all():
        return mask
    from scipy import ndimage

    labels, count = ndimage.label(mask, np.ones((3, 3)), output=np.int32)
    near_gap = np.isfinite(distance_to(~known, reach))
    speck = np.bincount(labels.reshape(-1), minlength=count + 1) < least
    speck &= np.bincount(labels[near_gap], minlength=count + 1) > 0
    speck[0] = False
    return np.asarray(mask & ~speck[labels])


def _around(
    jumps: Jumps,
    mask: Mask,
    known: Mask,
    surrounding: Mask | None,
    reach: int,
    shape: tuple[int, ...],
) -> Structures:
    """Completes the structures: labels, surrounding and continuation."""
    from scipy import ndimage

    need_length("reach", reach)
    chosen = nearest_pixel(mask, None if surrounding is not None else reach)
    if surrounding is None:
        surrounding = _behind(jumps, mask, chosen)
    surrounding = surrounding & known & ~mask
    chosen[~surrounding] = -1
    used = np.zeros(mask.size, bool)
    used[chosen[chosen >= 0]] = True
    at = np.flatnonzero(used).astype(np.int32)
    behind = jumps.ends(at, np.ones(at.size, bool))
    seeds = Seeds(at, at, jumps.directions(behind, at))
    continued = continue_surfaces(jumps, chosen, seeds, _WINDOW)
    np.copyto(continued, jumps.truth, where=mask[..., np.newaxis])
    labels, _ = ndimage.label(mask, np.ones((3, 3)), output=np.int32)
    return Structures(mask, surrounding, labels, continued.reshape(shape))


def _behind(jumps: Jumps, mask: Mask, chosen: Indices) -> Mask:
    """Where the order is lower than at the nearest structure pixel by more than a jump."""
    behind = np.zeros(mask.size, bool)
    here = np.flatnonzero((chosen >= 0) & jumps.known & ~mask)
    order = jumps.order.reshape(-1)
    nearest = order[chosen.reshape(-1)[here]].astype(np.float64)
    behind[here] = nearest - order[here] > jumps.jump
    return behind.reshape(mask.shape)
