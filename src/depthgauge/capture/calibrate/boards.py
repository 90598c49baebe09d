"""The calibration board in a photograph: its corners to a fraction of a pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate._saddles import fit_saddles
from depthgauge.sessions import Board
from depthgauge.sessions.board import dictionary_of
from depthgauge.types import Image

REVISION = 2
"""Raised whenever `find_corners` may find other corners; stored corners are then not used."""
FEWEST_CORNERS = 8
"""A board with fewer visible corners is not used: its pose would be a guess."""
_SEARCH_PX = 1200
"""Longest side of the copy in which boards are searched; corners are then fitted at full size."""
_LUMA = (0.299, 0.587, 0.114)
"""Shares of red, green and blue in grey, as OpenCV takes them."""
_REACH = 0.58
"""Radius of the fit in squares: it contains two edges, and none of the next corners."""


@dataclass(frozen=True, slots=True, eq=False)
class Corners:
    """The corners that were found in one photograph."""

    pixels: NDArray[np.float64]
    """(N, 2) positions x, y."""
    ids: NDArray[np.intp]
    """(N,) ascending indices of the board's corners: row * columns + column."""
    size_px: tuple[int, int]
    """Width and height of the photograph."""

    def common(self, other: Corners) -> tuple[Corners, Corners]:
        """The corners that both have."""
        return self._only(other.ids), other._only(self.ids)

    def _only(self, ids: NDArray[np.intp]) -> Corners:
        keep = np.isin(self.ids, ids)
        return Corners(self.pixels[keep], self.ids[keep], self.size_px)


def find_corners(image: Image, board: Board) -> Corners | None:
    """The board's corners in a photograph; None if the board is not visible.

    A chessboard must be completely visible; for a ChArUco board, some corners are enough. The
    colours of the squares show which corner is the first. A chessboard that looks the same after a
    turn is numbered from the upper left corner in the image (see `turned_alike`).

    Args:
        image: Grey or RGB.
        board: What to look for.
    """
    grey = grey_levels(image)
    found = _charuco(grey, board) if board.kind == "charuco" else _chessboard(grey, board)
    if found is None:
        return None
    ids, rough = found
    pixels = fit_saddles(_light(image, grey), rough, _reach_px(rough, ids, board))
    known = np.isfinite(pixels).all(axis=1)
    if known.sum() < FEWEST_CORNERS:
        return None
    return Corners(pixels[known], ids[known], (grey.shape[1], grey.shape[0]))


def turned_alike(corners: Corners, model: Corners, board: Board) -> Corners:
    """The corners numbered as in another camera's photograph of the same moment.

    Only for chessboards that look the same after a turn. The cameras stand upright beside each
    other, so the right numbering points the same way in both images.
    """
    if board.kind == "charuco" or _is_told_by_colours(board):
        return corners
    turns = [_renumbered(corners, order) for order in _turns(board)]
    return max(turns, key=lambda turn: _alignment(turn, model))


def grey_levels(image: Image) -> NDArray[np.uint8]:
    """A picture as grey levels from 0 to 255, for detectors that want bytes."""
    import cv2

    pixels: NDArray[Any] = np.asarray(image)
    if pixels.dtype != np.uint8:
        pixels = np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8)
    if pixels.ndim == 3:
        pixels = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY)
    return np.ascontiguousarray(pixels)


def _light(image: Image, grey: NDArray[np.uint8]) -> NDArray[np.float32]:
    """How much light fell on each pixel: a blurred edge is symmetric in light, not in sRGB codes.

    Errors of corners are about half as large as in the codes. Photographs of 16 bits are sRGB
    codes, too: sessions hold no linear pictures.
    """
    pixels = np.asarray(image)
    if pixels.dtype == np.uint8:
        return _of_codes(np.arange(256) / 255)[grey]
    shown = pixels @ np.array(_LUMA) if pixels.ndim == 3 else pixels
    return _of_codes(np.clip(np.asarray(shown, np.float64), 0, 1))


def _of_codes(codes: NDArray[np.float64]) -> NDArray[np.float32]:
    light = np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
    return np.asarray(light, np.float32)


def _reach_px(rough: NDArray[np.float64], ids: NDArray[np.intp], board: Board) -> float:
    """Radius of the discs around corners in which there is nothing but two edges."""
    flat = np.full((board.rows * board.columns, 2), np.nan)
    flat[ids] = rough
    grid = flat.reshape(board.rows, board.columns, 2)
    across, down = np.diff(grid, axis=1)[:-1], np.diff(grid, axis=0)[:, :-1]
    area = np.abs(across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0])
    longest = np.maximum(np.linalg.norm(across, axis=-1), np.linalg.norm(down, axis=-1))
    widths = (area / longest)[np.isfinite(area / longest)]
    if not widths.size:
        return 2.0
    reach = _REACH
    if board.kind == "charuco":
        # A marker's own corner is the nearest obstacle.
        reach = min(reach, 0.9 * np.sqrt(0.5) * (1 - board.marker_m / board.square_m))
    return float(reach * widths.min())


def _chessboard(
    grey: NDArray[np.uint8], board: Board
) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
    import cv2

    for factor in _factors(max(grey.shape)):
        size = (max(1, round(grey.shape[1] * factor)), max(1, round(grey.shape[0] * factor)))
        way = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
        small = grey if factor == 1 else cv2.resize(grey, size, interpolation=way)
        found = _search(small, board)
        if found is not None:
            ratio = np.array([grey.shape[1] / size[0], grey.shape[0] / size[1]])
            rough = (found + 0.5) * ratio - 0.5
            return np.arange(len(rough)), _first_corner_first(grey, rough, board)
    return None


def _factors(longest_px: int) -> list[float]:
    """Scales of the search: a fast one, then finer ones; small boards are found enlarged."""
    if longest_px > _SEARCH_PX:
        return [_SEARCH_PX / longest_px, min(1.0, 2 * _SEARCH_PX / longest_px)]
    return [1.0, 2.0]


def _search(grey: NDArray[np.uint8], board: Board) -> NDArray[np.float64] | None:
    import cv2

    shape = (board.columns, board.rows)
    # The newer search tolerates blur and small squares, the older one shade and distortion.
    found, corners = cv2.findChessboardCornersSB(grey, shape, flags=cv2.CALIB_CB_NORMALIZE_IMAGE)
    if not found:
        flags = cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE
        flags |= cv2.CALIB_CB_FAST_CHECK
        found, corners = cv2.findChessboardCorners(grey, shape, flags=flags)
    if not found or corners is None or corners.size != 2 * shape[0] * shape[1]:
        return None
    start = np.ascontiguousarray(corners.reshape(-1, 1, 2), np.float32)
    stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 30, 0.01)
    better = cv2.cornerSubPix(grey, start, (3, 3), (-1, -1), stop)
    return np.asarray(better.reshape(-1, 2), np.float64)


def _first_corner_first(
    grey: NDArray[np.uint8], rough: NDArray[np.float64], board: Board
) -> NDArray[np.float64]:
    """The corners in the board's order: right-handed, from the corner that the colours mark."""
    grid = rough.reshape(board.rows, board.columns, 2)
    across, down = grid[0, -1] - grid[0, 0], grid[-1, 0] - grid[0, 0]
    if across[0] * down[1] - across[1] * down[0] < 0:  # mirrored: x right, y down
        grid = grid[:, ::-1]
    flat = np.ascontiguousarray(grid).reshape(-1, 2)
    turns = [flat[order] for order in _turns(board)]
    if _is_told_by_colours(board):
        return max(turns, key=lambda turn: _contrast_of_first(grey, turn, board))
    return min(turns, key=lambda turn: float(turn[0].sum()))


def _is_told_by_colours(board: Board) -> bool:
    """Whether half a turn swaps black and white: one number of corners is odd, the other even."""
    return (board.columns + board.rows) % 2 == 1


def _turns(board: Board) -> list[NDArray[np.intp]]:
    """Orders of the corners that show the same board turned."""
    grid = np.arange(board.rows * board.columns).reshape(board.rows, board.columns)
    quarters = (0, 1, 2, 3) if board.rows == board.columns else (0, 2)
    return [np.rot90(grid, quarter).ravel() for quarter in quarters]


def _contrast_of_first(
    grey: NDArray[np.uint8], corners: NDArray[np.float64], board: Board
) -> float:
    """How much brighter the first square between corners is than its neighbours.

    The board's own rule: the square between the first four corners is black.
    """
    grid = corners.reshape(board.rows, board.columns, 2)
    middles = (grid[:-1, :-1] + grid[1:, :-1] + grid[:-1, 1:] + grid[1:, 1:]) / 4
    x, y = np.rint(middles).astype(np.intp).reshape(-1, 2).T
    height, width = grey.shape
    values = grey[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)].astype(np.float64)
    row, column = np.mgrid[: board.rows - 1, : board.columns - 1]
    black = ((row + column) % 2 == 0).ravel()
    if black.all():
        return -float(values[black].mean())
    return float(values[~black].mean() - values[black].mean())


def _renumbered(corners: Corners, order: NDArray[np.intp]) -> Corners:
    """Corner `order[k]` becomes corner k."""
    new = np.argsort(order)[corners.ids]
    sequence = np.argsort(new)
    return Corners(corners.pixels[sequence], new[sequence], corners.size_px)


def _alignment(one: Corners, other: Corners) -> float:
    """Correlation of the corners of two boards around their centres."""
    a, b = one.common(other)
    if len(a.ids) < 2:
        return -np.inf
    return float(((a.pixels - a.pixels.mean(0)) * (b.pixels - b.pixels.mean(0))).sum())


def _charuco(
    grey: NDArray[np.uint8], board: Board
) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
    import cv2

    squares = (board.columns + 1, board.rows + 1)
    made = cv2.aruco.CharucoBoard(squares, board.square_m, board.marker_m, dictionary_of(board))
    made.setLegacyPattern(board.legacy)
    corners, ids, _, _ = cv2.aruco.CharucoDetector(made).detectBoard(grey)
    if ids is None or len(ids) < FEWEST_CORNERS:
        return None
    order = np.argsort(ids.ravel())
    pixels = np.asarray(corners, np.float64).reshape(-1, 2)
    return ids.ravel()[order].astype(np.intp), pixels[order]
