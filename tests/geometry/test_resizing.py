import warnings

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from depthgauge.errors import Misuse, UnknownName, WrongShape
from depthgauge.geometry.resizing import (
    RESIZINGS,
    crop_border,
    pad_border,
    resize,
    resize_labels,
    subsample_truth,
)

NAN = np.nan
SIZES = [
    ((7, 9), (14, 18)),
    ((6, 10), (3, 5)),
    ((5, 5), (13, 3)),
    ((37, 53), (81, 29)),
    ((1, 1), (4, 3)),
    ((8, 3), (1, 1)),
    ((34, 6), (6, 34)),
    ((12, 74), (68, 10)),
]


def noise(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("how", RESIZINGS)
def test_equal_size_changes_nothing(how):
    values = noise((5, 7))
    values[2, 3] = NAN
    np.testing.assert_array_equal(resize(values, (5, 7), how, "disparity"), values)


@pytest.mark.parametrize(("source", "target"), SIZES)
def test_nearest_takes_opencvs_pixels(source, target):
    values = noise(source)
    expected = cv2.resize(values, target[::-1], interpolation=cv2.INTER_NEAREST)
    found = resize(values, target, "nearest", "depth")
    np.testing.assert_array_equal(found, expected.reshape(target))


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 400), st.integers(1, 400))
def test_nearest_takes_opencvs_pixels_at_any_ratio(source, target):
    values = np.arange(source, dtype=np.float32)[None]
    expected = cv2.resize(values, (target, 1), interpolation=cv2.INTER_NEAREST)
    found = resize(values, (1, target), "nearest", "depth")
    np.testing.assert_array_equal(found, expected.reshape(1, target))


@pytest.mark.parametrize(("source", "target"), SIZES)
def test_bilinear_is_opencvs(source, target):
    values = noise(source)
    expected = cv2.resize(values, target[::-1], interpolation=cv2.INTER_LINEAR)
    found = resize(values, target, "bilinear", "depth")
    np.testing.assert_allclose(found, expected.reshape(target), atol=1e-5)


def test_bilinear_is_missing_only_where_a_needed_neighbour_is():
    values = np.array([[0.0, 4.0, NAN, 8.0]])
    np.testing.assert_array_equal(
        resize(values, (1, 8), "bilinear", "depth"), [[0.0, 1.0, 3.0, NAN, NAN, NAN, NAN, 8.0]]
    )
    # Shrinking by three takes the middle pixel alone, whatever is beside it.
    middle = np.array([[NAN, 5.0, NAN, NAN, 7.0, NAN]])
    np.testing.assert_array_equal(resize(middle, (1, 2), "bilinear", "depth"), [[5.0, 7.0]])


def areas(source, target):
    """How much of each source pixel is in each target pixel, as shares of the target's area."""
    edges = np.arange(target + 1) * source / target
    low = np.maximum(edges[:-1, None], np.arange(source))
    high = np.minimum(edges[1:, None], np.arange(source) + 1)
    return np.maximum(high - low, 0) * target / source


@pytest.mark.parametrize(("source", "target"), [((12, 10), (5, 4)), ((12, 10), (12, 7))])
def test_area_is_the_mean_of_what_a_pixel_covers(source, target):
    values = noise((*source, 3))
    rows, columns = (areas(a, b) for a, b in zip(source, target, strict=True))
    expected = np.einsum("ya,xb,abc->yxc", rows, columns, values)
    np.testing.assert_allclose(resize(values, target, "area", "view"), expected, atol=1e-6)


def test_area_blends_along_an_axis_that_grows():
    values = noise((8, 6))
    found = resize(values, (4, 12), "area", "depth")
    halved = (values[::2] + values[1::2]) / 2
    np.testing.assert_allclose(found, resize(halved, (4, 12), "bilinear", "depth"), atol=1e-6)
    larger = resize(values, (16, 12), "area", "depth")
    np.testing.assert_array_equal(larger, resize(values, (16, 12), "bilinear", "depth"))


def test_area_is_missing_where_a_part_of_it_is():
    values = np.array([[1.0, 3.0, NAN, 5.0]], np.float32)
    np.testing.assert_array_equal(resize(values, (1, 2), "area", "depth"), [[2.0, NAN]])


def test_bilinear_of_channels_is_that_of_each():
    values = noise((5, 6, 2))
    found = resize(values, (9, 4), "bilinear", "normals")
    for c in range(2):
        np.testing.assert_array_equal(
            found[..., c], resize(values[..., c], (9, 4), "bilinear", "normals")
        )


def test_zoom_is_the_light_field_toolkits():
    """scipy.ndimage.zoom(a, 10.0, order=0) raises 512x512 estimates to the truth's 5120x5120."""
    row = np.arange(512, dtype=np.float32)[None]
    found = resize(np.repeat(row, 2, 0), (20, 5120), "zoom", "disparity", scale_values=False)
    expected = ndimage.zoom(row[0], 10.0, order=0)
    np.testing.assert_array_equal(found[0], expected)
    counts = np.bincount(expected.astype(int))
    assert counts[0] == counts[-1] == 6
    assert np.count_nonzero(found[0] != np.arange(5120) // 10) == 1136


@pytest.mark.parametrize(("source", "factor"), [((6, 9), 3.0), ((5, 4), 2.0), ((9, 10), 0.5)])
def test_zoom_is_scipys(source, factor):
    values = noise(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy tells that it rounds the size
        expected = ndimage.zoom(values, factor, order=0)
    np.testing.assert_array_equal(resize(values, expected.shape, "zoom", "depth"), expected)


def test_zoom_never_runs_past_the_last_pixel():
    # scipy writes 0 into the last of 26 pixels here.
    assert resize(np.arange(8.0)[None], (1, 26), "zoom", "depth")[0, -1] == 7.0


def test_block_repeats():
    found = resize(np.array([[1.0, NAN], [3.0, 4.0]]), (4, 6), "block", "depth")
    np.testing.assert_array_equal(found[1], [1.0, 1.0, 1.0, NAN, NAN, NAN])
    np.testing.assert_array_equal(found[2], [3.0, 3.0, 3.0, 4.0, 4.0, 4.0])


def test_values_in_pixels_follow_the_image():
    ones = np.ones((2, 2))
    assert (resize(ones, (6, 4), "nearest", "disparity") == 2.0).all()
    assert (resize(ones, (6, 4), "nearest", "depth") == 1.0).all()
    assert (resize(ones, (6, 4), "nearest", "disparity", scale_values=False) == 1.0).all()
    flow = resize(np.ones((2, 2, 2)), (6, 4), "bilinear", "flow")
    np.testing.assert_array_equal(flow[0, 0], [2.0, 3.0])


def test_inputs_are_not_written_to():
    values = np.ones((1, 1), np.float32)
    resize(values, (2, 2), "block", "disparity")
    subsample_truth(values, 0.5, "disparity")
    assert values[0, 0] == 1.0


def test_labels_keep_their_type():
    labels = np.array([[1, 200]], np.uint8)
    found = resize_labels(labels, (2, 4), "zoom")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, [[1, 1, 200, 200]] * 2)
    assert resize_labels(labels > 1, (1, 2), "none").dtype == bool
    with pytest.raises(Misuse, match="labels cannot be blended"):
        resize_labels(labels, (2, 4), "bilinear")


@pytest.mark.parametrize("factor", [0.5, 0.25])
def test_subsampled_truth_is_boosters(factor):
    """cv2.resize(truth, None, fx=f, fy=f, INTER_NEAREST) * f, on sizes that divide."""
    truth = noise((16, 24))
    nearest = cv2.resize(truth, None, fx=factor, fy=factor, interpolation=cv2.INTER_NEAREST)
    np.testing.assert_array_equal(subsample_truth(truth, factor, "disparity"), nearest * factor)
    np.testing.assert_array_equal(subsample_truth(truth, factor, "depth"), nearest)


def test_subsampled_masks_and_labels_are_not_scaled():
    labels = np.arange(20, dtype=np.uint8).reshape(4, 5)
    found = subsample_truth(labels, 0.5, "disparity")
    np.testing.assert_array_equal(found, [[0, 2, 4], [10, 12, 14]])
    assert found.dtype == np.uint8
    assert subsample_truth(labels > 3, 0.25, "disparity").dtype == bool
    assert subsample_truth(labels, 1, "disparity") is labels


def test_borders_come_off_and_go_on():
    values = noise((6, 8, 2))
    cropped = crop_border(values, 2)
    assert cropped.shape == (2, 4, 2)
    padded = pad_border(cropped, 2)
    np.testing.assert_array_equal(crop_border(padded, 2), cropped)
    assert np.isnan(padded[:2]).all()
    assert np.isnan(padded[:, -2:]).all()
    assert crop_border(values, 0).shape == values.shape
    assert pad_border(values, 0).shape == values.shape


def test_errors_say_both_sizes_and_what_to_do():
    values = np.ones((2, 3))
    with pytest.raises(WrongShape, match=r"estimate is 3x2, the truth is 6x4.*estimate_resize"):
        resize(values, (4, 6), "none", "depth")
    with pytest.raises(WrongShape, match=r"7x4 is not a whole multiple of 3x2.*use nearest"):
        resize(values, (4, 7), "block", "depth")
    with pytest.raises(UnknownName, match="Did you mean 'bilinear'"):
        resize(values, (4, 6), "bilinar", "depth")
    with pytest.raises(WrongShape, match="flow needs pairs"):
        resize(values, (4, 6), "block", "flow")
    with pytest.raises(Misuse, match="width must be positive"):
        resize(values, (4, 0), "nearest", "depth")
    for bad in (0.3, 0.0, 2.0, -1.0, NAN):
        with pytest.raises(Misuse, match="one over k"):
            subsample_truth(values, bad, "depth")
    with pytest.raises(WrongShape, match="a border of 1 px cannot be removed from a map of 3x2"):
        crop_border(values, 1)
    with pytest.raises(Misuse, match="0 px or more"):
        pad_border(values, -1)
    with pytest.raises(WrongShape, match="at least one pixel"):
        resize(np.ones((0, 3)), (4, 6), "nearest", "depth")


def test_an_estimate_of_kittis_crop_is_put_back():
    values = np.arange(352 * 1216, dtype=np.float32).reshape(352, 1216)
    placed = resize(values, (375, 1242), "kb", "depth")
    np.testing.assert_array_equal(placed[23:, 13:1229], values)
    assert np.isfinite(placed).sum() == values.size
    whole = np.ones((375, 1242), np.float32)
    assert resize(whole, (375, 1242), "kb", "depth") is whole
    with pytest.raises(WrongShape, match="is 320x96 but must be 1242x375 as the truth, or"):
        resize(np.ones((96, 320)), (375, 1242), "kb", "depth")
