"""Boards to print: true to size on paper, and found by our own detector."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.calibrate.boards import find_corners
from depthgauge.errors import CannotWrite, Misuse
from depthgauge.sessions import Board, read_board
from depthgauge.synth.generators import generate
from depthgauge.synth.sets.printed.sheet import Sheet, board_sheet
from depthgauge.synth.sets.printed.vector import pdf, svg

CHESS = Board(8, 5, 0.03)
CHARUCO = Board(6, 5, 0.03, kind="charuco", marker_m=0.021, dictionary="DICT_5X5_100")
OLD = Board(6, 5, 0.03, kind="charuco", marker_m=0.021, dictionary="DICT_5X5_100", legacy=True)


def painted(sheet: Sheet, px_per_mm: float) -> np.ndarray:
    """The page as a picture, pixel by pixel from its boxes."""
    width, height = (round(side * px_per_mm) for side in sheet.size_mm)
    picture = np.full((height, width), 255, np.uint8)
    for box in sheet.boxes:
        x, y = round(box.x * px_per_mm), round(box.y * px_per_mm)
        right, low = round((box.x + box.width) * px_per_mm), round((box.y + box.height) * px_per_mm)
        picture[y:low, x:right] = 0
    return picture


def check_corners(picture: np.ndarray, board: Board, px_per_mm: float, within_px: float) -> None:
    """All corners are found, in their order, one square apart."""
    found = find_corners(picture, board)
    assert found is not None
    assert found.ids.tolist() == list(range(board.columns * board.rows))
    expected = 1000 * px_per_mm * board.corners_m()[:, :2]
    off = (found.pixels - found.pixels[0]) - expected
    assert np.abs(off).max() < within_px
    across = found.pixels[board.columns - 1] - found.pixels[0]
    exact = 1000 * board.square_m * (board.columns - 1) * px_per_mm
    assert np.hypot(*across) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("board", [CHESS, CHARUCO, OLD], ids=["chess", "charuco", "legacy"])
def test_boards_are_found_at_their_size(board):
    check_corners(painted(board_sheet(board), 4.0), board, 4.0, within_px=0.6)


@pytest.mark.parametrize("board", [CHESS, CHARUCO])
def test_svg_and_pdf_have_the_same_boxes(board):
    """The boxes are read back from both files and compared in millimetres."""
    sheet = board_sheet(board)
    expected = np.array([(b.x, b.y, b.width, b.height) for b in sheet.boxes])
    number = r"(-?[\d.]+)"
    drawn = re.findall(rf"M{number} {number}h{number}v{number}h", svg(sheet))
    assert np.allclose(np.array(drawn, float), expected, atol=1e-5)
    assert 'width="297mm" height="210mm" viewBox="0 0 297 210"' in svg(sheet)
    page = pdf(sheet).decode("latin-1")
    boxes = np.array(re.findall(rf"{number} {number} {number} {number} re", page), float)
    points = 72 / 25.4
    boxes /= points
    boxes[:, 1] = 210 - boxes[:, 1] - boxes[:, 3]
    assert np.allclose(boxes, expected, atol=1e-4)
    assert f"[0 0 {297 * points:.5f} {210 * points:.5f}]" in page


def test_the_table_of_the_pdf_names_its_objects():
    data = pdf(board_sheet(CHESS))
    places = [int(p) for p in re.findall(rb"(\d{10}) 00000 n ", data)]
    assert [data[p : p + 7] for p in places] == [b"%d 0 obj" % n for n in range(1, 6)]
    start = int(re.search(rb"startxref\n(\d+)", data)[1])
    assert data[start : start + 4] == b"xref"


def test_the_scale_bar_has_its_length():
    sheet = board_sheet(CHESS)
    said = next(text for *_, text in sheet.texts if " mm: measure" in text)
    length = float(said.split()[0])
    bar = [box for box in sheet.boxes if box.height == 0.4]
    assert (length, bar[0].width) == (100.0, 100.0)
    ticks = [box for box in sheet.boxes if box.width == 0.2]
    assert np.ptp([tick.x for tick in ticks]) == pytest.approx(100.0)
    board_low = max(box.y + box.height for box in sheet.boxes if box.width == 30.0)
    assert board_low < min(tick.y for tick in ticks), "not across the board"


@pytest.mark.parametrize("page", ["A5", "A3", "letter", "500x300"])
def test_boards_stay_on_their_page(page):
    sheet = board_sheet(Board(6, 9, 0.014), page)
    width, height = sheet.size_mm
    assert all(b.x >= 8 and b.x + b.width <= width - 8 for b in sheet.boxes)
    assert all(b.y >= 8 and b.y + b.height <= height - 8 for b in sheet.boxes)


def test_a_board_that_does_not_fit_says_what_would():
    with pytest.raises(
        Misuse, match=r"does not fit on A4; use squares of at most 25\.5 mm"
    ) as told:
        board_sheet(Board(9, 6, 0.05))
    assert board_sheet(Board(9, 6, 0.0255)).size_mm == (297.0, 210.0), told
    with pytest.raises(Misuse, match="a page is A5"):
        board_sheet(CHESS, "A99")
    with pytest.raises(Misuse, match="needs 77 markers, DICT_4X4_50 has 50"):
        board_sheet(Board(13, 10, 0.01, kind="charuco", marker_m=0.007, dictionary="DICT_4X4_50"))


def test_the_entry_for_the_session(tmp_path):
    made = generate("board", tmp_path / "b", style="charuco", columns=6, rows=5, square_mm=30)
    assert read_board(tmp_path / "b" / "board.json") == Board(
        *(6, 5, 0.03), kind="charuco", marker_m=0.021, dictionary="DICT_6X6_250"
    )
    assert json.dumps(made.facts["board"]) in made.summary
    with pytest.raises(CannotWrite, match="--overwrite"):
        generate("board", tmp_path / "b")
    assert "half a turn" in generate("board", tmp_path / "c", columns=7, rows=5).warnings[0]


@pytest.mark.long
@pytest.mark.parametrize("board", [CHESS, CHARUCO, OLD], ids=["chess", "charuco", "legacy"])
@pytest.mark.parametrize("dpi", [100, 150])
def test_the_rendered_pdf_is_true_to_size(tmp_path, board, dpi):
    """Another program turns the PDF into pixels; our detector measures the squares."""
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed (poppler-utils)")
    (tmp_path / "board.pdf").write_bytes(pdf(board_sheet(board)))
    call = ["pdftoppm", "-r", str(dpi), "-gray", "-singlefile", "board.pdf", "page"]
    subprocess.run(call, cwd=tmp_path, check=True)
    picture = io.read_image(tmp_path / "page.pgm")
    assert picture.shape == (round(210 * dpi / 25.4 + 0.49), round(297 * dpi / 25.4 + 0.49))
    check_corners(picture, board, dpi / 25.4, within_px=0.25)


def test_patterns_are_those_of_the_simulator(tmp_path):
    from depthgauge.synth.sets.capture_session import _rig
    from depthgauge.synth.sets.patterns.blobs import blobs

    made = generate(
        *("patterns", tmp_path / "p"),
        width_px=640,
        height_px=360,
        patterns=2,
        projectors=2,
        seed=3,
        blob_px=_rig.blob_px(320),
    )
    assert made.facts["projectors"] == ["P0", "P1"]
    shown = io.read_image(tmp_path / "p" / "P1" / "001.png").astype(np.float64) / 255
    light = np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
    exact = blobs(3, 1, 1, (640, 360), _rig.blob_px(320))
    assert np.abs(light - exact).max() < 0.006
    # The simulator shows the same through a lens that is not quite sharp.
    simulated = _rig.pattern(3, 1, 1, 320)
    assert np.corrcoef(simulated.ravel(), exact.ravel())[0, 1] > 0.97
    other = io.read_image(tmp_path / "p" / "P0" / "001.png")
    assert abs(np.corrcoef(other.ravel(), shown.ravel())[0, 1]) < 0.05
    page = (tmp_path / "p" / "player.html").read_text()
    assert '{"P0": ["000.png", "001.png"], "P1": ["000.png", "001.png"]}' in page
    assert io.read_image(tmp_path / "p" / "P0" / "white.png").min() == 255
    with pytest.raises(CannotWrite, match="--overwrite"):
        generate("patterns", tmp_path / "p")
