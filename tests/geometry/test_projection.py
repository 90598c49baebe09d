import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.projection import (
    backproject,
    inverse_pose,
    project,
    ray_slopes,
    rays,
    slopes_at,
    to_camera,
    to_world,
    transform,
)

LENS = (-0.12, 0.03, 0.002, -0.001, 0.005)


def some_camera(distortion=(), pose=None):
    return camera_from_pixels(
        (60.0, 55.0),
        32,
        24,
        centre_px=(14.5, 12.25),
        distortion=distortion,
        world_from_camera=pose,
    )


def some_pose():
    rotation = cv2.Rodrigues(np.array([0.2, -0.4, 0.1]))[0]
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, (1.0, -2.0, 0.5)
    return pose


def pixel_grid(camera):
    width, height = camera.size_px
    return np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1)


def test_the_ray_of_the_principal_point_is_the_axis():
    camera = camera_from_pixels(100.0, 5, 5)
    np.testing.assert_array_equal(rays(camera)[2, 2], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(rays(camera)[0, 4], [0.02, -0.02, 1.0], rtol=1e-6)


def test_axes_are_right_down_forward():
    points = backproject(np.full((24, 32), 2.0), some_camera())
    assert points[0, -1, 0] > 0 > points[0, -1, 1]
    np.testing.assert_array_equal(points[..., 2], 2.0)


@pytest.mark.parametrize("distortion", [(), LENS, (-0.2, 0.05), (0.1, 0.0, 0.0, 0.0)])
def test_projecting_what_was_back_projected_is_the_identity(distortion):
    camera = some_camera(distortion)
    depth = np.random.default_rng(1).uniform(0.5, 20.0, (24, 32)).astype(np.float32)
    pixels = project(backproject(depth, camera), camera)
    np.testing.assert_allclose(pixels, pixel_grid(camera), atol=2e-5)
    assert pixels.dtype == np.float32


@given(st.floats(10.0, 5000.0), st.floats(-50.0, 50.0), st.floats(1e-3, 1e4))
def test_the_identity_holds_for_any_camera(focal, centre, depth):
    camera = camera_from_pixels(focal, 7, 5, centre_px=(centre, -centre))
    pixels = project(backproject(np.full((5, 7), depth), camera), camera)
    np.testing.assert_allclose(pixels, pixel_grid(camera), atol=2e-4)


def test_projection_agrees_with_opencv():
    camera = some_camera(LENS)
    points = np.random.default_rng(2).uniform((-1, -1, 2), (1, 1, 9), (50, 3))
    expected = cv2.projectPoints(points, np.zeros(3), np.zeros(3), camera.matrix(), np.array(LENS))[
        0
    ][:, 0]
    np.testing.assert_allclose(project(points, camera), expected, atol=1e-10)


def test_opencv_puts_the_rays_on_their_pixels():
    camera = some_camera(LENS)
    found = rays(camera).reshape(-1, 3).astype(np.float64)
    pixels = cv2.projectPoints(found, np.zeros(3), np.zeros(3), camera.matrix(), np.array(LENS))[0]
    np.testing.assert_allclose(pixels.reshape(24, 32, 2), pixel_grid(camera), atol=1e-5)


def test_pixels_beyond_the_lens_have_no_ray_and_no_point():
    # 1 - r^2 folds at r = 0.577, where the distorted radius is 0.385.
    camera = camera_from_pixels(10.0, 11, 11, distortion=(-1.0,))
    found = rays(camera)
    assert np.isnan(found[5, 0]).all()
    assert np.isfinite(found[5, 3]).all()
    assert np.isnan(backproject(np.ones((11, 11)), camera)[5, 0]).all()


def test_missing_depths_have_no_points():
    depth = np.array([[1.0, np.nan, 0.0, -1.0, np.inf]])
    points = backproject(depth, camera_from_pixels(10.0, 5, 1))
    assert np.isfinite(points[0, 0]).all()
    assert np.isnan(points[0, 1:]).all()


def test_points_behind_the_camera_or_missing_are_not_seen():
    points = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0], [1e300, 0.0, 1e-300]])
    assert np.isnan(project(points, some_camera())).all()


def test_a_pose_and_its_inverse():
    camera = some_camera(pose=some_pose())
    points = np.random.default_rng(3).normal(size=(4, 5, 3))
    world = to_world(points, camera)
    expected = np.einsum("ij,hwj->hwi", some_pose()[:3, :3], points) + some_pose()[:3, 3]
    np.testing.assert_allclose(world, expected, atol=1e-12)
    np.testing.assert_allclose(to_camera(world, camera), points, atol=1e-12)
    np.testing.assert_allclose(inverse_pose(some_pose()) @ some_pose(), np.eye(4), atol=1e-12)


def test_a_moved_missing_point_is_missing_altogether():
    moved = transform(np.array([[1.0, np.nan, 2.0], [1.0, 1.0, 1.0]], np.float32), np.eye(4))
    assert np.isnan(moved[0]).all()
    np.testing.assert_array_equal(moved[1], 1.0)
    assert moved.dtype == np.float32


def test_errors_say_what_to_do():
    camera = some_camera()
    with pytest.raises(WrongShape, match="the map is 3x2, the camera's image is 32x24; resize"):
        backproject(np.ones((2, 3)), camera)
    with pytest.raises(WrongShape, match=r"depth must be \(H, W\)"):
        backproject(np.ones((2, 3, 3)), camera)
    with pytest.raises(WrongShape, match=r"points must be \(\.\.\., 3\)"):
        project(np.ones((4, 2)), camera)
    with pytest.raises(WrongShape, match="a pose must be 4x4"):
        transform(np.ones((4, 3)), np.eye(3))
    with pytest.raises(Misuse, match="not a rotation"):
        inverse_pose(2 * np.eye(4))
    with pytest.raises(Misuse, match="distortion beyond k1 k2 p1 p2 k3"):
        rays(some_camera((0.0, 0.0, 0.0, 0.0, 0.0, 0.1)))


@pytest.mark.parametrize("distortion", [(), LENS, (-0.2, 0.05)])
def test_slopes_at_pixels_are_the_rays_of_the_pixels(distortion):
    camera = some_camera(distortion)
    slopes = slopes_at(pixel_grid(camera), camera)
    np.testing.assert_array_equal(slopes, np.stack(ray_slopes(camera), axis=-1))


@given(st.floats(-2.0, 34.0), st.floats(-2.0, 26.0))
def test_slopes_between_pixels_lead_back(x, y):
    camera = some_camera(LENS)
    slopes = slopes_at(np.array([x, y]), camera)
    np.testing.assert_allclose(project(np.append(slopes, 1.0), camera), (x, y), atol=1e-9)


def test_slopes_agree_with_opencv():
    camera = some_camera(LENS)
    pixels = np.random.default_rng(3).uniform(0, 23, (40, 1, 2))
    expected = cv2.undistortPoints(pixels, camera.matrix(), np.array(LENS))
    # OpenCV stops after a few rounds.
    np.testing.assert_allclose(slopes_at(pixels, camera), expected.reshape(40, 1, 2), atol=1e-5)


def test_beyond_the_fold_of_a_lens_there_is_no_ray():
    # r (1 - r^2) is at most 0.385 focal lengths.
    camera = some_camera((-1.0,))
    slopes = slopes_at(np.array([[14.5, 12.25], [14.5 + 0.5 * 60, 12.25]]), camera)
    np.testing.assert_array_equal(np.isnan(slopes).all(axis=1), [False, True])


def test_slopes_are_asked_of_positions():
    with pytest.raises(WrongShape, match=r"\(\.\.\., 2\)"):
        slopes_at(np.zeros((4, 3)), some_camera())
