import numpy as np
import pytest

from depthgauge.errors import Misuse
from depthgauge.geometry.intrinsics import (
    camera_from_mm,
    camera_from_pixels,
    focal_px,
    scale_camera,
)
from depthgauge.geometry.projection import project


def test_focal_length_of_the_light_field_benchmark():
    assert focal_px(100.0, 35.0, 512) == pytest.approx(1462.857142857)


def test_the_centre_is_the_middle_of_the_pixel_centres():
    assert camera_from_pixels(500.0, 4, 3).centre_px == (1.5, 1.0)


def test_everything_given_is_kept():
    pose = np.eye(4)
    pose[0, 3] = 2.0
    camera = camera_from_pixels(
        (500.0, 510.0),
        640,
        480,
        centre_px=(0.0, 0.0),
        distortion=[0.1, 0.2],
        world_from_camera=pose,
    )
    assert camera.focal_px == (500.0, 510.0)
    assert camera.centre_px == (0.0, 0.0)
    assert camera.distortion == (0.1, 0.2)
    assert camera.world_from_camera[0, 3] == 2.0


def test_pixels_are_square_unless_the_sensor_says_otherwise():
    assert camera_from_mm(10.0, 5.0, 100, 50).focal_px == (200.0, 200.0)
    assert camera_from_mm(10.0, 5.0, 100, 50, sensor_height_mm=5.0).focal_px == (200.0, 100.0)


def test_a_scaled_camera_sees_the_outline_at_the_outline():
    camera = camera_from_pixels((500.0, 400.0), 640, 480, centre_px=(300.0, 250.0))
    small = scale_camera(camera, 160, 240)
    points = np.array([[0.3, 0.2, 2.0], [-0.1, 0.4, 1.0]])
    big_px, small_px = project(points, camera), project(points, small)
    np.testing.assert_allclose(small_px + 0.5, (big_px + 0.5) * (0.25, 0.5))
    assert small.size_px == (160, 240)


def test_scaling_there_and_back_is_the_identity():
    camera = camera_from_pixels(500.0, 640, 480)
    back = scale_camera(scale_camera(camera, 1280, 240), 640, 480)
    assert back.focal_px == pytest.approx(camera.focal_px)
    assert back.centre_px == pytest.approx(camera.centre_px)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_lengths_are_refused_by_name(bad):
    with pytest.raises(Misuse, match="sensor_mm must be positive and finite"):
        focal_px(35.0, bad, 100)
    with pytest.raises(Misuse, match="focal_y_px must be positive"):
        camera_from_pixels((1.0, bad), 4, 4)


def test_a_pose_must_be_four_by_four():
    with pytest.raises(Misuse, match="world_from_camera must be 4x4"):
        camera_from_pixels(1.0, 4, 4, world_from_camera=np.eye(3))
