"""Boards that session.json does not name are found by trying."""

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.calibrate.find_board import FoundBoard, find_board
from depthgauge.capture.calibrate.step import calibrate
from depthgauge.errors import BadData, Misuse
from depthgauge.sessions import Board, Session
from depthgauge.sessions.board import dictionary_of

SQUARE_PX = 28


def chessboard(columns, rows):
    y, x = np.mgrid[: (rows + 1) * SQUARE_PX, : (columns + 1) * SQUARE_PX]
    squares = ((x // SQUARE_PX + y // SQUARE_PX) % 2 * 255).astype(np.uint8)
    return np.pad(squares, 2 * SQUARE_PX, constant_values=255)


def charuco(board):
    size = (board.columns + 1, board.rows + 1)
    made = cv2.aruco.CharucoBoard(size, 1.0, board.marker_m, dictionary_of(board))
    made.setLegacyPattern(board.legacy)
    picture = made.generateImage(tuple(SQUARE_PX * n for n in size), marginSize=0)
    return np.pad(picture, 2 * SQUARE_PX, constant_values=255)


def photographed(flat, number):
    """Tilted, blurred, in the middle of a grey room."""
    rng = np.random.default_rng(number)
    height, width = flat.shape
    corners = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    there = corners * np.float32([440 / width, 330 / height]) * 0.8 + 40
    there += rng.uniform(-28, 28, there.shape).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners, np.float32(there))
    seen = cv2.warpPerspective(flat, matrix, (500, 400), flags=cv2.INTER_AREA, borderValue=120)
    return cv2.GaussianBlur(seen, (0, 0), 0.6)


def photographs(folder, flat, count=3):
    paths = {}
    for number in range(count):
        path = folder / f"{number}.png"
        io.write_image(path, photographed(flat, number))
        paths[str(number)] = path
    return {"L": paths}


LONG = pytest.mark.long


@pytest.mark.parametrize(
    "size", [(8, 11), *(pytest.param(s, marks=LONG) for s in ((9, 6), (7, 7), (4, 3)))]
)
def test_chessboards(tmp_path, size):
    found = find_board(photographs(tmp_path, chessboard(*size)))
    assert found == FoundBoard(Board(max(size), min(size), 1.0), 3, 3)
    assert f"{max(size)}x{min(size)} inner corners" in found.in_words()


@pytest.mark.parametrize(
    ("size", "dictionary", "marker", "legacy"),
    [
        ((6, 5), "DICT_5X5_100", 0.7, True),
        pytest.param((6, 5), "DICT_5X5_100", 0.7, False, marks=LONG),
        pytest.param((6, 4), "DICT_6X6_250", 0.75, False, marks=LONG),
        pytest.param((9, 6), "DICT_4X4_50", 0.75, False, marks=LONG),
    ],
)
def test_charuco_boards(tmp_path, size, dictionary, marker, legacy):
    board = Board(
        *(*size, 1.0), kind="charuco", marker_m=marker, dictionary=dictionary, legacy=legacy
    )
    found = find_board(photographs(tmp_path, charuco(board), count=2))
    assert found is not None
    assert (found.board.columns, found.board.rows) == size
    assert (found.board.dictionary, found.board.legacy) == (dictionary, legacy)
    assert found.board.marker_m == pytest.approx(marker, abs=0.03)
    assert found.of(0.04).marker_m == pytest.approx(0.04 * marker, abs=0.002)


@LONG
def test_a_board_that_is_partly_outside_counts_less(tmp_path):
    whole = photographs(tmp_path, chessboard(9, 6))
    cut = photographed(chessboard(9, 6), 7)[:, :330]
    for name in ("3", "4", "5", "6"):
        io.write_image(tmp_path / f"{name}.png", cut)
        whole["L"][name] = tmp_path / f"{name}.png"
    found = find_board(whole)
    assert (found.board.columns, found.board.rows) == (9, 6)


def test_nothing_to_find(tmp_path):
    grey = np.random.default_rng(0).integers(0, 255, (200, 300)).astype(np.uint8)
    io.write_image(tmp_path / "0.png", grey)
    (tmp_path / "1.png").write_bytes(b"no picture")
    files = {str(n): tmp_path / f"{n}.png" for n in (0, 1)}
    assert find_board({"L": files}) is None


@pytest.fixture
def session(tmp_path):
    for camera in "LR":
        folder = tmp_path / "session" / "calibration" / camera
        folder.mkdir(parents=True)
        photographs(folder, chessboard(8, 5), count=2)
    return tmp_path / "session"


def test_the_step_says_which_board_it_found(session, tmp_path):
    none = Session(session, "s", None)
    with pytest.raises(BadData, match=r"8x5 inner corners \(in 4 of 4 photographs\).*--square-m"):
        calibrate(none, tmp_path / "work")
    wrong = Session(session, "s", Board(9, 6, 0.03))
    with pytest.raises(
        BadData, match=r'has 9x6 inner corners.*show a chessboard with 8x5.*"board"'
    ):
        calibrate(wrong, tmp_path / "work")
    with pytest.raises(Misuse, match="leave out --square-m"):
        calibrate(wrong, tmp_path / "work", square_m=0.02)


def test_without_any_board_there_is_one_sentence(session, tmp_path):
    for path in session.rglob("*.png"):
        io.write_image(path, np.full((100, 120), 90, np.uint8))
    with pytest.raises(BadData, match="none is found in the photographs"):
        calibrate(Session(session, "s", None), tmp_path / "work", square_m=0.02)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_corners_are_those_of_the_upright_photograph(tmp_path, orientation):
    """Stored in any of the eight ways, a board is found in the same places."""
    from PIL import Image

    from depthgauge.capture.calibrate.images import find_views

    seen = photographed(chessboard(6, 3), 1)
    mirrored, quarters = {
        1: (False, 0),
        2: (True, 0),
        3: (False, 2),
        4: (True, 2),
        5: (True, 1),
        6: (False, 1),
        7: (True, 3),
        8: (False, 3),
    }[orientation]
    # The inverse of what readers do: turned first, then mirrored.
    stored = np.rot90(seen, quarters)
    stored = stored[:, ::-1] if mirrored and quarters % 2 == 0 else stored
    stored = stored[::-1] if mirrored and quarters % 2 else stored
    picture = Image.fromarray(np.ascontiguousarray(stored))
    notes = picture.getexif()
    notes[0x0112] = orientation
    picture.save(tmp_path / "a.png", exif=notes)
    assert np.array_equal(io.read_image(tmp_path / "a.png"), seen)
    views = find_views({"L": {"a": tmp_path / "a.png"}}, Board(6, 3, 0.03)).views
    io.write_image(tmp_path / "b.png", seen)
    plain = find_views({"L": {"a": tmp_path / "b.png"}}, Board(6, 3, 0.03)).views
    assert np.array_equal(views["L"]["a"].pixels, plain["L"]["a"].pixels)


def test_deep_photographs_give_the_same_corners():
    """The same sRGB codes in 16 bits, in colour or grey: only rounding differs."""
    from depthgauge.capture.calibrate.boards import find_corners

    seen = photographed(chessboard(6, 3), 1)
    plain = find_corners(seen, Board(6, 3, 0.03)).pixels
    deep = (seen / np.float32(255)).astype(np.float32)
    for picture in (deep, np.repeat(deep[..., None], 3, axis=2)):
        assert np.abs(find_corners(picture, Board(6, 3, 0.03)).pixels - plain).max() < 1e-3
