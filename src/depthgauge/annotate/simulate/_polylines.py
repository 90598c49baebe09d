"""Lines as drawn by hand: few corners, beside the border on the closer side, slightly off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.simulate._trace import Border
from depthgauge.types import Map

Points = NDArray[np.float64]


def drawn(border: Border, tolerance_px: float, aside_px: float, depth: Map) -> Points:
    """The corners of a drawn line.

    An end that several lines share is placed at the closest of the pixels around it, for all of
    them: lines meet there, and the one in front continues.

    Args:
        border: The traced border.
        tolerance_px: How far the drawn line may be from it.
        aside_px: How far to the right it is drawn (to the left where negative).
        depth: (H, W), says which pixels are closest.
    """
    line = simplified(_middle(border), tolerance_px, border.closed)
    if aside_px != 0:
        line = line + aside_px * rightward(line, border.closed)
    for index, tied in zip((0, -1), border.tied, strict=True):
        if tied:
            line[index] = closest_pixel(border.corners[index], depth)
    return line


def closest_pixel(corner: Points, depth: Map) -> tuple[float, float]:
    """The centre of the pixel with the least depth among the four around a pixel corner.

    >>> closest_pixel(np.array([0.5, 0.5]), np.array([[3, 2], [1, 4]], np.float32))
    (0.0, 1.0)
    """
    height, width = depth.shape
    left, top = (int(np.floor(part)) for part in corner)
    around = [
        (x, y)
        for y in (top, top + 1)
        for x in (left, left + 1)
        if 0 <= x < width and 0 <= y < height and np.isfinite(depth[y, x])
    ]
    x, y = min(around, key=lambda at: float(depth[at[1], at[0]]))
    return float(x), float(y)


def simplified(line: Points, tolerance_px: float, closed: bool = False) -> Points:
    """Few corners (Douglas and Peucker) such that no point is farther away than the tolerance.

    >>> simplified(np.array([[0.0, 0], [1, 0.1], [2, 0], [2, 2]]), 0.2).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]
    """
    keep = np.zeros(len(line), bool)
    keep[[0, -1]] = True
    stack = [(0, len(line) - 1)]
    if closed and len(line) > 3:
        # The two ends of a loop are one point; the farthest point from it is kept, too.
        middle = int(np.argmax(np.hypot(*(line - line[0]).T)))
        keep[middle] = True
        stack = [(0, middle), (middle, len(line) - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        away = _distance(line[first + 1 : last], line[first], line[last])
        worst = int(np.argmax(away))
        if away[worst] > tolerance_px:
            index = first + 1 + worst
            keep[index] = True
            stack += [(first, index), (index, last)]
    return line[keep]


def rightward(line: Points, closed: bool = False) -> Points:
    """Vectors to the right of a line at its corners; mitred, so that segments move in parallel.

    >>> rightward(np.array([[0.0, 0], [2, 0]])).tolist()
    [[-0.0, 1.0], [-0.0, 1.0]]
    """
    step = np.diff(line, axis=0)
    length = np.maximum(np.hypot(*step.T), 1e-9)[:, None]
    right = np.stack([-step[:, 1], step[:, 0]], axis=-1) / length
    around = (right[-1:], right[:1]) if closed else (right[:1], right[-1:])
    before, after = np.concatenate([around[0], right]), np.concatenate([right, around[1]])
    both = before + after
    square = np.maximum((both * both).sum(axis=1), 0.5)[:, None]  # a hairpin's mitre has no end
    corners: Points = 2 * both / square
    return corners


def length_px(line: Points) -> float:
    """Length of a line."""
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


def shortened(line: Points, cut_px: float, at_start: bool) -> Points:
    """The line without its first (or last) pixels; at least half of it remains.

    >>> shortened(np.array([[0.0, 0], [4, 0]]), 1, at_start=True).tolist()
    [[1.0, 0.0], [4.0, 0.0]]
    """
    way = line if at_start else line[::-1]
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))])
    cut = min(cut_px, along[-1] / 2)
    start = [np.interp(cut, along, way[:, i]) for i in (0, 1)]
    rest = np.concatenate([[start], way[along > cut]])
    return rest if at_start else rest[::-1]


def _middle(border: Border) -> Points:
    """Through the middles of pixel edges, smoothed: a slanted border has no stairs."""
    corners = border.corners
    middles = (corners[1:] + corners[:-1]) / 2
    if border.closed:
        ring = (np.roll(middles, 1, axis=0) + middles + np.roll(middles, -1, axis=0)) / 3
        return np.concatenate([ring, ring[:1]])
    line = np.concatenate([corners[:1], middles, corners[-1:]])
    if len(line) > 4:
        line[2:-2] = (line[1:-3] + line[2:-2] + line[3:-1]) / 3
    return line


def _distance(points: Points, a: Points, b: Points) -> Points:
    """Distance from the segment between two points."""
    way = b - a
    square = float(way @ way)
    share = np.clip((points - a) @ way / max(square, 1e-12), 0, 1)
    away: Points = np.hypot(*(points - a - share[:, None] * way).T)
    return away
