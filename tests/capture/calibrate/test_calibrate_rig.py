"""From drawn photographs of a board to rectified pairs and their pictures: a rig that is known."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.calibrate.boards import find_corners
from depthgauge.capture.calibrate.images import find_views
from depthgauge.capture.calibrate.step import calibrate, read_calibration, read_views
from depthgauge.capture.rectify.step import read_pair, rectify, row_differences_px
from depthgauge.capture.resample import resample
from depthgauge.capture.steps import read_step
from depthgauge.errors import BadData
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.report.capture import calibrate as calibrate_picture
from depthgauge.report.capture import rectify as rectify_picture
from depthgauge.sessions import Board, Session, open_session, write_session

BOARD = Board(9, 6, 0.03)
TRUE = {
    "L": camera_from_pixels((250.0, 250.5), 320, 234, distortion=(-0.1, 0.03, 4e-4, -4e-4, -0.01)),
    "R": camera_from_pixels((253.0, 252.6), 320, 234, distortion=(-0.1, 0.04, -5e-4, 4e-4, -0.01)),
    "C": camera_from_pixels((158.0, 158.2), 240, 151, distortion=(-0.1, 0.04, 5e-4, 3e-4, -0.01)),
}
PLACES = {
    "L": (np.eye(3), np.zeros(3)),
    "R": (cv2.Rodrigues(np.array([0.01, -0.02, 0.005]))[0], np.array([-0.08, 0.001, 0.002])),
    "C": (cv2.Rodrigues(np.array([-0.01, 0.01, 0.003]))[0], np.array([-0.04, 0.001, -0.002])),
}
POSES = 9
FINE = 4
"""Rays along each side of a pixel."""


def fine_rays(camera):
    """(FINE^2, H, W, 3): directions through the parts of each pixel."""
    width, height = camera.size_px
    offsets = (np.arange(FINE) + 0.5) / FINE - 0.5
    x, y = np.arange(width), np.arange(height)[:, None]
    shifts = [(a, b) for a in offsets for b in offsets]
    places = np.stack([np.stack(np.broadcast_arrays(x + a, y + b), -1) for a, b in shifts])
    slopes = slopes_at(places, camera)
    return np.concatenate([slopes, np.ones((*slopes.shape[:-1], 1))], axis=-1)


def photograph(rays, rotation, move, seed):
    """The board as a camera with these rays sees it, as sRGB codes."""
    normal = rotation[:, 2]
    points = rays * (normal @ move / (rays @ normal))[..., None] - move
    u, v = (points @ rotation[:, k] / BOARD.square_m for k in (0, 1))
    inside = (u > -1) & (u < BOARD.columns) & (v > -1) & (v < BOARD.rows)
    paper = (u > -1.7) & (u < BOARD.columns + 0.7) & (v > -1.7) & (v < BOARD.rows + 0.7)
    black = inside & ((np.floor(u) + np.floor(v)) % 2 == 0)
    light = np.where(black, 0.03, np.where(paper, 0.75, 0.2)).mean(axis=0)
    codes = 255 * np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    codes += np.random.default_rng(seed).normal(0, 1, codes.shape)
    return np.clip(np.rint(codes), 0, 255).astype(np.uint8)


def board_poses():
    rng = np.random.default_rng(4)
    middle = np.array([4 * 0.03, 2.5 * 0.03, 0])
    for _ in range(POSES):
        rotation = cv2.Rodrigues(rng.uniform(-0.6, 0.6, 3) * (1, 1, 0.5))[0]
        yield rotation, rng.uniform((-0.07, -0.05, 0.45), (0.12, 0.05, 0.6)) - rotation @ middle


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A session with boards, and passive pictures of one of them."""
    folder = tmp_path_factory.mktemp("rig")
    write_session(Session(folder, "rig", BOARD))
    for name, camera in TRUE.items():
        rays = fine_rays(camera)
        turn, shift = PLACES[name]
        for kind in ("calibration", "passive"):
            (folder / kind / name).mkdir(parents=True)
        for number, (rotation, move) in enumerate(board_poses()):
            image = photograph(rays, turn @ rotation, turn @ move + shift, number)
            io.write_image(folder / "calibration" / name / f"{number:02}.png", image)
            if number < 2:
                io.write_image(
                    folder / "passive" / name / f"im{number}.png", np.dstack([image] * 3)
                )
        # The shutter opened before the board was there.
        empty = np.full(image.shape, 120, np.uint8)
        io.write_image(folder / "calibration" / name / "90.png", empty)
    return folder


@pytest.fixture(scope="module")
def work(folder) -> Path:
    work = folder / "work"
    session = open_session(folder)
    told = []
    calibrate(session, work, progress=lambda *what: told.append(what))
    assert told[-1] == ("looking for the board", 3 * (POSES + 1), 3 * (POSES + 1))
    rectify(session, work)
    return work


def test_corners_of_photographs_are_found_to_a_fiftieth_of_a_pixel(folder):
    rotation, move = next(board_poses())
    expected = project(BOARD.corners_m() @ rotation.T + move, TRUE["L"])
    found = find_corners(io.read_image(folder / "calibration" / "L" / "00.png"), BOARD)
    assert len(found.ids) == 54
    error = found.pixels - expected[found.ids]
    assert np.sqrt((error**2).sum(axis=1).mean()) < 0.03


def test_the_cameras_are_found(work):
    """Nine boards at 320 px: focal lengths to 0.3 %, baselines to 1 %, turns to 0.1 degrees."""
    calibration = read_calibration(work)
    for name, camera in calibration.cameras.items():
        np.testing.assert_allclose(camera.focal_px, TRUE[name].focal_px, rtol=3e-3)
        np.testing.assert_allclose(camera.centre_px, TRUE[name].centre_px, atol=0.8)
    for pair, pose in calibration.pairs.items():
        turn, shift = PLACES[pair[1]]
        difference = cv2.Rodrigues(pose.rotation @ turn.T)[0]
        assert np.degrees(np.linalg.norm(difference)) < 0.1
        assert pose.baseline_m == pytest.approx(np.linalg.norm(shift), rel=0.01)
        assert pose.rms_px < 0.04


def test_the_figures_say_what_was_used(work):
    step = read_step(work, "calibrate")
    for name in "LCR":
        figures = step.figures["cameras"][name]
        assert figures["views_used"] == POSES
        assert figures["views_not_found"] == ["90"]
        assert figures["rms_px"] < 0.04
        words = f"camera {name}: the board was not found in 1 of {POSES + 1} pictures: 90"
        assert words in step.warnings
    seen = read_views(work)["L"]
    assert seen["90"] == {"used": False, "why": "the board was not found"}
    assert np.shape(seen["00"]["residuals_px"]) == np.shape(seen["00"]["corners_px"]) == (54, 2)


@pytest.mark.parametrize("name", ["LR", "LC"])
def test_true_matches_lie_on_one_row(work, name):
    """Points of the scene, seen by the true cameras, in the pair of the estimated ones.

    A tenth of a pixel is asked of real sizes; at 320 px it is less than a thirtieth.
    """
    pair = read_pair(work, name)
    points = np.random.default_rng(0).uniform((-0.35, -0.25, 0.7), (0.4, 0.25, 2.5), (4000, 3))
    turn, shift = PLACES[name[1]]
    left, right = project(points, TRUE["L"]), project(points @ turn.T + shift, TRUE[name[1]])
    size = np.array(pair.left.camera.size_px)
    here, there = pair.left.from_raw(left), pair.to_left_size(pair.right.from_raw(right))
    both = ((here >= 0) & (here < size) & (there >= 0) & (there < size)).all(axis=1)
    assert both.sum() > 1000
    rows = row_differences_px(pair, left[both], right[both])
    assert np.sqrt((rows**2).mean()) < 0.033
    assert np.abs(rows).max() < 0.2


def test_the_figures_of_the_pairs(work):
    step = read_step(work, "rectify")
    for name in ("LR", "LC"):
        figures = step.figures["pairs"][name]
        assert figures["row_rms_px"] < 0.05
        assert figures["left_empty_share"] == figures["right_empty_share"] == 0.0
        assert figures["left_field_deg"] == pytest.approx(figures["right_field_deg"])
    assert step.figures["pairs"]["LC"]["right_scale"] > 1.4
    assert step.figures["pictures"] == 8


def test_passive_pictures_are_rectified(folder, work):
    pair = read_pair(work, "LC")
    raw = io.read_image(folder / "passive" / "C" / "im1.png")
    stored = io.read_image(work / "rectify" / "LC" / "C" / "im1.png")
    np.testing.assert_array_equal(stored, resample(pair.right, raw, how="spline"))
    assert stored.shape[1::-1] == pair.right.camera.size_px
    # Corners that are found in the rectified picture lie where the pair says.
    found = find_corners(stored, BOARD)
    seen = read_views(work)["C"]["01"]
    expected = pair.right.from_raw(np.array(seen["corners_px"]))
    np.testing.assert_allclose(found.pixels, expected, atol=0.15)


def test_what_is_done_is_not_done_again(folder, work):
    session = open_session(folder)
    assert not calibrate(session, work).fresh
    assert not rectify(session, work).fresh


@pytest.mark.long
def test_pictures_are_drawn(work):
    for draw, name in ((calibrate_picture, "calibrate"), (rectify_picture, "rectify")):
        path = draw.picture(work)
        assert path == work / name / f"{name}.png"
        image = io.read_image(path)
        assert min(image.shape[:2]) > 500
        assert image.std() > 10


def test_a_session_without_boards_is_refused(tmp_path):
    write_session(Session(tmp_path, "empty", BOARD))
    with pytest.raises(BadData, match="no photographs of the board by camera L and R"):
        calibrate(open_session(tmp_path), tmp_path / "work")


def test_steps_are_done_in_order(folder, tmp_path):
    with pytest.raises(BadData, match="run `depthgauge capture calibrate`"):
        rectify(open_session(folder), tmp_path)
    with pytest.raises(BadData, match="run `depthgauge capture rectify`"):
        read_pair(tmp_path, "LR")


def test_a_failed_calibration_keeps_its_corners(folder, tmp_path, monkeypatch):
    """Left and right are swapped; the corners are not looked for twice."""
    for name, other in (("L", "R"), ("R", "L")):
        target = tmp_path / "calibration" / name
        target.mkdir(parents=True)
        for path in sorted((folder / "calibration" / other).glob("0[0-5].png")):
            (target / path.name).symlink_to(path)
    session = Session(tmp_path, "swapped", BOARD)
    with pytest.raises(BadData, match="to the left of L; left and right seem to be swapped"):
        calibrate(session, tmp_path / "work")
    monkeypatch.setattr("depthgauge.capture.calibrate.images.find_corners", None)
    with pytest.raises(BadData, match="swapped"):
        calibrate(session, tmp_path / "work")
    assert not (tmp_path / "work" / "calibrate").exists()


@pytest.fixture
def looked(monkeypatch):
    """How often boards were looked for, newest last."""
    calls = []

    def counted(image, board):
        calls.append(image.shape)
        return find_corners(image, board)

    monkeypatch.setattr("depthgauge.capture.calibrate.images.find_corners", counted)
    return calls


def copied(folder, target, poses):
    """A session with its own copies of some photographs."""
    for name in "LR":
        (target / "calibration" / name).mkdir(parents=True)
        for pose in poses:
            place = Path("calibration") / name / f"{pose}.png"
            (target / place).write_bytes((folder / place).read_bytes())
    return Session(target, "copied", BOARD)


@pytest.mark.long
def test_a_killed_calibration_goes_on_where_it_was(folder, tmp_path, looked):
    session = copied(folder, tmp_path, ["00", "01", "02", "03", "04", "05"])

    def kill(what, done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrate(session, tmp_path / "work", progress=kill)
    assert len(looked) == 7
    calibrate(session, tmp_path / "work")
    assert len(looked) == 12
    continued = read_calibration(tmp_path / "work").cameras["R"]
    calibrate(session, tmp_path / "work", outlier_factor=7.0)
    assert len(looked) == 12, "what is kept has nothing to do with the other options"
    calibrate(session, tmp_path / "work", again=True)
    assert len(looked) == 24
    anew = read_calibration(tmp_path / "work").cameras["R"]
    # Not to the last bit: sums of several threads.
    assert continued.focal_px == pytest.approx(anew.focal_px, rel=1e-9)
    assert continued.centre_px == pytest.approx(anew.centre_px, rel=1e-9)


def test_bad_photographs_are_left_out_until_they_are_mended(folder, tmp_path, looked):
    """Too few are left; when one is mended only that one is looked at."""
    session = copied(folder, tmp_path, ["00", "01", "02", "03", "04", "05"])
    cut, turned = (tmp_path / "calibration" / "R" / f"0{n}.png" for n in (2, 4))
    good = cut.read_bytes()
    cut.write_bytes(good[: len(good) // 2])
    io.write_image(turned, np.ascontiguousarray(io.read_image(turned).T))
    with pytest.raises(
        BadData, match=r"R: .*found in 4 .*02 \(cannot be read\), 04 \(is 234x320, not 320x234\)"
    ):
        calibrate(session, tmp_path / "work")
    assert len(looked) == 11
    cut.write_bytes(good)
    step = calibrate(session, tmp_path / "work")
    assert len(looked) == 12
    assert "camera R: dropped 04 (is 234x320, not 320x234)" in step.warnings
    assert step.figures["cameras"]["R"]["views_not_found"] == []
    views = read_views(tmp_path / "work")["R"]
    assert views["04"] == {"used": False, "why": "is 234x320, not 320x234"}
    assert sum(view["used"] for view in views.values()) == 5


def test_kept_corners_are_of_one_content_and_one_board(folder, tmp_path, looked, monkeypatch):
    poses = ["00", "01"]
    session = copied(folder, tmp_path, poses)
    images = {"L": session.board_images("L")}
    kept = tmp_path / "kept"
    first = find_views(images, BOARD, kept=kept)
    again = find_views(images, BOARD, kept=kept)
    assert len(looked) == 2
    for pose in poses:
        one, other = first.views["L"][pose], again.views["L"][pose]
        np.testing.assert_array_equal(one.pixels, other.pixels)
        np.testing.assert_array_equal(one.ids, other.ids)
        assert one.size_px == other.size_px == (320, 234)
    images["L"]["00"].write_bytes((folder / "calibration" / "L" / "05.png").read_bytes())
    changed = find_views(images, BOARD, kept=kept).views["L"]["00"]
    assert len(looked) == 3
    assert np.abs(changed.pixels - first.views["L"]["00"].pixels).max() > 1
    find_views(images, Board(7, 6, 0.03), kept=kept)
    assert len(looked) == 5
    monkeypatch.setattr("depthgauge.capture.calibrate.boards.REVISION", 999)
    find_views(images, BOARD, kept=kept)
    assert len(looked) == 7
    for file in kept.iterdir():
        file.write_text('{"ids": [1, 2], "size_px": [320, 234], "corners_px": [[0, 0]]}')
    find_views(images, BOARD, kept=kept)
    assert len(looked) == 9, "damaged files are as none"


def _without_sizes(folder):
    """The record of a step that does not notice files of another size."""
    return json.dumps({**json.loads((folder / "step.json").read_text()), "files": {}})


@pytest.mark.parametrize("text", ["{}", "nonsense", '{"cameras": 1}'])
def test_a_damaged_calibration_is_one_sentence(work, tmp_path, text):
    folder = tmp_path / "calibrate"
    folder.mkdir()
    io.write_text(folder / "step.json", _without_sizes(work / "calibrate"))
    io.write_text(folder / "calibration.json", text)
    io.write_text(folder / "views.json", text)
    with pytest.raises(BadData, match=r"calibration\.json: cannot be read"):
        read_calibration(tmp_path)
    with pytest.raises(BadData, match=r"views\.json: cannot be read"):
        read_views(tmp_path)


def test_a_damaged_or_missing_pair_is_one_sentence(work, tmp_path):
    folder = tmp_path / "rectify"
    folder.mkdir()
    io.write_text(folder / "step.json", _without_sizes(work / "rectify"))
    (tmp_path / "calibrate").symlink_to(work / "calibrate")
    with pytest.raises(BadData, match="no pair LC"):
        read_pair(tmp_path, "LC")
    for text in ("nonsense", json.dumps({"left": {}})):
        io.write_text(folder / "LR.json", text)
        with pytest.raises(BadData, match="rectif"):
            read_pair(tmp_path, "LR")


def test_a_passive_picture_of_another_size_is_refused(folder, work, tmp_path):
    session = Session(tmp_path, "other", BOARD)
    for name in "LCR":
        (tmp_path / "passive" / name).mkdir(parents=True)
        io.write_image(tmp_path / "passive" / name / "im0.png", np.zeros((40, 60), np.uint8))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "calibrate").symlink_to(work / "calibrate")
    with pytest.raises(
        BadData, match=r"im0\.png: the image is 60x40 but the camera was calibrated at"
    ):
        rectify(session, tmp_path / "work")
