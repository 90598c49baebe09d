"""The board's picture, compiled: rays of the distorted camera meet a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]


@compiled()
def _paint(u: float, v: float, columns: int, rows: int, margin: float) -> Any:
    """Reflectance at a position in squares from the first inner corner; -1 beside the board."""
    if not (-1.0 - margin <= u <= columns + margin and -1.0 - margin <= v <= rows + margin):
        return -1.0
    if u < -1.0 or u >= columns or v < -1.0 or v >= rows:
        return 0.86
    dark = (int(np.floor(u)) + int(np.floor(v))) % 2 == 0
    return 0.045 if dark else 0.86


@compiled()
def _lit(x: float, y: float, z: float, lamp: Array, normal: Array) -> Any:
    """The light on a point from a lamp: falls with distance and angle, plus ambient light."""
    a, b, c = lamp[0] - x, lamp[1] - y, lamp[2] - z
    far = a * a + b * b + c * c
    cosine = abs(a * normal[0] + b * normal[1] + c * normal[2]) / np.sqrt(far)
    return 0.35 + 0.65 * lamp[3] * cosine / far


@compiled()
def _seen(
    x: float, y: float, board: Array, squares: Array, lamp: Array, shade: Array, edge: Array
) -> Any:
    """Light of the ray with slopes x, y; edge[0] becomes the distance to the nearest edge."""
    # board: rows are the axes in camera axes and the first corner, in squares.
    n0, n1, n2 = board[2, 0], board[2, 1], board[2, 2]
    toward = n0 * x + n1 * y + n2
    depth = (n0 * board[3, 0] + n1 * board[3, 1] + n2 * board[3, 2]) / toward
    edge[0] = 1e9
    wall = shade[0] + shade[1] * x + shade[2] * y
    if not depth > 0.0:
        return wall
    a, b, c = depth * x - board[3, 0], depth * y - board[3, 1], depth - board[3, 2]
    u = (a * board[0, 0] + b * board[0, 1] + c * board[0, 2]) / squares[2]
    v = (a * board[1, 0] + b * board[1, 1] + c * board[1, 2]) / squares[2]
    columns, rows, margin = int(squares[0]), int(squares[1]), squares[3]
    near = min(abs(u - np.rint(u)), abs(v - np.rint(v)))
    near = min(near, abs(u + 1.0 + margin), abs(u - columns - margin))
    near = min(near, abs(v + 1.0 + margin), abs(v - rows - margin))
    # In slopes: a square seen at this depth, at worst along its foreshortened side.
    edge[0] = near * squares[2] / depth * abs(toward)
    paint = _paint(u, v, columns, rows, margin)
    if paint < 0.0:
        return wall
    return paint * _lit(depth * x, depth * y, depth, lamp, board[2])


@banded("out", cost=50)
def board_light(
    begin: int,
    end: int,
    slopes: Array,
    offsets: Array,
    board: Array,
    squares: Array,
    lamp: Array,
    shade: Array,
    out: Array,
) -> None:
    """Light (H, W) of pixels; those near an edge are the mean of many rays.

    `slopes` (H + 2, W + 2, 2) at the centres of pixels and their neighbours: rays beside a centre
    follow from them to second order, which is exact to 1e-6 px; `offsets` (S, 2) in px.
    """
    count = offsets.shape[0]
    for row in range(begin, end):
        edge = np.zeros(1)
        for column in range(out.shape[1]):
            r, c = row + 1, column + 1
            x, y = slopes[r, c, 0], slopes[r, c, 1]
            middle = _seen(x, y, board, squares, lamp, shade, edge)
            ax = (slopes[r, c + 1, 0] - slopes[r, c - 1, 0]) / 2
            ay = (slopes[r, c + 1, 1] - slopes[r, c - 1, 1]) / 2
            bx = (slopes[r + 1, c, 0] - slopes[r - 1, c, 0]) / 2
            by = (slopes[r + 1, c, 1] - slopes[r - 1, c, 1]) / 2
            if edge[0] > 1.2 * (abs(ax) + abs(ay) + abs(bx) + abs(by)):
                out[row, column] = middle
                continue
            aax = slopes[r, c + 1, 0] + slopes[r, c - 1, 0] - 2 * x
            aay = slopes[r, c + 1, 1] + slopes[r, c - 1, 1] - 2 * y
            bbx = slopes[r + 1, c, 0] + slopes[r - 1, c, 0] - 2 * x
            bby = slopes[r + 1, c, 1] + slopes[r - 1, c, 1] - 2 * y
            abx = slopes[r + 1, c + 1, 0] - slopes[r + 1, c - 1, 0]
            abx = (abx - slopes[r - 1, c + 1, 0] + slopes[r - 1, c - 1, 0]) / 4
            aby = slopes[r + 1, c + 1, 1] - slopes[r + 1, c - 1, 1]
            aby = (aby - slopes[r - 1, c + 1, 1] + slopes[r - 1, c - 1, 1]) / 4
            total = 0.0
            for s in range(count):
                a, b = offsets[s, 0], offsets[s, 1]
                px = x + a * ax + b * bx + 0.5 * a * a * aax + a * b * abx + 0.5 * b * b * bbx
                py = y + a * ay + b * by + 0.5 * a * a * aay + a * b * aby + 0.5 * b * b * bby
                total += _seen(px, py, board, squares, lamp, shade, edge)
            out[row, column] = total / count
