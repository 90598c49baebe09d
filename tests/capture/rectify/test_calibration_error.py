"""Errors of the calibration, drawn at random, move labels as far as the covariance says."""

from dataclasses import replace

import numpy as np
import pytest

from depthgauge.capture.calibrate.calibration import (
    INSIDE,
    RIGID,
    Calibration,
    Covariance,
    Pose,
    with_poses,
)
from depthgauge.capture.rectify.calibration_error import row_variance, unbalanced_variance
from depthgauge.capture.rectify.pairs import balanced_pair, unbalanced_pair
from depthgauge.capture.warp.step import warp_disparity
from depthgauge.errors import Misuse
from depthgauge.geometry.projection import inverse_pose, project, slopes_at, to_camera

SPREAD = {"fx": 0.2, "fy": 0.2, "cx": 0.3, "cy": 0.3, "k1": 2e-3, "k2": 3e-3}
SPREAD |= {"p1": 1e-4, "p2": 1e-4, "k3": 1e-3}
SPREAD |= {"rx": 3e-4, "ry": 3e-4, "rz": 3e-4, "tx": 2e-5, "ty": 2e-5, "tz": 5e-5}
DRAWS = 150
STEP = 20


@pytest.fixture(scope="module")
def calibration(world) -> Calibration:
    """The world's cameras, with errors that all cameras of a rig share in part."""
    cameras = {name: world.truth.cameras[name] for name in "LRC"}
    pairs = {}
    for name in ("LR", "LC"):
        pose = inverse_pose(cameras[name[1]].world_from_camera) @ cameras["L"].world_from_camera
        pairs[name] = Pose(pose[:3, :3], pose[:3, 3], 0.02)
    names = [f"{camera} {what}" for camera in cameras for what in INSIDE]
    names += [f"{pair} {what}" for pair in pairs for what in RIGID]
    sigma = np.array([SPREAD[name.split()[1]] for name in names])
    mix = np.eye(len(names)) + 0.3 * np.random.default_rng(0).normal(size=(len(names),) * 2) / 6
    covariance = Covariance(tuple(names), sigma[:, None] * (mix @ mix.T) * sigma)
    return Calibration(with_poses(cameras, pairs), pairs, covariance)


@pytest.fixture(scope="module")
def pairs(calibration):
    cameras = calibration.cameras
    return {
        "LR": balanced_pair(cameras["L"], cameras["R"], calibration.pairs["LR"]),
        "LC": unbalanced_pair(cameras["L"], cameras["C"], calibration.pairs["LC"]),
    }


def exactly(moved: Calibration, pair, name: str, plane_m: float):
    """Disparities and row errors of a wall, seen by moved cameras and rectified as estimated."""
    place = pair.left.grid()[::STEP, ::STEP].reshape(-1, 2)
    raw = pair.left.to_raw(place)
    left, right = moved.cameras[name[0]], moved.cameras[name[1]]
    slopes = slopes_at(raw, left)
    points = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1) * plane_m
    match = pair.right.from_raw(project(to_camera(points, right), right))
    return pair.disparity(place, match), pair.to_left_size(match)[:, 1] - place[:, 1]


def full(pair, value: float):
    width, height = pair.left.camera.size_px
    return np.full((height, width), value, np.float32)


@pytest.mark.parametrize("plane_m", [0.8, 2.5])
def test_rows_and_labels_are_off_by_as_much_as_predicted(calibration, pairs, plane_m):
    random = np.random.default_rng(3)
    spread = np.linalg.cholesky(calibration.covariance.matrix + 1e-18 * np.eye(39))
    rows, labels = [], []
    for _ in range(DRAWS):
        moved = calibration.moved(spread @ random.normal(size=len(spread)))
        rows.append(exactly(moved, pairs["LR"], "LR", plane_m)[1])
        # What is measured in L-R, warped with the calibration as it is.
        measured = _measured(moved, pairs["LR"], plane_m)
        warped = warp_disparity(measured, np.zeros_like(measured), pairs["LR"], pairs["LC"])
        truth = exactly(moved, pairs["LC"], "LC", plane_m)[0]
        labels.append(warped.disparity[::STEP, ::STEP].ravel() - truth)
    middle = {
        name: float(np.median(exactly(calibration, pair, name, plane_m)[0]))
        for name, pair in pairs.items()
    }
    for errors, predicted in (
        (rows, row_variance(calibration, pairs["LR"], full(pairs["LR"], middle["LR"]))),
        (
            labels,
            unbalanced_variance(
                calibration, pairs["LR"], pairs["LC"], full(pairs["LC"], middle["LC"])
            ),
        ),
    ):
        real = np.mean(np.square(errors), axis=0)  # NaN where the wall is outside of a label map
        expected = predicted[::STEP, ::STEP].ravel()
        known = np.isfinite(real)
        assert known.mean() > 0.6
        assert np.median(real[known] / expected[known]) == pytest.approx(1, abs=0.3)
        assert np.corrcoef(np.log(real[known]), np.log(expected[known]))[0, 1] > 0.6


def _measured(moved, pair, plane_m):
    """The disparities that matching finds of the wall, at every pixel."""
    place = pair.left.grid().reshape(-1, 2)
    left, right = moved.cameras["L"], moved.cameras["R"]
    slopes = slopes_at(pair.left.to_raw(place), left)
    points = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1) * plane_m
    match = pair.right.from_raw(project(to_camera(points, right), right))
    width, height = pair.left.camera.size_px
    return pair.disparity(place, match).reshape(height, width).astype(np.float32)


def test_without_a_covariance_nothing_is_added(calibration, pairs):
    unknown = replace(calibration, covariance=None)
    disparity = full(pairs["LR"], 20.0)
    disparity[0, 0] = np.nan
    found = row_variance(unknown, pairs["LR"], disparity)
    assert np.isnan(found[0, 0])
    assert not found[1:].any()
    with pytest.raises(Misuse, match="no order of its numbers"):
        unknown.moved(np.zeros(39))


def test_a_covariance_survives_its_file(calibration):
    again = Calibration.from_json(calibration.to_json())
    assert again.covariance.names == calibration.covariance.names
    assert np.array_equal(again.covariance.matrix, calibration.covariance.matrix)
    old = {k: v for k, v in calibration.to_json().items() if k != "covariance"}
    assert Calibration.from_json(old).covariance is None


def test_directions_add_up_to_the_covariance(calibration):
    columns = calibration.covariance.directions()
    scale = np.sqrt(np.diag(calibration.covariance.matrix))
    error = columns @ columns.T - calibration.covariance.matrix
    assert np.abs(error / np.outer(scale, scale)).max() < 1e-6
