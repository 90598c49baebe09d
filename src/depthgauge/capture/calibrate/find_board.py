"""Which board photographs show, if session.json does not say it or is wrong: found by trying."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.capture.calibrate.boards import grey_levels
from depthgauge.errors import BadFile
from depthgauge.sessions import Board
from depthgauge.sessions.board import dictionary_of

_LOOKED_AT = 12
"""At most this many photographs are searched."""
_SEARCH_PX = 1200
_DICTIONARIES = (
    *("DICT_4X4_50", "DICT_5X5_100", "DICT_6X6_250", "DICT_4X4_250", "DICT_5X5_250"),
    *("DICT_4X4_1000", "DICT_5X5_1000", "DICT_6X6_1000", "DICT_7X7_1000", "DICT_ARUCO_ORIGINAL"),
)
"""Small ones first: their markers are also in the large ones of the same size."""
_FEWEST_MARKERS = 6
_FEWEST_CORNERS = 12
"""Nine corners are also found in noise."""
_MOST_SQUARES = 30
_FITS = 0.12
"""Markers of the right layout are this near to their places, in squares; lenses bend them."""
_UNKNOWN_M = 1.0
"""Stands for the unknown side of a square."""


@dataclass(frozen=True, slots=True)
class FoundBoard:
    """A board whose squares have an unknown size."""

    board: Board
    """With squares of 1 m."""
    seen: int
    """In this many photographs it was found."""
    searched: int

    def of(self, square_m: float) -> Board:
        """The board with its true size."""
        marker_m = self.board.marker_m * square_m
        return replace(self.board, square_m=square_m, marker_m=marker_m)

    def in_words(self) -> str:
        """What was found, for messages.

        >>> FoundBoard(Board(9, 6, 1.0), 4, 5).in_words()
        'a chessboard with 9x6 inner corners (in 4 of 5 photographs)'
        """
        kind = "ChArUco board" if self.board.kind == "charuco" else "chessboard"
        corners = f"{self.board.columns}x{self.board.rows} inner corners"
        more = f", {self.board.dictionary}" if self.board.kind == "charuco" else ""
        where = f"(in {self.seen} of {self.searched} photographs)"
        return f"a {kind} with {corners}{more} {where}"

    def entry(self) -> str:
        """The entry for session.json; the size of a square is left to the reader."""
        data = self.of(_UNKNOWN_M).to_json()
        data["square_m"] = "SIDE OF A SQUARE IN METRES"
        if self.board.kind == "charuco":
            data["marker_m"] = f"{self.board.marker_m:.2f} OF THAT"
        return f'"board": {json.dumps(data)}'


def find_board(
    images: Mapping[str, Mapping[str, Path]], *, progress: Progress | None = None
) -> FoundBoard | None:
    """The board that most photographs show; None if none shows one.

    A chessboard that is partly outside of a photograph looks smaller there, so the largest of the
    sizes that are seen more than once is taken.

    Args:
        images: Files by camera and pose.
        progress: Called for each photograph.
    """
    votes: Counter[Board] = Counter()
    chosen = _spread([path for paths in images.values() for path in paths.values()])
    searched = 0
    for number, path in enumerate(chosen):
        try:
            grey = _small(io.read_image(path))
        except BadFile:
            continue
        searched += 1
        board = _charuco_in(grey) or _chessboard_in(grey)
        if board is not None:
            votes[board] += 1
        if progress:
            progress("finding out the board", number + 1, len(chosen))
    if not votes:
        return None
    often = [board for board, count in votes.items() if count > 1] or list(votes)
    best = max(often, key=lambda b: (b.kind == "charuco", b.columns * b.rows, votes[b]))
    return FoundBoard(best, votes[best], searched)


def _spread(paths: list[Path]) -> list[Path]:
    places = np.linspace(0, len(paths) - 1, min(_LOOKED_AT, len(paths))).round().astype(int)
    return [paths[i] for i in dict.fromkeys(places.tolist())]


def _small(image: Any) -> NDArray[np.uint8]:
    import cv2

    grey = grey_levels(image)
    factor = min(1.0, _SEARCH_PX / max(grey.shape))
    size = (round(grey.shape[1] * factor), round(grey.shape[0] * factor))
    return grey if factor == 1 else np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA))


def _chessboard_in(grey: NDArray[np.uint8]) -> Board | None:
    """A chessboard of any size: the search begins with three corners and grows."""
    import cv2

    flags = cv2.CALIB_CB_LARGER | cv2.CALIB_CB_NORMALIZE_IMAGE
    found, _, meta = cv2.findChessboardCornersSBWithMeta(grey, (3, 3), flags=flags)
    if not found or meta is None or meta.size < _FEWEST_CORNERS:
        return None
    rows, columns = sorted(meta.shape)
    return Board(columns, rows, _UNKNOWN_M)


# --- ChArUco --------------------------------------------------------------------------------------


def _charuco_in(grey: NDArray[np.uint8]) -> Board | None:
    """A ChArUco board: its dictionary by its markers, its layout by their places."""
    import cv2

    how = cv2.aruco.DetectorParameters()
    how.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    best: tuple[list[int], NDArray[np.float64], str] = ([], np.zeros((0, 4, 2)), "")
    for name in _DICTIONARIES:
        probe = Board(3, 3, _UNKNOWN_M, kind="charuco", marker_m=0.5, dictionary=name)
        detector = cv2.aruco.ArucoDetector(dictionary_of(probe), how)
        quads, numbers, _ = detector.detectMarkers(grey)
        if numbers is not None and len(numbers) > len(best[0]):
            places = np.array(quads, np.float64).reshape(-1, 4, 2)
            best = ([int(i) for i in numbers.ravel()], places, name)
    ids, corners, name = best
    if len(ids) < _FEWEST_MARKERS or len(set(ids)) < len(ids):
        return None
    fits = [
        (misfit, board)
        for board in _layouts(max(ids) + 1, name)
        if (misfit := _misfit(board, ids, corners)) is not None and misfit < _FITS
    ]
    if not fits:
        return None
    _, board = min(fits, key=lambda fit: fit[0])
    return replace(board, marker_m=_marker_share(board, ids, corners))


def _layouts(least: int, dictionary: str) -> Iterable[Board]:
    """Boards with at least so many markers; hidden markers may have higher numbers."""
    for across in range(3, _MOST_SQUARES + 1):
        for down in range(3, _MOST_SQUARES + 1):
            markers = across * down // 2
            if least <= markers <= least + max(across, down) // 2 + 1:
                for legacy in (False, True) if down % 2 == 0 else (False,):
                    yield Board(
                        *(across - 1, down - 1, _UNKNOWN_M),
                        kind="charuco",
                        marker_m=0.5,
                        dictionary=dictionary,
                        legacy=legacy,
                    )


def _centres(board: Board, ids: list[int]) -> NDArray[np.float64] | None:
    """Middles of markers on the board, in squares; None if it lacks one."""
    import cv2

    size = (board.columns + 1, board.rows + 1)
    made = cv2.aruco.CharucoBoard(size, _UNKNOWN_M, board.marker_m, dictionary_of(board))
    made.setLegacyPattern(board.legacy)
    places = {
        int(i): np.asarray(p)[:, :2]
        for i, p in zip(made.getIds(), made.getObjPoints(), strict=True)
    }
    if not set(ids) <= set(places):
        return None
    return np.array([places[i].mean(axis=0) for i in ids], np.float64)


def _misfit(board: Board, ids: list[int], corners: NDArray[np.float64]) -> float | None:
    """How far markers are from their places, in squares, after the best homography."""
    import cv2

    there = _centres(board, ids)
    if there is None:
        return None
    seen = corners.mean(axis=1)
    matrix, _ = cv2.findHomography(seen, there, 0)
    if matrix is None:
        return None
    off = cv2.perspectiveTransform(seen[None], matrix)[0] - there
    return float(np.sqrt((off**2).sum(axis=1).mean()))


def _marker_share(board: Board, ids: list[int], corners: NDArray[np.float64]) -> float:
    """Side of a marker as a share of a square, rounded to a hundredth."""
    import cv2

    there = _centres(board, ids)
    matrix, _ = cv2.findHomography(corners.mean(axis=1), there, 0)
    flat = cv2.perspectiveTransform(corners.reshape(1, -1, 2), matrix).reshape(-1, 4, 2)
    sides = np.linalg.norm(flat - np.roll(flat, 1, axis=1), axis=2)
    return float(np.clip(np.round(np.median(sides), 2), 0.05, 0.99))
