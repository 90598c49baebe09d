"""Which pixels a polygon or a stroke of a brush covers.

A page draws the same shapes in JavaScript, so the arithmetic is fixed: every operation is one of
IEEE 754 that both languages round alike (sums, products, quotients, square roots), in this order.
A pixel is covered if its centre is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Mask

Points = NDArray[np.float64]
LEAST_RADIUS_PX = 0.75
"""A brush of this size covers a pixel wherever it is put down."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Some pixels of a picture, in the smallest box that was looked at."""

    x: int
    y: int
    inside: Mask
    """(h, w) of the box."""

    @property
    def box(self) -> tuple[slice, slice]:
        """Rows and columns of the box in the picture."""
        height, width = self.inside.shape
        return slice(self.y, self.y + height), slice(self.x, self.x + width)

    @property
    def pixels(self) -> int:
        """How many pixels belong to it."""
        return int(np.count_nonzero(self.inside))

    def trimmed(self) -> Region:
        """The same pixels in the smallest box."""
        rows, columns = (np.flatnonzero(self.inside.any(axis=axis)) for axis in (1, 0))
        if not rows.size:
            return Region(self.x, self.y, self.inside[:0, :0])
        (top, bottom), (left, right) = (found[[0, -1]] for found in (rows, columns))
        kept = self.inside[top : bottom + 1, left : right + 1]
        return Region(self.x + int(left), self.y + int(top), np.ascontiguousarray(kept))


def polygon(points_px: Points, size_px: tuple[int, int]) -> Region:
    """The pixels inside a closed line; where it crosses itself, by the even-odd rule.

    Args:
        points_px: (n, 2) corners x, y; they may lie outside of the picture.
        size_px: Width and height of the picture.

    >>> polygon(np.array([[0.5, 0.5], [2.5, 0.5], [2.5, 1.5], [0.5, 1.5]]), (9, 9)).inside
    array([[ True,  True]])
    """
    box = _Box.around(points_px, 0.0, size_px)
    following = np.roll(points_px, -1, axis=0)
    _, rows, at = _crossings(points_px, following, box)
    toggles = np.zeros((box.height, box.width + 1), np.uint8)
    np.bitwise_xor.at(toggles, (rows, box.columns(at)), 1)
    inside = np.bitwise_xor.accumulate(toggles, axis=1)[:, :-1]
    return Region(box.x, box.y, inside.astype(np.bool_))


def brush(points_px: Points, radius_px: float, size_px: tuple[int, int]) -> Region:
    """The pixels that a round brush covers on its way through some points.

    Args:
        points_px: (n, 2) places x, y; a single one is a dot.
        radius_px: Half the width of the brush, at least `LEAST_RADIUS_PX`.
        size_px: Width and height of the picture.

    >>> brush(np.array([[1.0, 1.0]]), 1.0, (3, 3)).inside.sum()
    np.int64(5)
    """
    box = _Box.around(points_px, radius_px, size_px)
    steps = np.zeros((box.height, box.width + 1), np.int32)
    for rows, starts, ends in (_discs(points_px, radius_px, box), _ways(points_px, radius_px, box)):
        np.add.at(steps, (rows, starts), 1)
        np.add.at(steps, (rows, ends), -1)
    inside = np.cumsum(steps, axis=1, out=steps)[:, :-1] > 0
    return Region(box.x, box.y, inside)


@dataclass(frozen=True, slots=True)
class _Box:
    """The part of a picture that a shape can reach."""

    x: int
    y: int
    width: int
    height: int

    @classmethod
    def around(cls, points: Points, margin: float, size_px: tuple[int, int]) -> _Box:
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        left, top = (max(0, int(np.ceil(v))) for v in low)
        right = min(size_px[0] - 1, int(np.floor(high[0])))
        bottom = min(size_px[1] - 1, int(np.floor(high[1])))
        if right < left or bottom < top:
            return cls(0, 0, 0, 0)
        return cls(left, top, right - left + 1, bottom - top + 1)

    def rows(self, first: Points, last: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of each of some ranges of rows (both ends included): its number, and the rows."""
        first = np.maximum(first, self.y)
        count = np.maximum(np.minimum(last, self.y + self.height - 1) - first + 1, 0)
        which = np.repeat(np.arange(len(count)), count.astype(np.intp))
        before = np.cumsum(count) - count
        inner = np.arange(len(which)) - before[which]
        return which, np.asarray(first[which] + inner).astype(np.intp)

    def columns(self, at: Points) -> NDArray[np.intp]:
        """The first columns of the box whose centres are not left of some places."""
        return np.asarray(np.clip(np.ceil(at) - self.x, 0, self.width), np.intp)


def _crossings(
    begin: Points, end: Points, box: _Box, *, closed: bool = False
) -> tuple[NDArray[np.intp], NDArray[np.intp], Points]:
    """Where sides cross the rows of a box: the side, the row in the box, and x.

    A side has its upper end and not its lower one, so a row through a corner counts it once;
    `closed` sides have both.
    """
    upper, lower = np.minimum(begin[:, 1], end[:, 1]), np.maximum(begin[:, 1], end[:, 1])
    last = np.where(lower > upper, np.floor(lower), -np.inf) if closed else np.ceil(lower) - 1
    side, row = box.rows(np.ceil(upper), last)
    (x0, y0), (x1, y1) = begin[side].T, end[side].T
    return side, row - box.y, x0 + (row - y0) * ((x1 - x0) / (y1 - y0))


_Spans = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


def _discs(points: Points, radius: float, box: _Box) -> _Spans:
    x, y = points.T
    which, row = box.rows(np.ceil(y - radius), np.floor(y + radius))
    down = row - y[which]
    half = np.sqrt(np.maximum(radius * radius - down * down, 0.0))
    return row - box.y, box.columns(x[which] - half), box.columns(np.floor(x[which] + half) + 1)


def _ways(points: Points, radius: float, box: _Box) -> _Spans:
    """The rectangles between neighbouring places of the brush."""
    begin, end = points[:-1], points[1:]
    dx, dy = (end - begin).T
    length = np.sqrt(dx * dx + dy * dy)
    moved = length > 0
    begin, end, dx, dy, length = (v[moved] for v in (begin, end, dx, dy, length))
    aside = np.stack([-dy / length * radius, dx / length * radius], axis=-1)
    corners = [begin + aside, end + aside, end - aside, begin - aside]
    tops = np.min([c[:, 1] for c in corners], axis=0) if len(begin) else np.zeros(0)
    bottoms = np.max([c[:, 1] for c in corners], axis=0) if len(begin) else np.zeros(0)
    which, row = box.rows(np.ceil(tops), np.floor(bottoms))
    first = np.maximum(np.ceil(tops), box.y)
    offset = np.zeros(len(begin) + 1, np.intp)
    np.cumsum(np.bincount(which, minlength=len(begin)), out=offset[1:])
    low, high = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for k in range(4):
        side, rows, at = _crossings(corners[k], corners[(k + 1) % 4], box, closed=True)
        place = (offset[side] + rows + box.y - first[side]).astype(np.intp)
        np.minimum.at(low, place, at)
        np.maximum.at(high, place, at)
    return row - box.y, box.columns(low), box.columns(np.floor(high) + 1)
