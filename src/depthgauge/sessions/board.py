"""The calibration target: a chessboard, or a ChArUco board whose squares carry markers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData, Misuse
from depthgauge.io.text import parse_json


@dataclass(frozen=True, slots=True)
class Board:
    """A flat board of squares.

    >>> Board(columns=3, rows=2, square_m=0.1).corners_m()[:4]
    array([[0. , 0. , 0. ], [0.1, 0. , 0. ], [0.2, 0. , 0. ], [0. , 0.1, 0. ]])
    """

    columns: int = 9
    """Inner corners along the long side."""
    rows: int = 6
    """Inner corners along the short side."""
    square_m: float = 0.03
    """Side of a square."""
    kind: Literal["chessboard", "charuco"] = "chessboard"
    marker_m: float = 0.0
    """Side of a marker, ChArUco only."""
    dictionary: str = "DICT_6X6_250"
    """OpenCV's name of the markers' dictionary, ChArUco only."""
    legacy: bool = False
    """Whether a ChArUco board was printed with OpenCV before 4.6."""

    def __post_init__(self) -> None:
        if self.kind not in ("chessboard", "charuco"):
            raise Misuse(f"a board must be 'chessboard' or 'charuco', found {self.kind!r}")
        if min(self.columns, self.rows) < 2 or not 0 < self.square_m < math.inf:
            raise Misuse(
                f"a board needs at least 2x2 inner corners and a positive square size, found "
                f"{self.columns}x{self.rows} of {self.square_m} m"
            )
        if self.kind == "charuco" and not 0 < self.marker_m < self.square_m:
            raise Misuse(
                f"marker_m of a ChArUco board must be between 0 and square_m, found {self.marker_m}"
            )

    def corners_m(self) -> NDArray[np.float64]:
        """The inner corners (columns * rows, 3), row by row, the first at the origin, z = 0."""
        y, x = np.mgrid[0 : self.rows, 0 : self.columns]
        flat = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=-1)
        return np.asarray(flat * self.square_m, np.float64)

    def to_json(self) -> dict[str, Any]:
        """Plain data for session.json."""
        plain = {"kind": self.kind, "inner_corners": [self.columns, self.rows]}
        squares = {**plain, "square_m": self.square_m}
        if self.kind == "chessboard":
            return squares
        markers = {"marker_m": self.marker_m, "dictionary": self.dictionary}
        return {**squares, **markers, "legacy": self.legacy}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The board that `to_json` wrote; raises KeyError, TypeError, ValueError for others."""
        columns, rows = (int(n) for n in data["inner_corners"])
        rest = {k: data[k] for k in ("kind", "dictionary", "legacy") if k in data}
        marker_m = float(data.get("marker_m", 0.0))
        return cls(columns, rows, float(data["square_m"]), marker_m=marker_m, **rest)


def read_board(path: Path) -> Board:
    """The board in a JSON file: an entry `board` of session.json, or that entry alone.

    Raises:
        BadData: The file cannot be read, or holds no board.
    """
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        return Board.from_json(data.get("board", data))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadData(f"{path}: expected a board, as `make board` writes it ({error}).") from error


def dictionary_of(board: Board) -> Any:
    """OpenCV's dictionary of a ChArUco board's markers.

    Raises:
        Misuse: There is no dictionary of that name.
    """
    import cv2

    number = getattr(cv2.aruco, board.dictionary, None)
    if not board.dictionary.startswith("DICT_") or number is None:
        raise Misuse(
            f"OpenCV has no marker dictionary {board.dictionary!r}; names are like DICT_6X6_250"
        )
    return cv2.aruco.getPredefinedDictionary(number)
