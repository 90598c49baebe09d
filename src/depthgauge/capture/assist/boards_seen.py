"""Which parts of the images boards cover, how they are tilted, and how sharp they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.capture.assist.sharpness import edge_width_px
from depthgauge.capture.calibrate.boards import Corners
from depthgauge.capture.calibrate.find_board import find_board
from depthgauge.capture.calibrate.images import find_views
from depthgauge.capture.photographs.exposure import Exposure, exposure_of
from depthgauge.errors import BadFile
from depthgauge.sessions import CAMERAS, Board, Session

GRID = (8, 6)
"""Columns and rows of the cells in which corners are counted."""
_CORNERS = ".corners"
"""The folder in the work folder in which step `calibrate` stores corners, too."""


@dataclass(frozen=True, slots=True, eq=False)
class CameraBoards:
    """One camera's photographs of the board."""

    size_px: tuple[int, int]
    views: Mapping[str, Corners]
    """Corners by pose, where the board was found."""
    not_found: Mapping[str, str]
    """Why a photograph shows no board that can be used."""
    tilts_deg: Mapping[str, tuple[float, float]]
    """By pose: how far the board leans to the right and down, by a rough camera."""
    edge_px: Mapping[str, float]
    """By pose: the width of the board's edges."""
    exposures: Mapping[str, Exposure]

    def cells(self) -> NDArray[np.int64]:
        """(rows, columns): number of corners in each cell of the image."""
        columns, rows = GRID
        counts = np.zeros((rows, columns), np.int64)
        for corners in self.views.values():
            x = np.clip(corners.pixels[:, 0] / self.size_px[0] * columns, 0, columns - 1)
            y = np.clip(corners.pixels[:, 1] / self.size_px[1] * rows, 0, rows - 1)
            np.add.at(counts, (y.astype(np.intp), x.astype(np.intp)), 1)
        return counts

    def covered(self) -> float:
        """Share of the cells with a corner."""
        return float((self.cells() > 0).mean())

    def tilt_range_deg(self) -> float:
        """Largest angle between two boards."""
        ways = [_normal(*tilt) for tilt in self.tilts_deg.values()]
        cosines = [float(a @ b) for i, a in enumerate(ways) for b in ways[:i]]
        return math.degrees(math.acos(np.clip(min(cosines, default=1.0), -1, 1)))


def look_at_boards(
    session: Session, work: Path, progress: Progress | None = None
) -> tuple[Board | None, str, dict[str, CameraBoards]]:
    """The board, where it comes from in words, and what each camera shows of it.

    Found corners are stored where step `calibrate` looks for them.

    Args:
        session: The session; it need not be finished.
        work: Its work folder.
        progress: Called for each photograph.
    """
    images = {name: session.board_images(name) for name in CAMERAS}
    images = {name: paths for name, paths in images.items() if paths}
    board, source = session.board, "session.json"
    if board is None and images:
        found = find_board(images, progress=progress)
        if found is None:
            return None, "there is no board in session.json, and none was found", {}
        board, source = found.of(1.0), f"the photographs show {found.in_words()}"
    if board is None or not images:
        return board, source, {}
    kept = work / _CORNERS
    if session.board is not None:
        work.mkdir(parents=True, exist_ok=True)
    seen = find_views(
        images, board, kept=kept if session.board is not None else None, progress=progress
    )
    found_by = {
        name: _camera(images[name], seen.views[name], seen.left_out[name], board) for name in images
    }
    return board, source, found_by


def _camera(
    paths: Mapping[str, Path],
    views: Mapping[str, Corners],
    left_out: Mapping[str, str],
    board: Board,
) -> CameraBoards:
    exposures: dict[str, Exposure] = {}
    edges: dict[str, float] = {}
    size = next((corners.size_px for corners in views.values()), (0, 0))
    for pose, path in paths.items():
        try:
            image = io.read_image(path)
        except BadFile:
            continue
        size = size if size[0] else (image.shape[1], image.shape[0])
        exposures[pose] = exposure_of(image)
        if pose in views:
            edges[pose] = edge_width_px(image, views[pose].pixels)
    not_found = {p: "no board was found" for p in paths if p not in views} | dict(left_out)
    tilts = {pose: _tilt(corners, board) for pose, corners in views.items()}
    known = {pose: tilt for pose, tilt in tilts.items() if tilt is not None}
    return CameraBoards(size, dict(views), not_found, known, edges, exposures)


def _tilt(corners: Corners, board: Board) -> tuple[float, float] | None:
    """Lean to the right and down, in degrees, by a camera as wide as its focal length."""
    import cv2

    width, height = corners.size_px
    matrix = np.array([[width, 0, (width - 1) / 2], [0, width, (height - 1) / 2], [0, 0, 1.0]])
    known, turn, _ = cv2.solvePnP(
        board.corners_m()[corners.ids], corners.pixels, matrix, np.zeros(5)
    )
    if not known:
        return None
    normal = cv2.Rodrigues(turn)[0][:, 2]
    normal = normal if normal[2] > 0 else -normal
    right, down = (math.degrees(math.atan2(normal[i], normal[2])) for i in (0, 1))
    return right, down


def _normal(right_deg: float, down_deg: float) -> NDArray[np.float64]:
    way = np.array([math.tan(math.radians(right_deg)), math.tan(math.radians(down_deg)), 1.0])
    return np.asarray(way / np.linalg.norm(way))
