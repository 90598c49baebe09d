"""The capture assistant on sessions that lack this and that."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from depthgauge import io
from depthgauge.capture.assist import assist, edge_width_px, texture_sharpness
from depthgauge.sessions import Board, Session, open_session, write_session

BOARD = Board(7, 4, 0.03)
SIZE = (320, 240)


def flat_board(square=24):
    y, x = np.mgrid[: 5 * square, : 8 * square]
    squares = 30 + (x // square + y // square) % 2 * 190
    return np.pad(squares.astype(np.uint8), square, constant_values=220)


def board_view(number, low, high):
    """The board in a part of the image between two positions, tilted somehow."""
    flat, rng = flat_board(), np.random.default_rng(number)
    height, width = flat.shape
    start = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    corner = np.array([rng.uniform(low[0], high[0] - 150), rng.uniform(low[1], high[1] - 110)])
    there = corner + start * np.float32([150 / width, 100 / height])
    there += rng.uniform(-14, 14, there.shape)
    matrix = cv2.getPerspectiveTransform(start, np.float32(there))
    return cv2.warpPerspective(flat, matrix, SIZE, flags=cv2.INTER_AREA, borderValue=110)


@pytest.fixture
def session(tmp_path):
    """Boards in the left part of the images only; the scene is there, R lacks a pattern."""
    folder = tmp_path / "s"
    rng = np.random.default_rng(4)
    for camera in "LR":
        for number in range(6):
            view = board_view(number, (5, 5), (190, 235))
            save(folder / "calibration" / camera / f"{number}.png", view)
        texture = cv2.GaussianBlur(rng.integers(0, 255, SIZE[::-1]).astype(np.uint8), (0, 0), 1.0)
        save(folder / "passive" / camera / "im0.png", texture)
        for number in range(12):
            if (camera, number) != ("R", 5):
                save(folder / "pattern" / camera / f"{number:03d}.png", texture)
    write_session(Session(folder, "s", BOARD))
    return open_session(folder)


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(path, pixels)


def said(found, level=None):
    return " | ".join(one.text for one in found.advice if level in (None, one.level))


def test_an_empty_session_says_where_to_begin(tmp_path):
    found = assist(Session(tmp_path, "s", None), tmp_path / "work")
    text = said(found, "must")
    assert "Photograph the board with camera L" in text
    assert "Photograph the board with camera R" in text
    assert "Photograph the scene as it is" in text
    assert found.headline() == "Not ready: 4 things to do first."
    assert not (tmp_path / "work").exists()


def test_what_is_wrong_is_named(session, tmp_path):
    pattern = session.folder / "pattern" / "L"
    bright = io.read_image(pattern / "003.png").astype(int) * 3
    io.write_image(pattern / "003.png", np.clip(bright, 0, 255).astype(np.uint8))
    io.write_image(
        pattern / "004.png", cv2.GaussianBlur(io.read_image(pattern / "004.png"), (0, 0), 5)
    )
    io.write_image(pattern / "006.png", np.zeros((100, 90), np.uint8))
    blurred = session.folder / "calibration" / "R" / "2.png"
    io.write_image(blurred, cv2.GaussianBlur(io.read_image(blurred), (0, 0), 2.2))
    found = assist(session, tmp_path / "work")
    text = said(found)
    assert "pattern: camera R lacks 005" in text
    assert "saturated in 003" in text
    assert "004 are less sharp" in text or "004, 006 are less sharp" in text
    assert "006 do not have the size of the calibration (320x240)" in text
    assert "the board is blurred in 2;" in text or "not found in 2;" in text
    assert "Camera L: 6 poses of the board; 15 are good" in text
    assert "There is no camera C" in text


def test_jpegs_and_automatic_exposure_are_named(session, tmp_path):
    for number, path in enumerate(session.pattern_images("L").values()):
        dimmed = (io.read_image(path) * (1 - 0.02 * number)).astype(np.uint8)
        path.unlink()
        cv2.imwrite(str(path.with_suffix(".jpg")), dimmed, [cv2.IMWRITE_JPEG_QUALITY, 85])
    text = said(assist(session, tmp_path / "work"))
    assert "pattern/L: 12 photographs are JPEG of a quality down to 85" in text
    assert "pattern/L: the mean brightness varies between patterns" in text
    assert "pattern/R: the mean" not in text


def test_empty_parts_of_the_image_are_named(session, tmp_path):
    found = assist(session, tmp_path / "work")
    assert len(found.boards["L"].views) == 6
    cells = found.boards["L"].cells()
    assert cells.sum() == 6 * BOARD.columns * BOARD.rows
    assert (cells[:, 6:] == 0).all()
    text = next(one.text for one in found.advice if "boards cover" in one.text)
    assert "right" in text
    assert "left corner" not in text
    body = found.to_json()
    assert body["cameras"]["L"]["covered_share"] == pytest.approx(
        found.boards["L"].covered(), abs=1e-4
    )
    assert list((tmp_path / "work" / ".corners").iterdir()), "calibrate need not search again"


def test_boards_that_are_all_parallel(session, tmp_path):
    for camera in "LR":
        for number in range(6):
            plain = np.full(SIZE[::-1], 110, np.uint8)
            x, y = 5 + 20 * number, 5 + 10 * number
            board = cv2.resize(flat_board(), (160, 110), interpolation=cv2.INTER_AREA)
            plain[y : y + 110, x : x + 160] = board
            save(session.folder / "calibration" / camera / f"{number}.png", plain)
    found = assist(session, tmp_path / "work")
    assert found.boards["L"].tilt_range_deg() < 5
    assert "tilt it by 20 to 45 degrees" in said(found, "must")


def test_orientations_that_differ(session, tmp_path):
    path = session.folder / "passive" / "L" / "im0.png"
    picture = Image.open(path)
    notes = picture.getexif()
    notes[0x0112] = 3
    picture.save(path, exif=notes)
    found = assist(session, tmp_path / "work")
    assert "Camera L: photographs have different EXIF orientations (18 say 1, 1 say 3)" in said(
        found
    )


def bracket(session, exposures, cameras="LR"):
    """Every pattern becomes a bracket; `exposures` are names with factors of the grey levels."""
    for camera in cameras:
        folder = session.folder / "pattern" / camera
        for path in list(folder.iterdir()):
            image = io.read_image(path)
            path.unlink()
            for exposure, factor in exposures.items():
                shown = np.clip(image * factor, 0, 255).astype(np.uint8)
                save(folder / f"{path.stem}@{exposure}.png", shown)


def test_brackets_are_dark_and_bright_on_purpose(session, tmp_path):
    bracket(session, {"0.01": 0.01, "0.04": 9.0})
    found = assist(session, tmp_path / "work")
    text = said(found, "must") + said(found, "better")
    assert "nearly black" not in text
    assert "saturated" not in text
    assert "patterns; ten are good" not in text, "eleven patterns of two exposures"
    good = "pattern/L: 12 bracketed patterns, exposures 0.01, 0.04; once merged, at most 0.0 %"
    assert good in said(found, "good")
    assert "pattern/R: 11 bracketed patterns" in said(found, "good")
    assert found.to_json()["brackets"]["L"]["exposures"]["003"] == ["0.01", "0.04"]


def test_what_is_saturated_in_all_exposures_is_said(session, tmp_path):
    """Half of a picture is full in the shortest exposure too; a quarter is black in the longest."""
    image = np.full(SIZE[::-1], 100, np.uint8)
    image[:120], image[180:] = 255, 0
    for exposure, shown in (("1", image), ("4", np.clip(image.astype(int) * 2, 0, 255))):
        save(session.folder / "pattern" / "L" / f"003@{exposure}.png", shown.astype(np.uint8))
    (session.folder / "pattern" / "L" / "003.png").unlink()
    found = assist(session, tmp_path / "work")
    assert found.brackets["L"].saturated["003"] == pytest.approx(0.5)
    assert found.brackets["L"].dark["003"] == pytest.approx(0.25)
    better = said(found, "better")
    assert "pattern/L: more than 5 % of the pixels are saturated even in the shortest" in better
    assert "pattern/L: more than 10 % of the pixels are nearly black even in the longest" in better
    assert "000, 001, 002, 004, 005, 006 and 5 more do not have the exposures" in better
    assert "R" not in found.brackets


def test_cameras_may_have_different_exposures_of_the_same_patterns(session, tmp_path):
    bracket(session, {"1": 0.5, "4": 2.0}, "L")
    bracket(session, {"2": 0.7, "9": 3.0}, "R")
    assert "camera R lacks 005;" in said(assist(session, tmp_path / "work"))


def test_a_pattern_with_and_without_a_bracket_must_be_named(session, tmp_path):
    save(session.folder / "pattern" / "L" / "003@0.5.png", np.full(SIZE[::-1], 9, np.uint8))
    found = assist(session, tmp_path / "work")
    assert "003.png: this pattern also has bracketed exposures" in said(found, "must")
    assert found.brackets == {}


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_edge_widths_are_those_of_blurred_edges(sigma):
    """A step blurred by sigma is sqrt(2 pi) sigma wide at its steepest; a pixel adds its own."""
    step = np.full((60, 80), 40.0)
    step[:, 40:] = 210.0
    blurred = cv2.GaussianBlur(np.kron(step, np.ones((4, 4))), (0, 0), 4 * sigma)
    seen = blurred.reshape(60, 4, 80, 4).mean(axis=(1, 3))
    corners = np.array([[30.0, 10.0], [50.0, 50.0]])
    expected = np.sqrt(2 * np.pi * (sigma**2 + 1 / 12))
    assert edge_width_px(np.rint(seen).astype(np.uint8), corners) == pytest.approx(
        expected, rel=0.15
    )


def test_sharpness_falls_with_blur_and_not_with_brightness():
    rng = np.random.default_rng(0)
    image = cv2.GaussianBlur(rng.integers(0, 255, (80, 90)).astype(np.uint8), (0, 0), 0.8)
    soft = cv2.GaussianBlur(image, (0, 0), 2.0)
    assert texture_sharpness(soft) < 0.7 * texture_sharpness(image)
    assert texture_sharpness(image // 2) == pytest.approx(texture_sharpness(image), rel=0.05)
    assert texture_sharpness(np.full((9, 9), 7, np.uint8)) == 0
    assert np.isnan(edge_width_px(np.full((50, 50), 7, np.uint8), np.array([[5, 5], [30, 30]])))
