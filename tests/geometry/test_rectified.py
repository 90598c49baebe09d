import json

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadData
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.rectified import (
    RectifiedPair,
    RectifiedView,
    inside_image,
)

LENS = (-0.12, 0.03, 0.002, -0.001, 0.005)


def turn(*angles):
    return cv2.Rodrigues(np.array(angles))[0]


def some_view(**ideal):
    raw = camera_from_pixels((60.0, 55.0), 32, 24, centre_px=(14.5, 12.25), distortion=LENS)
    options = {"focal_px": 70.0, "width_px": 40, "height_px": 30, **ideal}
    return RectifiedView(raw, turn(0.02, -0.05, 0.03), camera_from_pixels(**options))


def some_pair():
    small = some_view(focal_px=35.0, width_px=20, height_px=15)
    return RectifiedPair(some_view(), small, 0.08)


@given(st.floats(0, 39), st.floats(0, 29))
def test_there_and_back_is_the_identity(x, y):
    view = some_view()
    pixels = np.array([[x, y]])
    np.testing.assert_allclose(view.from_raw(view.to_raw(pixels)), pixels, atol=1e-8)


def test_positions_are_those_of_opencv():
    view = some_view()
    maps = cv2.initUndistortRectifyMap(
        view.raw.matrix(), np.array(LENS), view.rotation, view.camera.matrix(), (40, 30), cv2.CV_32F
    )
    for ours, theirs in zip(view.raw_grid(), maps, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    points = np.array([[3.0, 4.0], [20.0, 11.0]])
    theirs = cv2.undistortPoints(
        points[:, None],
        view.raw.matrix(),
        np.array(LENS),
        R=view.rotation,
        P=view.camera.matrix(),
    )
    np.testing.assert_allclose(view.from_raw(points), theirs.reshape(-1, 2), atol=0.02)


def test_a_band_of_the_grid_is_a_part_of_the_grid():
    view = some_view()
    for whole, band in zip(view.raw_grid(), view.raw_grid(slice(5, 25, 3)), strict=True):
        np.testing.assert_array_equal(band, whole[5:25:3])


def test_sizes_are_matched_by_areas():
    pair = some_pair()
    assert pair.right_scale == 2.0
    # The first right pixel covers the left pixels 0 and 1: its middle is between them.
    np.testing.assert_array_equal(pair.to_left_size(np.array([[0.0, 0.0]])), [[0.5, 0.5]])
    assert pair.right_camera().size_px == (40, 30)
    np.testing.assert_allclose(pair.right_camera().focal_px, 70.0)


@given(st.floats(-5, 45), st.floats(-5, 35))
def test_the_way_back_from_the_left_size(x, y):
    pair, place = some_pair(), np.array([[x, y]])
    np.testing.assert_allclose(pair.to_left_size(pair.from_left_size(place)), place, atol=1e-12)
    np.testing.assert_array_equal(pair.from_left_size(np.array([[0.5, 2.5]])), [[0.0, 1.0]])


def test_the_grid_has_x_before_y():
    grid = some_view().grid(slice(4, 9, 2))
    assert grid.shape == (3, 40, 2)
    assert grid[1, 7].tolist() == [7.0, 6.0]


def test_pixels_are_squares_around_their_centres():
    x = np.array([-0.51, -0.5, 3.5, 3.51, np.nan, 1.0, 1.0, 1.0])
    y = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.5, 2.51, np.nan])
    expected = [False, True, True, False, False, True, False, False]
    assert inside_image(x, y, (4, 3)).tolist() == expected


def test_disparity_is_in_px_of_the_left_image():
    left, right = np.array([[10.5, 4.5]]), np.array([[3.0, 2.0]])
    assert some_pair().disparity(left, right) == pytest.approx(10.5 - 6.5)


def test_the_rig_has_the_offset_of_the_principal_points():
    rig = some_pair().rig()
    assert rig.baseline_m == 0.08
    assert rig.principal_offset_px == pytest.approx(0.0, abs=1e-12)


def test_json_keeps_everything():
    pair = some_pair()
    again = RectifiedPair.from_json(json.loads(json.dumps(pair.to_json())))
    assert again.baseline_m == pair.baseline_m
    for one, other in ((pair.left, again.left), (pair.right, again.right)):
        assert (one.raw, one.camera) == (other.raw, other.camera)
        np.testing.assert_array_equal(one.rotation, other.rotation)


@pytest.mark.parametrize("spoil", ["left", "baseline_m"])
def test_damaged_pairs_are_refused(spoil):
    data = some_pair().to_json()
    data[spoil] = "nonsense"
    with pytest.raises(BadData, match="not a rectified pair"):
        RectifiedPair.from_json(data)
