"""Strokes as lines of pixels, 1 px thick, 4-connected and cut at the region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.records.annotation import Point, Stroke
from depthgauge.types import Mask

FOLD, SHARP, SMOOTH = 1, 2, 3
"""Kinds of line pixels."""
OPPOSITE = -0.2
"""Cosine between the owners' directions below which two lines belong to different sides."""

# The direction at a pixel is that of a chord that reaches this far to both sides: a line drawn by
# hand trembles, and at a corner the normal of the chord points along the bisector.
_HALF_CHORD_PX = 2.5
# Coordinates further out only mean "outside", and their squares would overflow.
_FARTHEST_PX = 1e6


@dataclass(frozen=True)
class Path:
    """The pixels of one stroke in the order in which it was drawn; some may lie outside."""

    pixels: NDArray[np.int64]
    """(n, 2) x, y."""
    toward: NDArray[np.float64]
    """(n, 2) unit vectors to the side that owns the line."""
    kind: int
    side: int
    """1 if the owner is on the right when walking along the line, -1 if it is on the left."""


@dataclass
class Lines:
    """The line pixels of an image; strokes are painted into it one after the other."""

    region: Mask
    kind: NDArray[np.uint8]
    stroke: NDArray[np.int32]
    toward: NDArray[np.float32]
    pinched: Mask
    """Pixels of two occlusions whose closer sides are opposite: the later covers the earlier."""

    @staticmethod
    def none(region: Mask) -> Lines:
        """An image without lines."""
        return Lines(
            region,
            np.zeros(region.shape, np.uint8),
            np.full(region.shape, -1, np.int32),
            np.zeros((*region.shape, 2), np.float32),
            np.zeros(region.shape, np.bool_),
        )

    def paint(self, path: Path, index: int) -> int:
        """Paints the pixels in the region and returns their number; no fold covers an occlusion."""
        inside = self.within(path.pixels)
        (x, y), toward = path.pixels[inside].T, path.toward[inside]
        if path.kind == FOLD:
            free = self.kind[y, x] <= FOLD
            x, y, toward = x[free], y[free], toward[free]
        else:
            against = (self.toward[y, x] * toward).sum(axis=1) < OPPOSITE
            self.pinched[y, x] |= (self.kind[y, x] > FOLD) & against
        self.kind[y, x], self.stroke[y, x], self.toward[y, x] = path.kind, index, toward
        return int(np.count_nonzero(inside))

    def is_outside(self, x: int, y: int) -> bool:
        """Whether a pixel lies outside the region, or outside the image."""
        height, width = self.region.shape
        return not (0 <= x < width and 0 <= y < height and self.region[y, x])

    def within(self, pixels: NDArray[np.int64]) -> Mask:
        """Which of the pixels x, y lie in the region."""
        height, width = self.region.shape
        x, y = pixels.T
        inside: Mask = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        inside[inside] = self.region[y[inside], x[inside]]
        return inside


def clean_points(points_px: tuple[Point, ...]) -> NDArray[np.float64]:
    """The corners (n, 2) of a line without non-finite ones and immediate repetitions."""
    points = np.array(points_px, np.float64).reshape(-1, 2)
    points = np.clip(points[np.isfinite(points).all(axis=1)], -_FARTHEST_PX, _FARTHEST_PX)
    if len(points) < 2:
        return points
    moved = (points[1:] != points[:-1]).any(axis=1)
    kept: NDArray[np.float64] = points[np.concatenate([[True], moved])]
    return kept


def trace_stroke(stroke: Stroke, shape: tuple[int, int], side: int) -> Path | None:
    """The pixels of a stroke; None if it has no length.

    Args:
        stroke: What was drawn.
        shape: Height and width of the image.
        side: 1 if the right side of the line owns it, -1 if the left side does.
    """
    points = clean_points(stroke.points_px)
    if len(points) < 2:
        return None
    kind = FOLD if stroke.kind == "fold" else SMOOTH if stroke.smooth else SHARP
    pixels, at, along = trace_points(points, shape)
    return Path(pixels, side * _right_of(points, along, at), kind, side)


def trace_points(
    points: NDArray[np.float64], shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Pixels of a polyline, the length along it at each pixel, and at each corner."""
    from depthgauge.annotate.reconstruct._segmentation_kernels import trace

    height, width = shape
    steps = np.abs(np.diff(points, axis=0))
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*steps.T))])
    most = int(np.minimum(steps, (width + 2, height + 2)).sum()) + 4 * len(points)
    pixels, at = np.zeros((most, 2), np.int64), np.zeros(most)
    count = trace(points, along, width, height, pixels, at)
    return pixels[:count], at[:count], along


def _right_of(
    points: NDArray[np.float64], along: NDArray[np.float64], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Unit vectors to the right of the line at the given lengths along it."""
    closed = bool((points[0] == points[-1]).all())
    ahead = _points_at(points, along, at + _HALF_CHORD_PX, closed)
    way = ahead - _points_at(points, along, at - _HALF_CHORD_PX, closed)
    # A line that turns back on itself has no chord; there the segment gives the direction.
    none = np.hypot(*way.T) < 1e-3
    piece = np.clip(np.searchsorted(along, at[none], side="right") - 1, 0, len(points) - 2)
    way[none] = points[piece + 1] - points[piece]
    # Divided by the larger component first: squares of tiny steps would be 0.
    way /= np.abs(way).max(axis=1, keepdims=True)
    way /= np.hypot(*way.T)[:, None]
    return np.stack([-way[:, 1], way[:, 0]], axis=1)


def _points_at(
    points: NDArray[np.float64],
    along: NDArray[np.float64],
    at: NDArray[np.float64],
    closed: bool,
) -> NDArray[np.float64]:
    at = np.mod(at, along[-1]) if closed else np.clip(at, 0.0, along[-1])
    return np.stack([np.interp(at, along, points[:, k]) for k in (0, 1)], axis=1)
