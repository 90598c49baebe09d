"""Calibration from real photographs, and from corners with known cameras."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.calibrate.boards import Corners
from depthgauge.capture.calibrate.calibration import Calibration, Pose
from depthgauge.capture.calibrate.images import check_rig, find_views
from depthgauge.capture.calibrate.single_camera import calibrate_single, cover, outliers, tilt_deg
from depthgauge.capture.calibrate.step import calibrate_images, calibrate_views
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.sessions import Board

BOARD = Board(9, 6, 0.03)
TRUE = {
    "L": camera_from_pixels((470.0, 471.0), 640, 468, distortion=(-0.1, 0.03, 5e-4, -4e-4, -0.01)),
    "R": camera_from_pixels((474.0, 473.0), 640, 468, distortion=(-0.09, 0.04, -5e-4, 4e-4, -0.01)),
    "C": camera_from_pixels((205.0, 205.4), 300, 190, distortion=(-0.12, 0.05, 5e-4, 3e-4, -0.01)),
}
PLACES = {
    "L": (np.zeros(3), np.zeros(3)),
    "R": (np.array([0.01, -0.02, 0.005]), np.array([-0.08, 0.001, 0.002])),
    "C": (np.array([-0.01, 0.01, 0.003]), np.array([-0.04, 0.001, -0.002])),
}


def boards(count, seed=0, tilt=0.6):
    """Poses of the board in L's axes: rotation matrices and translations."""
    rng = np.random.default_rng(seed)
    middle = np.array([4 * 0.03, 2.5 * 0.03, 0])
    for _ in range(count):
        rotation = cv2.Rodrigues(rng.uniform(-tilt, tilt, 3) * (1, 1, 0.5))[0]
        place = rng.uniform((-0.12, -0.08, 0.45), (0.16, 0.08, 0.75))
        yield rotation, place - rotation @ middle


def seen(poses, noise_px=0.02, seed=1):
    """Corners by camera and pose."""
    rng = np.random.default_rng(seed)
    views = {name: {} for name in TRUE}
    for number, (rotation, move) in enumerate(poses):
        points = BOARD.corners_m() @ rotation.T + move
        for name, camera in TRUE.items():
            turn, shift = PLACES[name]
            pixels = project(points @ cv2.Rodrigues(turn)[0].T + shift, camera)
            pixels = pixels + rng.normal(0, noise_px, pixels.shape)
            views[name][f"{number:02}"] = Corners(pixels, np.arange(54), camera.size_px)
    return views


@pytest.fixture(scope="module")
def views():
    return seen(boards(15))


def lens_error_px(estimate, truth):
    """Root mean square distance of where two cameras see the same rays, in the image's middle."""
    width, height = truth.size_px
    x, y = np.meshgrid(np.linspace(0.15, 0.85, 15) * width, np.linspace(0.15, 0.85, 15) * height)
    pixels = np.stack([x, y], axis=-1)
    rays = np.concatenate([slopes_at(pixels, truth), np.ones((15, 15, 1))], axis=-1)
    return np.sqrt(((project(rays, estimate) - pixels) ** 2).sum(axis=-1).mean())


def turn_error_deg(pose, name):
    difference = pose.rotation @ cv2.Rodrigues(PLACES[name][0])[0].T
    return np.degrees(np.linalg.norm(cv2.Rodrigues(difference)[0]))


def test_known_cameras_are_found(views):
    """0.02 px of noise: focal lengths to 0.1 %, turns to 0.05 degrees, baselines to 0.5 %."""
    found = calibrate_views(views, BOARD)
    for name, camera in found.calibration.cameras.items():
        np.testing.assert_allclose(camera.focal_px, TRUE[name].focal_px, rtol=1e-3)
        np.testing.assert_allclose(camera.centre_px, TRUE[name].centre_px, atol=0.4)
        assert lens_error_px(camera, TRUE[name]) < 0.4
        assert found.singles[name].rms_px == pytest.approx(0.02 * np.sqrt(2), rel=0.2)
    for pair, pose in found.calibration.pairs.items():
        expected = PLACES[pair[1]][1]
        assert turn_error_deg(pose, pair[1]) < 0.05
        assert pose.baseline_m == pytest.approx(np.linalg.norm(expected), rel=5e-3)
        np.testing.assert_allclose(pose.translation_m, expected, atol=5e-4)
    assert not found.warnings


def test_without_noise_the_cameras_are_exact():
    found = calibrate_views(seen(boards(8), noise_px=0.0), BOARD)
    for name, camera in found.calibration.cameras.items():
        np.testing.assert_allclose(camera.focal_px, TRUE[name].focal_px, rtol=2e-5)
        assert lens_error_px(camera, TRUE[name]) < 5e-3
        np.testing.assert_allclose(
            camera.world_from_camera[:3, 3], np.asarray(_place(name)), atol=1e-5
        )


def _place(name):
    turn, shift = PLACES[name]
    return -cv2.Rodrigues(turn)[0].T @ shift


def bits_of():
    """A digest of every number of a calibration of few boards."""
    found = calibrate_views(seen(boards(7)), BOARD, joint=False)
    numbers = [pose.rotation for pose in found.calibration.pairs.values()]
    numbers += [pose.translation_m for pose in found.calibration.pairs.values()]
    for camera in found.calibration.cameras.values():
        numbers += [camera.focal_px, camera.centre_px, camera.distortion, camera.world_from_camera]
    numbers += [single.rms_px for single in found.singles.values()]
    return hashlib.sha256(b"".join(np.asarray(n).tobytes() for n in numbers)).hexdigest()


def test_the_same_corners_give_the_same_bits_also_in_another_process():
    threads = cv2.getNumThreads()
    try:
        cv2.setNumThreads(4)
        here = {bits_of() for _ in range(4)}
        assert cv2.getNumThreads() == 4, "what the process had is restored"
    finally:
        cv2.setNumThreads(threads)
    code = "import test_calibrate as t; print(t.bits_of())"
    other = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    here.add(other.stdout.strip() or other.stderr)
    assert len(here) == 1, here


def test_refining_all_together_helps(views):
    """Over some draws of noise, rows of a pair rectified from the joint cameras agree better."""
    alone, joint = [], []
    for seed in range(3):
        drawn = seen(boards(10, seed=seed), noise_px=0.05, seed=seed + 10)
        for together, errors in ((False, alone), (True, joint)):
            found = calibrate_views(drawn, BOARD, joint=together).calibration
            errors += [lens_error_px(found.cameras[n], TRUE[n]) for n in "LCR"]
    assert np.mean(joint) < 0.9 * np.mean(alone)


def test_the_covariance_is_that_of_the_errors():
    squares = []
    for seed in range(6):
        found = calibrate_views(seen(boards(12), seed=seed + 20), BOARD).calibration
        sigma = np.sqrt(np.diag(found.covariance.matrix))
        error = dict(zip(found.covariance.names, np.zeros(len(sigma)), strict=True))
        for name, truth in TRUE.items():
            camera = found.cameras[name]
            for kind, one, other in (
                ("f", camera.focal_px, truth.focal_px),
                ("c", camera.centre_px, truth.centre_px),
            ):
                for axis in (0, 1):
                    error[f"{name} {kind}{'xy'[axis]}"] = one[axis] - other[axis]
        for pair, pose in found.pairs.items():
            turn = cv2.Rodrigues(pose.rotation)[0].ravel() - PLACES[pair[1]][0]
            move = pose.translation_m - PLACES[pair[1]][1]
            for axis in range(3):
                error[f"{pair} r{'xyz'[axis]}"], error[f"{pair} t{'xyz'[axis]}"] = (
                    turn[axis],
                    move[axis],
                )
        lens = tuple(name for name in error if name.split()[1] in ("k1", "k2", "k3", "p1", "p2"))
        judged = [n for n, name in enumerate(found.covariance.names) if name not in lens]
        values = np.array(list(error.values()))
        squares.append(np.square(values[judged] / sigma[judged]))
    assert np.mean(squares) == pytest.approx(1, abs=0.45)
    # Twice the noise is twice the standard deviation.
    more = calibrate_views(seen(boards(12), noise_px=0.04, seed=20), BOARD).calibration
    first = calibrate_views(seen(boards(12), noise_px=0.02, seed=20), BOARD).calibration
    ratio = np.diag(more.covariance.matrix) / np.diag(first.covariance.matrix)
    assert np.median(ratio) == pytest.approx(4, rel=0.1)


def test_an_outlying_view_is_dropped_and_named(views):
    spoilt = {name: dict(by_pose) for name, by_pose in views.items()}
    bad = spoilt["L"]["03"]
    shaken = bad.pixels + np.random.default_rng(5).normal(0, 1.0, bad.pixels.shape)
    spoilt["L"]["03"] = replace(bad, pixels=shaken)
    found = calibrate_views(spoilt, BOARD)
    assert list(found.singles["L"].dropped) == ["03"]
    assert "outlier" in found.singles["L"].dropped["03"]
    assert any("camera L: dropped 03" in warning for warning in found.warnings)
    assert lens_error_px(found.calibration.cameras["L"], TRUE["L"]) < 0.4


def test_a_board_that_moved_between_two_shutters_is_dropped_from_the_pair(views):
    moved = {name: dict(by_pose) for name, by_pose in views.items()}
    moved["R"]["04"] = replace(views["R"]["04"], pixels=views["R"]["05"].pixels)
    found = calibrate_views(moved, BOARD)
    assert "04" in found.pairs["LR"].dropped
    assert not found.singles["R"].dropped
    assert "04" not in found.singles["R"].views
    assert turn_error_deg(found.calibration.pairs["LR"], "R") < 0.05


def test_a_rig_without_a_centre_camera(views):
    found = calibrate_views({name: views[name] for name in "LR"}, BOARD)
    assert list(found.calibration.pairs) == ["LR"]
    assert any("no camera C" in warning for warning in found.warnings)


def test_a_bad_centre_camera_does_not_cost_the_others(views):
    few = dict(list(views["C"].items())[:3])
    found = calibrate_views({**views, "C": few}, BOARD)
    assert list(found.calibration.pairs) == ["LR"]
    assert any("LC is left out: camera C" in warning for warning in found.warnings)


def test_too_few_views_are_refused(views):
    few = {name: dict(list(by_pose.items())[:4]) for name, by_pose in views.items()}
    with pytest.raises(BadData, match=r"camera L: the board was found in 4 photograph\(s\)"):
        calibrate_views(few, BOARD)


def test_few_views_are_warned_about(views):
    few = {name: dict(list(by_pose.items())[:8]) for name, by_pose in views.items()}
    found = calibrate_views(few, BOARD, listed=views)
    assert any("calibrated from 8 views" in warning for warning in found.warnings)
    assert found.not_found["L"] == tuple(f"{n:02}" for n in range(8, 15))
    words = "camera L: the board was not found in 7 of 15 pictures: 08, 09"
    assert any(warning.startswith(words) for warning in found.warnings)


def test_photographs_that_were_left_out_are_named(views):
    few = {name: dict(list(by_pose.items())[:8]) for name, by_pose in views.items()}
    gone = {"R": {"08": "cannot be read"}}
    listed = {name: [*by_pose, "08"] for name, by_pose in few.items()}
    found = calibrate_views(few, BOARD, listed=listed, left_out=gone)
    assert (found.not_found["L"], found.not_found["R"]) == (("08",), ())
    assert found.singles["R"].dropped == gone["R"]
    assert "camera R: dropped 08 (cannot be read)" in found.warnings
    few["R"] = dict(list(few["R"].items())[:4])
    with pytest.raises(BadData, match=r"camera R: .* in 4 photograph.* out 08 \(cannot be read\);"):
        calibrate_views(few, BOARD, listed=listed, left_out=gone)


def test_corners_that_cover_little_of_an_image_are_warned_about():
    """Boards far away and in the middle; C, with a wide lens, sees them in its middle only."""
    rng = np.random.default_rng(3)
    middle = np.array([4 * 0.03, 2.5 * 0.03, 0])
    poses = []
    for _ in range(15):
        rotation = cv2.Rodrigues(rng.uniform(-0.6, 0.6, 3) * (1, 1, 0.5))[0]
        poses.append((rotation, np.array([0.04, 0, rng.uniform(0.6, 0.8)]) - rotation @ middle))
    views = seen(poses, noise_px=0.01)
    found = calibrate_views(views, BOARD, joint=False)
    pixels = np.concatenate([corners.pixels for corners in views["C"].values()])
    left, top = pixels.min(axis=0)
    right, bottom = pixels.max(axis=0)
    across, down = (right - left) / 300, (bottom - top) / 190
    assert across < 0.5
    assert cover(views["C"]) == pytest.approx((across, down))
    expected = f"camera C: the corners cover only {100 * across:.0f} % of the image's width and "
    assert any(warning.startswith(expected) for warning in found.warnings)


def test_cover_by_hand():
    pixels = np.array([[10.0, 5.0], [30.0, 20.0]])
    views = {"a": Corners(pixels, np.arange(2), (100, 50))}
    assert cover(views) == pytest.approx((0.2, 0.3))
    views["b"] = Corners(pixels + np.array([40.0, 10.0]), np.arange(2), (100, 50))
    assert cover(views) == pytest.approx((0.6, 0.5))


def test_parallel_boards_are_refused():
    with pytest.raises(BadData, match="nearly parallel"):
        calibrate_views(seen(boards(15, tilt=0.02)), BOARD)


def test_tilts_are_angles_between_boards():
    pair = [(np.eye(3), np.array([-0.1, -0.1, 0.6]))]
    pair.append((cv2.Rodrigues(np.array([0.0, 0.5, 0.0]))[0], np.array([-0.1, -0.1, 0.6])))
    views = seen(pair, noise_px=0.0)["C"]
    assert tilt_deg(views, BOARD) == pytest.approx(np.degrees(0.5), rel=0.3)


def test_swapped_cameras_are_refused(views):
    swapped = {"L": views["R"], "R": views["L"], "C": views["C"]}
    with pytest.raises(BadData, match=r"camera R stands 0\.080 m to the left of L; left and right"):
        calibrate_views(swapped, BOARD)


def test_cameras_above_each_other_are_refused():
    pose = Pose(np.eye(3), np.array([0.001, -0.08, 0.0]), 0.1)
    with pytest.raises(BadData, match="side by side"):
        check_rig({"L": TRUE["L"], "R": TRUE["R"]}, {"LR": pose}, {})


def test_left_and_right_of_different_sizes_are_refused():
    pose = Pose(np.eye(3), np.array([-0.08, 0.0, 0.0]), 0.1)
    with pytest.raises(BadData, match="different sizes, 640x468 and 300x190"):
        check_rig({"L": TRUE["L"], "R": TRUE["C"]}, {"LR": pose}, {})


def test_strange_rigs_are_warned_about(views):
    singles = calibrate_views(views, BOARD, joint=False).singles
    far = cv2.Rodrigues(np.array([0.0, 0.5, 0.0]))[0]
    pairs = {
        "LR": Pose(np.eye(3), np.array([-80.0, 0.0, 0.0]), 0.1),
        "LC": Pose(far, far @ np.array([-90.0, 0.0, 0.0]), 0.9),
    }
    warnings = " ".join(check_rig(TRUE, pairs, singles))
    assert "baseline of 80 m is unusual" in warnings
    assert "beyond R" in warnings
    assert "turned by 29 degrees" in warnings
    assert "0.90 px but each camera alone" in warnings


@pytest.mark.parametrize("names", [("L",), ("L", "R", "X")])
def test_a_rig_has_left_and_right(views, names):
    with pytest.raises(Misuse, match="cameras L, R and optionally C"):
        calibrate_views({name: views["L"] for name in names}, BOARD)


def test_outliers_have_a_floor():
    assert outliers({"a": 0.01, "b": 0.011, "c": 0.0101, "d": 0.09}, 3.0) == []
    assert outliers({"a": 0.2, "b": 0.21, "c": 0.19, "d": float("nan")}, 3.0) == ["d"]


def test_a_factor_must_be_positive(views):
    with pytest.raises(Misuse, match="outlier_factor"):
        calibrate_views(views, BOARD, outlier_factor=0.0)


def test_a_board_of_the_wrong_kind_gives_a_sentence():
    with pytest.raises(BadData, match="found in 0 photograph"):
        calibrate_single("L", {}, BOARD, outlier_factor=6.0)


def test_json_keeps_the_calibration(views):
    calibration = calibrate_views(views, BOARD, joint=False).calibration
    again = Calibration.from_json(calibration.to_json())
    assert again.cameras == calibration.cameras
    for name, pose in calibration.pairs.items():
        np.testing.assert_array_equal(again.pairs[name].rotation, pose.rotation)
        np.testing.assert_array_equal(again.pairs[name].translation_m, pose.translation_m)
        assert again.pairs[name].rms_px == pose.rms_px


def test_real_photographs(shared):
    """13 pairs; OpenCV's own corners leave 0.408, 0.458 and, for the pair, 0.447 px.

    Its focal lengths of 536.1 and 542.3 px and 3.344 squares of baseline came from those corners.
    """
    folder = shared("data/calib-chessboard-stereo")
    images = {
        name: {path.stem[-2:]: path for path in sorted(folder.glob(f"{side}*.jpg"))}
        for name, side in (("L", "left"), ("R", "right"))
    }
    assert len(images["L"]) == 13
    found = calibrate_images(images, Board(9, 6, 1.0), joint=False)
    assert not found.not_found["L"]
    assert not found.not_found["R"]
    assert found.singles["L"].rms_px < 0.2
    assert found.singles["R"].rms_px < 0.2
    pose = found.calibration.pairs["LR"]
    assert pose.rms_px < 0.25
    assert pose.baseline_m == pytest.approx(3.344, rel=0.01)
    assert found.calibration.cameras["L"].focal_px[0] == pytest.approx(536.1, rel=0.01)
    assert found.calibration.cameras["R"].focal_px[0] == pytest.approx(542.3, rel=0.012)
    # A square of 1 m makes a baseline that no rig has.
    assert any("baseline of 3.3" in warning for warning in found.warnings)


def test_photographs_that_cannot_be_used_are_left_out(tmp_path):
    """Of another size than most, cut off, of no known kind, and not there at all."""
    paths = {}
    for name, shape in (("00", (60, 40)), ("01", (40, 60)), ("02", (40, 60)), ("03", (40, 60))):
        paths[name] = tmp_path / f"{name}.png"
        io.write_image(paths[name], np.zeros(shape, np.uint8))
    paths["03"].write_bytes(paths["03"].read_bytes()[:-20])
    paths["04"] = tmp_path / "04.png"
    paths["04"].write_text("no picture")
    paths["05"] = tmp_path / "05.png"
    expected = {"00": "is 40x60, not 60x40"} | dict.fromkeys(("03", "04", "05"), "cannot be read")
    for kept in (None, tmp_path / "kept", tmp_path / "kept"):
        found = find_views({"L": paths}, BOARD, kept=kept)
        assert found.left_out == {"L": expected}
        assert found.views == {"L": {}}
    with pytest.raises(BadData, match=r"camera L: .* 0 photograph.* leaving out .*00 \(is 40x60"):
        calibrate_images({"L": paths, "R": paths}, BOARD)
