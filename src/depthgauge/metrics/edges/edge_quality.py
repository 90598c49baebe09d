"""The shape of depth discontinuities, independent of their place: crisp and clean, or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.geometry.distances import nearest_pixel
from depthgauge.metrics._judged import (
    Judged,
    finish_share,
    judged_pixels,
    need_size,
    share_map,
    share_state,
)
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.discontinuities.edges import Edges

QUARTER = 0.25
"""An estimate within this share of the jump from a side still belongs to it."""
STEPS_PER_PX = 2
"""Shifts are tried in steps of half a pixel: no map places an edge more exactly."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """The pixels beside edges."""

    side: NDArray[np.int8]
    """1 in front, -1 behind, 0 elsewhere."""
    taken: NDArray[np.uint8]
    """The side of the estimate: 0 none, 1 behind, 2 in between, 3 in front."""
    depth: Map
    """Distance in px to the true boundary, negative behind it."""
    pieces: NDArray[np.int32]
    """The piece of edge that a pixel belongs to, -1 for none."""
    squares: tuple[int, int]
    """The number of squares down and across; each has two pieces."""


def _beside(estimate: Map, truth: Map, edges: Edges, piece: int) -> _Beside:
    from depthgauge.metrics.kernels.edge_quality import find_pieces, take_sides

    shape = truth.shape[:2]
    side, taken = np.zeros(shape, np.int8), np.zeros(shape, np.uint8)
    maps = (estimate, truth, edges.foreground_map, edges.background_map)
    own, true, front, back = (values.reshape(*shape, -1) for values in maps)
    take_sides(own, true, edges.foreground, edges.background, front, back, QUARTER, side, taken)
    depth = np.where(side != 0, edges.boundary_px, 0) * side
    reach = int(np.max(np.abs(depth), initial=0.0))
    pieces = np.full(shape, -1, np.int32)
    # Only by the edge's pixels in front, so that both sides of a boundary belong to one piece; seen
    # from behind they are a pixel farther away.
    nearest = nearest_pixel(edges.edge & edges.foreground, reach + 2)
    find_pieces(nearest, side, piece, pieces)
    squares = (-(-shape[0] // piece), -(-shape[1] // piece))
    return _Beside(side, taken, np.asarray(depth, np.float32), pieces, squares)


def _largest_shifts(beside: _Beside) -> Map:
    """How far each piece may be shifted to either side: half of the depth there."""
    from scipy import ndimage

    from depthgauge.metrics.kernels.edge_quality import find_deepest

    deepest = np.zeros((*beside.squares, 2, 2), np.float32)
    find_deepest(beside.depth, beside.pieces, deepest.reshape(-1, 2))
    # If a piece just touches its square, the squares around it know the depth.
    around = ndimage.maximum_filter(deepest, size=(3, 3, 1, 1))
    return np.asarray(around.reshape(-1, 2) / 2, np.float32)


def _best_shifts(beside: _Beside, shift: float, tolerance: float) -> Map:
    """The shift of each piece with the fewest misfits; the smallest if there are several."""
    from depthgauge.metrics.kernels.edge_quality import count_misfits

    steps = int(shift * STEPS_PER_PX)
    shifts = np.arange(-steps, steps + 1, dtype=np.float32) / STEPS_PER_PX
    shifts = shifts[np.argsort(np.abs(shifts), kind="stable")]
    largest = _largest_shifts(beside)
    costs = np.zeros((len(largest), shifts.size), np.int32)
    count_misfits(beside.taken, beside.depth, beside.pieces, shifts, tolerance, costs)
    # A lost edge must not be taken for one that is shifted out of reach.
    too_far = (-shifts > largest[:, :1]) | (shifts > largest[:, 1:])
    costs[too_far] = np.iinfo(np.int32).max
    return np.asarray(shifts[np.argmin(costs, axis=1)], np.float32)


def _lost(beside: _Beside) -> NDArray[np.bool_]:
    """Which pieces have lost their edge: around them, the estimate is on one side only."""
    from depthgauge.metrics.kernels.edge_quality import BEHIND, FRONT

    true = _both_around(beside, beside.side == -1, beside.side == 1)
    return true & ~_both_around(beside, beside.taken == BEHIND, beside.taken == FRONT)


def _both_around(beside: _Beside, behind: Mask, front: Mask) -> NDArray[np.bool_]:
    """Whether there are pixels of both kinds in a piece's square or in those around it.

    A moved edge may leave its square, or turn the other way at a corner.
    """
    from scipy import ndimage

    seen = np.zeros((beside.squares[0] * beside.squares[1] * 2, 2), bool)
    for k, kind in enumerate((behind, front)):
        seen[beside.pieces[kind & (beside.pieces >= 0)], k] = True
    squares = seen.reshape(*beside.squares, 2, 2).any(axis=2)
    both = ndimage.maximum_filter(squares, size=(3, 3, 1)).all(axis=2)
    return np.repeat(both.reshape(-1), 2)


def _misfits(
    estimate: Map,
    truth: Map,
    region: Mask | None,
    edges: Edges,
    shift: float,
    tolerance: float,
    piece: int,
) -> Judged:
    """Which pixels beside edges do not fit any moderately shifted true edge."""
    from depthgauge.metrics.kernels.edge_quality import mark_misfits

    if piece < 1:
        raise BadScoreId(f"edge_quality: piece is {piece} but must be at least 1 px.")
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    need_size(edges.edge, "the edges' mask", truth)
    beside = _beside(estimate, truth, edges, piece)
    best = _best_shifts(beside, shift, tolerance)
    marked = np.zeros(judged.shape, bool)
    mark_misfits(beside.taken, beside.depth, beside.pieces, best, tolerance, marked)
    there = beside.pieces >= 0
    marked[there] |= _lost(beside)[beside.pieces[there]]
    return marked, estimate, judged & there


@metric(
    "edge_quality",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=("disparity", "depth", "flow"),
    cite="after Honauer 2019, section 6.2.3 (future work)",
    formula="100 * mean over M_f and M_b [no shift of this piece of the edge explains the side]",
    revision=1,
    needs=("edges",),
)
class EdgeQuality:
    """Percentage of the pixels beside edges that no shifted true edge explains: 0 is crisp.

    It judges shape, not place. An estimate is on the foreground's side, on the background's, or on
    neither if it is more than a quarter of the jump away from both. Each piece of the true edge
    (the part in one square of `piece` px) is moved along its normal to where most pixels fit: by up
    to `shift` px, and at most half the depth of M_f or M_b there. A pixel that is still on the
    wrong side by more than `tolerance` px, or on neither side, is a misfit. If only one side occurs
    around a piece, the edge is lost and every pixel is a misfit. Fat, thin and shifted objects with
    clean outlines score 0; jagged, frayed, blurred and lost edges do not. For flow, the side is
    measured along the difference of the two vectors.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> truth = np.full((24, 24), 1.0)
    >>> truth[:, :12] = 9
    >>> fat, jagged = truth.copy(), truth.copy()
    >>> fat[:, 12:15] = 9
    >>> jagged[::2, 12:18] = 9  # teeth of 6 px: the best edge leaves 2 of 20 px in each row
    >>> [round(dg.score(e, truth, "edge_quality")["edge_quality@all"].value, 2)
    ...  for e in (fat, jagged)]
    [0.0, 10.0]
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        edges: Edges,
        shift: float = 5.0,
        tolerance: float = 0.75,
        piece: int = 16,
    ) -> State:
        """Number of misfits."""
        return share_state(*_misfits(estimate, truth, region, edges, shift, tolerance, piece))

    @staticmethod
    def finish(
        state: State,
        *,
        missing: str,
        shift: float = 5.0,
        tolerance: float = 0.75,
        piece: int = 16,
    ) -> float:
        """Percentage of pixels that are misfits."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        edges: Edges,
        shift: float = 5.0,
        tolerance: float = 0.75,
        piece: int = 16,
    ) -> Map:
        """100 where a pixel beside an edge is a misfit, 0 where it is not."""
        return share_map(*_misfits(estimate, truth, None, edges, shift, tolerance, piece))
