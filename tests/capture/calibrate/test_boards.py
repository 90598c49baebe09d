import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.calibrate.boards import Corners, find_corners, turned_alike
from depthgauge.errors import Misuse
from depthgauge.sessions import Board
from depthgauge.sessions.board import dictionary_of

SIDE = 20


def drawn(board, noise=2.0, seed=0):
    """A board seen from straight above; its first corner is at (60 - 0.5, 60 - 0.5)."""
    row, column = np.mgrid[: board.rows + 1, : board.columns + 1]
    # The square between the first four corners is black.
    squares = np.where((row + column) % 2 == 0, 30, 220)
    image = np.kron(squares, np.ones((SIDE, SIDE)))
    image = np.pad(image, 40, constant_values=220).astype(float)
    image += np.random.default_rng(seed).normal(0, noise, image.shape)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def grid(board):
    row, column = np.mgrid[: board.rows, : board.columns]
    return np.stack([column, row], axis=-1).reshape(-1, 2) * SIDE + 60 - 0.5


def turned(points, shape):
    """What np.rot90 does to positions."""
    return np.stack([points[:, 1], shape[1] - 1 - points[:, 0]], axis=-1)


def worst(found, expected):
    return np.abs(found.pixels - expected[found.ids]).max()


def test_corners_are_found_to_a_fiftieth_of_a_pixel():
    board = Board(7, 5)
    found = find_corners(drawn(board), board)
    np.testing.assert_array_equal(found.ids, np.arange(35))
    assert found.size_px == (drawn(board).shape[1], drawn(board).shape[0])
    assert worst(found, grid(board)) < 0.02


def test_colour_and_depth_of_the_picture_do_not_matter():
    board = Board(7, 5)
    grey = drawn(board)
    for image in (np.dstack([grey] * 3), (grey / 255).astype(np.float32)):
        assert worst(find_corners(image, board), grid(board)) < 0.02


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_colours_tell_the_first_corner(quarters):
    """6x5 corners: however the board is held, each corner keeps its number."""
    board = Board(6, 5)
    image, expected = drawn(board), grid(board)
    for _ in range(quarters):
        expected = turned(expected, image.shape)
        image = np.rot90(image)
    assert worst(find_corners(np.ascontiguousarray(image), board), expected) < 0.02


@pytest.mark.parametrize(
    ("board", "quarters"), [(Board(7, 5), (0, 2)), (Board(5, 5), (0, 1, 2, 3))]
)
def test_boards_alike_after_a_turn_are_numbered_as_the_other_camera_has_them(board, quarters):
    model = find_corners(drawn(board), board)
    size, aside = model.size_px, np.array([9.0, 1.0])
    numbers = np.arange(board.rows * board.columns).reshape(board.rows, board.columns)
    for quarter in quarters:
        order = np.rot90(numbers, quarter).ravel()
        # Another camera's corners: a little to the side, and numbered from another corner.
        other = Corners(model.pixels[order] + aside, np.arange(len(order)), size)
        alike = turned_alike(other, model, board)
        np.testing.assert_array_equal(alike.ids, np.arange(len(order)))
        np.testing.assert_allclose(alike.pixels, model.pixels + aside)


def test_numbers_that_colours_tell_are_not_changed():
    board = Board(6, 5)
    found = find_corners(drawn(board), board)
    assert turned_alike(found, found, board) is found


def test_common_corners():
    size = (9, 9)
    one = Corners(np.arange(8.0).reshape(4, 2), np.array([0, 2, 3, 7]), size)
    other = Corners(np.arange(6.0).reshape(3, 2) + 50, np.array([2, 5, 7]), size)
    a, b = one.common(other)
    np.testing.assert_array_equal(a.ids, [2, 7])
    np.testing.assert_array_equal(b.ids, [2, 7])
    np.testing.assert_array_equal(a.pixels, [[2, 3], [6, 7]])
    np.testing.assert_array_equal(b.pixels, [[50, 51], [54, 55]])


def test_where_there_is_no_board_none_is_found():
    picture = np.random.default_rng(0).integers(0, 256, (120, 160), dtype=np.uint8)
    assert find_corners(picture, Board()) is None
    assert find_corners(np.full((120, 160), 80, np.uint8), Board()) is None
    charuco = Board(4, 6, 0.04, "charuco", 0.02)
    assert find_corners(picture, charuco) is None


def test_a_large_board_is_found_in_a_shrunk_copy_and_fitted_at_full_size():
    board = Board(7, 5)
    large = np.kron(drawn(board, noise=0), np.ones((8, 8), np.uint8))
    found = find_corners(large, board)
    assert worst(found, (grid(board) + 0.5) * 8 - 0.5) < 0.02


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7])
def test_recorded_corners(shared, number):
    """OpenCV's own test pictures; the recorded corners are good to about a tenth of a pixel."""
    folder = shared("data/calib-chessboard-corners")
    stored = cv2.FileStorage(str(folder / f"chess_corners{number}.dat"), cv2.FILE_STORAGE_READ)
    recorded = np.asarray(stored.getNode("corners").mat(), float)
    board = Board(recorded.shape[1], recorded.shape[0])
    found = find_corners(io.read_image(folder / f"chess{number}.png"), board)
    assert len(found.ids) == 35
    # The record may have the board upside down.
    turns = (recorded, recorded[::-1, ::-1])
    errors = [found.pixels - turn.reshape(-1, 2) for turn in turns]
    assert min(np.sqrt((e**2).sum(axis=1).mean()) for e in errors) < 0.3


def test_a_charuco_board(shared):
    """Its 24 corners are known to OpenCV's tests; the board was made before OpenCV 4.6."""
    folder = shared("data/calib-charuco")
    board = Board(4, 6, 0.04, "charuco", 0.02, legacy=True)
    found = find_corners(io.read_image(folder / "choriginal.jpg"), board)
    np.testing.assert_array_equal(found.ids, np.arange(24))
    # A plane seen by a camera: a homography explains all corners.
    flat = board.corners_m()[:, :2]
    matrix, _ = cv2.findHomography(flat, found.pixels)
    mapped = cv2.perspectiveTransform(flat[:, None], matrix)[:, 0]
    assert np.sqrt(((mapped - found.pixels) ** 2).sum(axis=1).mean()) < 0.4


def test_a_charuco_board_may_be_hidden_in_part(shared):
    folder = shared("data/calib-charuco")
    board = Board(4, 6, 0.04, "charuco", 0.02, legacy=True)
    found = find_corners(io.read_image(folder / "chocclusion_original.jpg"), board)
    assert 8 <= len(found.ids) < 24
    assert (np.diff(found.ids) > 0).all()


def test_an_unknown_dictionary_is_named():
    board = Board(4, 6, 0.04, "charuco", 0.02, dictionary="DICT_9X9_1")
    with pytest.raises(Misuse, match="no marker dictionary 'DICT_9X9_1'"):
        dictionary_of(board)
