"""The pairs of exact cameras; what estimated ones give is in test_calibrate_rig.py."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.capture.calibrate.calibration import Pose
from depthgauge.capture.rectify.pairs import (
    balanced_pair,
    horizontal_field_deg,
    unbalanced_pair,
)
from depthgauge.errors import BadData
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.projection import project

LEFT = camera_from_pixels(
    (3000.0, 3004.0),
    4112,
    3008,
    centre_px=(2040.0, 1510.0),
    distortion=(-0.08, 0.02, 0.0005, -0.0004, 0.003),
)
RIGHT = camera_from_pixels(
    (3010.0, 3006.0),
    4112,
    3008,
    centre_px=(2060.0, 1490.0),
    distortion=(-0.07, 0.02, 0.0003, -0.0002, 0.002),
)


def centre_camera(focal_px, size=(1936, 1216)):
    return camera_from_pixels(
        (focal_px, focal_px + 2),
        *size,
        centre_px=(size[0] / 2 - 12.0, size[1] / 2 + 7.0),
        distortion=(-0.1, 0.03, 0.0005, -0.0004, 0.003),
    )


def beside(x_m, angles=(0.01, -0.02, 0.005)):
    rotation = cv2.Rodrigues(np.array(angles))[0]
    return Pose(rotation, np.array([-x_m, 0.001, 0.002]), 0.1)


def matching(pair, pose, count=400):
    """Matching positions in the two rectified images, and depths along the left one's axis."""
    points = np.random.default_rng(0).uniform((-0.5, -0.35, 1), (0.5, 0.35, 3), (count, 3))
    left = pair.left.from_raw(project(points, pair.left.raw))
    moved = points @ pose.rotation.T + pose.translation_m
    right = pair.right.from_raw(project(moved, pair.right.raw))
    return left, right, (points @ pair.left.rotation.T)[:, 2]


def is_empty_somewhere(view, step=16):
    """Of pixels in a grid that has the first and last rows and columns."""
    width, height = view.camera.size_px
    x, y = (np.append(np.arange(0, n - 1, step), n - 1) for n in (width, height))
    raw = view.to_raw(np.stack(np.meshgrid(x, y), axis=-1))
    return not ((raw >= -0.5) & (raw <= np.array(view.raw.size_px) - 0.5)).all()


def check_pair(pair, pose):
    """Rows agree, disparities are those of the depth, nothing is empty."""
    left, right, depth_m = matching(pair, pose)
    np.testing.assert_allclose(pair.to_left_size(right)[:, 1], left[:, 1], atol=1e-6)
    expected = pair.left.camera.focal_px[0] * pair.baseline_m / depth_m
    np.testing.assert_allclose(pair.disparity(left, right), expected, atol=1e-6)
    assert pair.rig().principal_offset_px == pytest.approx(0.0, abs=1e-6)
    assert not is_empty_somewhere(pair.left)
    assert not is_empty_somewhere(pair.right)


def test_the_balanced_pair():
    pose = beside(0.08)
    pair = balanced_pair(LEFT, RIGHT, pose)
    check_pair(pair, pose)
    assert pair.left.camera.size_px == pair.right.camera.size_px == (4112, 3008)
    assert pair.left.camera.focal_px == pair.right.camera.focal_px
    assert pair.baseline_m == pytest.approx(np.linalg.norm(pose.translation_m))
    # Hardly anything of the field of view is lost.
    assert horizontal_field_deg(pair.left.camera) > 0.95 * horizontal_field_deg(LEFT)


def test_the_unbalanced_pair_with_a_wide_centre_camera():
    """L has the smaller field of view: it keeps its size, and C is cropped to what L sees."""
    pose, centre = beside(0.04), centre_camera(1100.0)
    assert horizontal_field_deg(centre) > horizontal_field_deg(LEFT)
    pair = unbalanced_pair(LEFT, centre, pose)
    check_pair(pair, pose)
    assert pair.left.camera.size_px == LEFT.size_px
    # 4112 / 3000 * 1100 = 1507.7, and 3008 / 4112 of it.
    assert pair.right.camera.size_px == (1508, 1103)


def test_the_unbalanced_pair_with_a_narrow_centre_camera():
    """C has the smaller field of view: now L is cropped, and keeps its resolution."""
    pose, centre = beside(0.04), centre_camera(2400.0)
    assert horizontal_field_deg(centre) < horizontal_field_deg(LEFT)
    pair = unbalanced_pair(LEFT, centre, pose)
    check_pair(pair, pose)
    assert pair.right.camera.size_px == centre.size_px
    # 1936 / 2400 * 3000 = 2420, and 1216 / 1936 of it.
    assert pair.left.camera.size_px == (2420, 1520)
    assert pair.left.camera.focal_px[0] == pytest.approx(LEFT.focal_px[0], rel=0.1)


def test_a_crop_that_is_higher_than_the_image_leaves_nothing_empty():
    """C is as wide as L but much flatter: to keep L's shape, the pair shows less."""
    pose, centre = beside(0.04), centre_camera(1100.0, size=(1936, 800))
    pair = unbalanced_pair(LEFT, centre, pose)
    check_pair(pair, pose)
    assert pair.left.camera.focal_px[0] > 1.2 * LEFT.focal_px[0]


@settings(max_examples=15)
@given(
    st.floats(900.0, 3000.0),
    st.floats(0.02, 0.2),
    st.tuples(*[st.floats(-0.03, 0.03)] * 3),
)
def test_rows_agree_for_any_cameras(focal_px, x_m, angles):
    pose = beside(x_m, angles)
    pair = unbalanced_pair(LEFT, centre_camera(focal_px), pose)
    left, right, depth_m = matching(pair, pose, 60)
    np.testing.assert_allclose(pair.to_left_size(right)[:, 1], left[:, 1], atol=1e-6)
    expected = pair.left.camera.focal_px[0] * pair.baseline_m / depth_m
    np.testing.assert_allclose(pair.disparity(left, right), expected, atol=1e-6)


def test_rectified_cameras_stand_where_the_raw_ones_do():
    pose = beside(0.08)
    pair = balanced_pair(LEFT, RIGHT, pose)
    world = pair.left.camera.world_from_camera
    np.testing.assert_allclose(world[:3, :3], pair.left.rotation.T, atol=1e-12)
    np.testing.assert_array_equal(world[:3, 3], 0)


def test_a_balanced_pair_has_one_size():
    with pytest.raises(BadData, match="left images are 4112x3008 but the right ones are 1936x1216"):
        balanced_pair(LEFT, centre_camera(1100.0), beside(0.04))


@pytest.mark.parametrize("translation", [(0.08, 0.0, 0.0), (0.001, -0.08, 0.0)])
def test_cameras_that_are_not_side_by_side_are_refused(translation):
    pose = Pose(np.eye(3), np.array(translation), 0.1)
    with pytest.raises(BadData, match="must stand to the right of the first"):
        balanced_pair(LEFT, RIGHT, pose)


def test_cameras_that_see_nothing_in_common_are_refused():
    pose = beside(0.08, angles=(0.0, 1.5, 0.0))
    with pytest.raises(BadData, match="rectified"):
        balanced_pair(LEFT, RIGHT, pose)
