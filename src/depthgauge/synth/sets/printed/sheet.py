"""A page with a calibration board, a scale bar and what it is, in millimetres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.errors import Misuse
from depthgauge.sessions import Board
from depthgauge.sessions.board import dictionary_of

PAGES_MM = {
    "A5": (210.0, 148.0),
    "A4": (297.0, 210.0),
    "A3": (420.0, 297.0),
    "A2": (594.0, 420.0),
    "A1": (841.0, 594.0),
    "A0": (1189.0, 841.0),
    "letter": (279.4, 215.9),
    "tabloid": (431.8, 279.4),
}
"""Width and height, lying."""
_RIM_MM = 8.0
"""White rim that printers leave, and detectors need."""
_FOOT_MM = 14.0
"""Room below the board for the scale bar and the text."""
_TICK_MM = 10.0


@dataclass(frozen=True, slots=True)
class Box:
    """A black rectangle, from its upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page: boxes and lines of text, in millimetres from the upper left corner."""

    size_mm: tuple[float, float]
    boxes: tuple[Box, ...]
    texts: tuple[tuple[float, float, float, str], ...]
    """x, y of the baseline, height of the letters, text."""


def board_sheet(board: Board, page: str = "A4") -> Sheet:
    """The page of a board, lying or standing as it fits better.

    Args:
        board: The board; its squares have their true size.
        page: One of `PAGES_MM`, or a size in millimetres: `600x400`.

    Raises:
        Misuse: There is no such page, or the board does not fit; the message says what would.
    """
    square = 1000 * board.square_m
    wide, high = square * (board.columns + 1), square * (board.rows + 1)
    size = _page_that_fits(page, wide, high, board)
    left = (size[0] - wide) / 2
    top = (size[1] - _FOOT_MM - high) / 2
    boxes = [
        Box(left + square * column, top + square * row, square, square)
        for row in range(board.rows + 1)
        for column in range(board.columns + 1)
        if _is_black(board, row, column)
    ]
    if board.kind == "charuco":
        boxes += _marker_boxes(board, left, top)
    bar, text = _scale_bar(size, left, min(wide, 200.0))
    return Sheet(size, (*boxes, *bar), (text, _about(board, size, left, bar)))


def _page_that_fits(page: str, wide: float, high: float, board: Board) -> tuple[float, float]:
    lying = _page_mm(page)
    fits = []
    for size in (lying, lying[::-1]):
        room = (size[0] - 2 * _RIM_MM, size[1] - 2 * _RIM_MM - _FOOT_MM)
        if wide <= room[0] + 1e-9 and high <= room[1] + 1e-9:
            return size
        fits.append(min(room[0] / (board.columns + 1), room[1] / (board.rows + 1)))
    raise Misuse(
        f"a board of {wide:g}x{high:g} mm does not fit on {page}; use squares of at most "
        f"{np.floor(2 * max(fits)) / 2:g} mm, fewer of them, or a larger page"
    )


def _page_mm(page: str) -> tuple[float, float]:
    for name, size in PAGES_MM.items():
        if page.lower() == name.lower():
            return size
    try:
        width, height = (float(part) for part in page.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (0 < height < 10_000 and 0 < width < 10_000):
        raise Misuse(
            f"a page is {', '.join(PAGES_MM)} or a size in millimetres like 600x400, found '{page}'"
        )
    return max(width, height), min(width, height)


def _is_black(board: Board, row: int, column: int) -> bool:
    """The first square is black; boards of older versions of OpenCV with even rows begin white."""
    swapped = board.kind == "charuco" and board.legacy and board.rows % 2 == 1
    return (row + column) % 2 == (1 if swapped else 0)


def _marker_boxes(board: Board, left: float, top: float) -> list[Box]:
    """The black cells of all markers, in runs; numbered as OpenCV does, row by row."""
    import cv2

    dictionary = dictionary_of(board)
    cells = dictionary.markerSize + 2
    square, marker = 1000 * board.square_m, 1000 * board.marker_m
    white = [
        (row, column)
        for row in range(board.rows + 1)
        for column in range(board.columns + 1)
        if not _is_black(board, row, column)
    ]
    if len(white) > len(dictionary.bytesList):
        raise Misuse(
            f"the board needs {len(white)} markers, {board.dictionary} has "
            f"{len(dictionary.bytesList)}; choose a larger dictionary"
        )
    boxes, side = [], marker / cells
    for number, (row, column) in enumerate(white):
        x = left + square * column + (square - marker) / 2
        y = top + square * row + (square - marker) / 2
        dark = cv2.aruco.generateImageMarker(dictionary, number, cells) == 0
        for k in range(cells):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], dark[k], [False]])))
            boxes += [
                Box(x + side * a, y + side * k, side * (b - a), side)
                for a, b in edges.reshape(-1, 2).tolist()
            ]
    return boxes


def _scale_bar(
    size: tuple[float, float], left: float, most: float
) -> tuple[list[Box], tuple[float, float, float, str]]:
    """A bar with a tick every centimetre, at the page's foot."""
    length = max(_TICK_MM, _TICK_MM * (min(most, 100.0) // _TICK_MM))
    y = size[1] - _RIM_MM - 4.0
    ticks = round(length / _TICK_MM)
    bar = [Box(left, y, length, 0.4)]
    bar += [Box(left + _TICK_MM * k - 0.1, y - 2.0, 0.2, 2.0) for k in range(ticks + 1)]
    said = f"{length:g} mm: measure after printing at 100 %, without fitting to the page"
    return bar, (left, y + 3.6, 2.6, said)


def _about(
    board: Board, size: tuple[float, float], left: float, bar: list[Box]
) -> tuple[float, float, float, str]:
    corners = f"{board.columns}x{board.rows} inner corners, squares of {1000 * board.square_m:g} mm"
    if board.kind == "charuco":
        corners += f", markers of {1000 * board.marker_m:g} mm, {board.dictionary}"
    return left + bar[0].width + 4.0, bar[0].y, 2.6, corners
