import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from depthgauge.capture.resample import empty_share, resample, take_nearest
from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.rectified import RectifiedView

LENS = (-0.12, 0.03, 0.002, -0.001, 0.005)


def some_view(zoom=1.3, distortion=LENS, angles=(0.02, -0.05, 0.03)):
    raw = camera_from_pixels((60.0, 58.0), 48, 36, centre_px=(22.5, 18.25), distortion=distortion)
    rotation = cv2.Rodrigues(np.array(angles))[0]
    return RectifiedView(raw, rotation, camera_from_pixels(60.0 * zoom, 44, 30))


def same_view():
    camera = camera_from_pixels(60.0, 48, 36)
    return RectifiedView(camera, np.eye(3), camera)


def noise(*shape, seed=1):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def by_hand(view, image, cubic):
    """Plain loops over the sixteen neighbours, at positions from the geometry room."""
    x, y = view.raw_grid()
    height, width = image.shape
    out = np.zeros(x.shape)

    def weight(t):
        t = abs(t)
        if not cubic:
            return max(0.0, 1 - t)
        if t < 1:
            return 1.5 * t**3 - 2.5 * t**2 + 1
        return -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2 if t < 2 else 0.0

    for place, (a, b) in enumerate(zip(x.ravel(), y.ravel(), strict=True)):
        for row in range(int(np.floor(b)) - 1, int(np.floor(b)) + 3):
            for column in range(int(np.floor(a)) - 1, int(np.floor(a)) + 3):
                value = image[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
                out.flat[place] += weight(a - column) * weight(b - row) * float(value)
    return out


@pytest.mark.parametrize("how", ["cubic", "linear"])
def test_values_are_those_of_plain_loops(how):
    image = noise(36, 48)
    expected = np.clip(by_hand(some_view(), image, how == "cubic"), 0, 255)
    got = resample(some_view(), image, how=how)
    assert got.dtype == np.uint8
    assert np.abs(got - expected).max() < 0.51


@pytest.mark.parametrize("image", [noise(36, 48), noise(36, 48, 3) / np.float32(255)])
def test_splines_are_those_of_scipy(image):
    x, y = some_view().raw_grid()
    deep = image.reshape(36, 48, -1).astype(float)
    expected = [ndimage.map_coordinates(c, [y, x], mode="mirror") for c in np.moveaxis(deep, 2, 0)]
    got = resample(some_view(), image, how="spline")
    assert got.dtype == image.dtype
    most = 255 if image.dtype == np.uint8 else 1
    expected = np.clip(np.moveaxis(expected, 0, 2).reshape(got.shape), 0, most)
    assert np.abs(got - expected).max() < (0.51 if most == 255 else 1e-4)


def test_splines_keep_the_contrast_of_fine_patterns_between_pixels():
    """Keys' kernel blurs them there by an eighth and not on pixels, which is seen as stripes."""
    camera = camera_from_pixels(60.0, 96, 36)
    between = RectifiedView(camera, np.eye(3), camera_from_pixels(60.0, 96, 36, centre_px=(47, 18)))
    waves = (0.5 + 0.4 * np.sin(np.arange(96) * np.pi / 2)).astype(np.float32)
    image = np.tile(waves, (36, 1))
    contrast = {
        how: np.std(resample(between, image, how=how)[18, 10:-10]) / np.std(waves)
        for how in ("spline", "cubic")
    }
    assert contrast["spline"] == pytest.approx(0.972, abs=0.01)
    assert contrast["cubic"] == pytest.approx(0.884, abs=0.01)


def test_the_nearest_pixels_are_taken():
    out = np.full(5, 9, np.uint8)
    x, y = np.array([-0.5, 0.4, 2.5, 2.6, np.nan]), np.array([0.0, 1.5, 0.6, 0.0, 0.0])
    take_nearest(np.array([[1, 2, 3], [4, 5, 6]], np.uint8), x, y, out)
    assert out.tolist() == [1, 4, 6, 9, 9]


@pytest.mark.parametrize("how", ["spline", "cubic", "linear", "nearest"])
def test_the_same_camera_gives_the_same_image(how):
    image = noise(36, 48, 3)
    np.testing.assert_array_equal(resample(same_view(), image, how=how), image)


@given(st.floats(-0.01, 0.01), st.floats(-0.01, 0.01), st.floats(0.1, 0.5))
def test_a_ramp_stays_a_ramp(a, b, c):
    """Where OpenCV's cubic interpolation would bend it by a few hundredths of a pixel."""
    view = some_view()
    y, x = np.mgrid[:36, :48]
    ramp = (c + a * (x - 24) + b * (y - 18)).astype(np.float32)
    x, y = view.raw_grid()
    inside = (x > 2) & (x < 45) & (y > 2) & (y < 33)
    expected = np.clip(c + a * (x - 24) + b * (y - 18), 0, 1)
    np.testing.assert_allclose(resample(view, ramp)[inside], expected[inside], atol=2e-6)


@pytest.mark.parametrize("how", ["spline", "cubic", "linear", "nearest"])
def test_some_rows_are_a_part_of_all(how):
    image, rows = noise(36, 48, 3), slice(3, 29, 2)
    whole = resample(some_view(), image, how=how)
    np.testing.assert_array_equal(resample(some_view(), image, rows=rows, how=how), whole[rows])


def test_labels_are_taken_from_the_nearest_pixel():
    labels = np.random.default_rng(2).integers(0, 9, (36, 48)).astype(np.int32)
    x, y = some_view().raw_grid()
    got = resample(some_view(), labels, how="nearest")
    np.testing.assert_array_equal(got, labels[np.rint(y).astype(int), np.rint(x).astype(int)])
    assert got.dtype == np.int32
    mask = labels > 4
    np.testing.assert_array_equal(resample(some_view(), mask, how="nearest"), got > 4)


def test_what_the_camera_did_not_see_is_said():
    view = some_view(zoom=0.5)
    x, y = view.raw_grid()
    outside = (x < -0.5) | (x > 47.5) | (y < -0.5) | (y > 35.5)
    assert 0.3 < outside.mean() < 0.9
    values = np.ones((36, 48), np.float32)
    for how in ("spline", "cubic", "linear", "nearest"):
        got = resample(view, values, how=how, outside=np.nan)
        np.testing.assert_array_equal(np.isnan(got), outside)
        np.testing.assert_allclose(got[~outside], 1, atol=1e-6)
    assert empty_share(view) == pytest.approx(outside.mean())
    assert empty_share(some_view()) == 0.0


def test_pictures_do_not_leave_their_range():
    image = np.zeros((36, 48), np.float32)
    image[:, 24:] = 1
    for how in ("spline", "cubic"):
        got = resample(some_view(), image, how=how)
        assert got.dtype == np.float32
        assert got.min() == 0.0
        assert got.max() == 1.0


def test_another_size_is_refused():
    with pytest.raises(
        WrongShape, match=r"the image is 40x36 but the camera was calibrated at 48x36"
    ):
        resample(some_view(), noise(36, 40))


def test_labels_are_not_interpolated():
    with pytest.raises(Misuse, match="how='nearest'"):
        resample(some_view(), np.zeros((36, 48), np.int32))
    with pytest.raises(Misuse, match="'lanczos'"):
        resample(some_view(), noise(36, 48), how="lanczos")
