"""Boards: corners, and what is no board."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse
from depthgauge.sessions import Board


def test_corners_go_along_the_rows():
    corners = Board(columns=3, rows=2, square_m=0.1).corners_m()
    assert corners.shape == (6, 3)
    assert corners[4] == pytest.approx([0.1, 0.1, 0.0])


@given(st.integers(2, 20), st.integers(2, 20), st.floats(1e-3, 1.0), st.booleans())
def test_a_board_survives_json(columns, rows, square_m, charuco):
    more = {"kind": "charuco", "marker_m": 0.7 * square_m, "legacy": True} if charuco else {}
    board = Board(columns, rows, square_m, **more)
    assert Board.from_json(board.to_json()) == board
    assert len(np.unique(board.corners_m(), axis=0)) == columns * rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "dots"}, "charuco"),
        ({"columns": 1}, "at least 2x2"),
        ({"square_m": 0.0}, "positive square size"),
        ({"square_m": float("nan")}, "positive square size"),
        ({"kind": "charuco"}, "marker_m"),
        ({"kind": "charuco", "marker_m": 0.05}, "marker_m"),
    ],
)
def test_what_is_no_board_is_refused(options, message):
    with pytest.raises(Misuse, match=message):
        Board(**options)
