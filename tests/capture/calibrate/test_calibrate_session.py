"""A simulated session: how far its estimated cameras are from the true ones."""

from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.calibrate.step import calibrate, read_calibration
from depthgauge.capture.rectify.step import read_pair, rectify, row_differences_px
from depthgauge.capture.steps import read_step
from depthgauge.geometry.projection import inverse_pose, project, slopes_at, transform
from depthgauge.sessions import SimulatedTruth, open_session, read_simulated


@pytest.fixture(scope="module")
def work(capture_session, tmp_path_factory) -> Path:
    work = tmp_path_factory.mktemp("work")
    session = open_session(capture_session)
    calibrate(session, work)
    rectify(session, work)
    return work


@pytest.fixture(scope="module")
def truth(capture_session) -> SimulatedTruth:
    return read_simulated(open_session(capture_session).truth_folder)


def from_left(truth, name):
    """4x4, from L's axes to another camera's."""
    pose = inverse_pose(truth.cameras[name].world_from_camera)
    return pose @ truth.cameras["L"].world_from_camera


def test_cameras_of_a_simulated_session(work, truth):
    """15 boards at 320 px: focal lengths to 0.1 %, centres to 0.2 px, lenses to 0.1 px.

    The lens is compared where boards were: in the inner 70 % of the image's width and height.
    """
    for name, camera in read_calibration(work).cameras.items():
        true = truth.cameras[name]
        np.testing.assert_allclose(camera.focal_px, true.focal_px, rtol=1e-3)
        np.testing.assert_allclose(camera.centre_px, true.centre_px, atol=0.2)
        width, height = true.size_px
        share = np.linspace(0.15, 0.85, 15)
        pixels = np.stack(np.meshgrid(share * width, share * height), axis=-1)
        rays = np.concatenate([slopes_at(pixels, true), np.ones((15, 15, 1))], axis=-1)
        moved = np.linalg.norm(project(rays, camera) - pixels, axis=-1)
        assert np.sqrt((moved**2).mean()) < 0.1


def test_poses_of_a_simulated_session(work, truth):
    """Turns to 0.05 degrees, baselines to 0.2 %, places to half a millimetre."""
    for pair, pose in read_calibration(work).pairs.items():
        expected = from_left(truth, pair[1])
        cosine = (np.trace(pose.rotation @ expected[:3, :3].T) - 1) / 2
        assert np.degrees(np.arccos(np.clip(cosine, -1, 1))) < 0.05
        baseline_m = np.linalg.norm(expected[:3, 3])
        assert pose.baseline_m == pytest.approx(baseline_m, rel=2e-3)
        np.testing.assert_allclose(pose.translation_m, expected[:3, 3], atol=5e-4)
        assert pose.rms_px < 0.05


@pytest.mark.parametrize("name", ["LR", "LC"])
def test_rows_of_a_simulated_session(work, truth, name):
    """Vertices of the scene, where the true cameras see them, lie on one row to 0.03 px rms."""
    pair = read_pair(work, name)
    left_camera, right_camera = truth.cameras["L"], truth.cameras[name[1]]
    corners = truth.vertices[truth.triangles]
    share = np.random.default_rng(0).dirichlet((1, 1, 1), len(corners))
    points = np.concatenate([truth.vertices, (corners * share[..., None]).sum(axis=1)])
    seen = transform(points, inverse_pose(left_camera.world_from_camera))
    left = project(seen, left_camera)
    right = project(transform(seen, from_left(truth, name[1])), right_camera)
    inside = np.ones(len(points), bool)
    for pixels, camera in ((left, left_camera), (right, right_camera)):
        size = np.array(camera.size_px)
        inside &= ((pixels > 0.05 * size) & (pixels < 0.95 * size)).all(axis=1)
    assert inside.sum() > 500
    rows = row_differences_px(pair, left[inside], right[inside])
    assert np.sqrt((rows**2).mean()) < 0.03


def test_passive_pictures_of_a_simulated_session(capture_session, work):
    session = open_session(capture_session)
    step = read_step(work, "rectify")
    for name in ("LR", "LC"):
        pair = read_pair(work, name)
        for camera, view in zip(name, (pair.left, pair.right), strict=True):
            for stem in session.passive_images(camera):
                picture = io.read_image(step.folder / name / camera / f"{stem}.png")
                assert picture.shape[1::-1] == view.camera.size_px
        assert step.figures["pairs"][name]["left_empty_share"] == 0.0
    assert not step.warnings
