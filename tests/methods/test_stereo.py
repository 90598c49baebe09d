"""`sgbm` and `bm` on planes of known disparity."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from depthgauge.errors import MethodFailed, Unavailable, WrongShape
from depthgauge.methods import find_method
from depthgauge.types import Inputs

BOTH = pytest.mark.parametrize("method", ["sgbm", "bm"])


def estimated(method: str, inputs: Inputs) -> np.ndarray:
    estimate = find_method(method).estimate(inputs, "disparity")
    assert estimate.values.dtype == np.float32
    assert estimate.values.shape == inputs.left_image.shape[:2]
    return estimate.values


def seen_in_both(values: np.ndarray, disparity: float) -> np.ndarray:
    """The columns that the right picture has too."""
    out = int(np.ceil(abs(disparity)))
    return values[:, out:] if disparity >= 0 else values[:, : values.shape[1] - out]


CASES = [  # disparity, range
    (7.0, (0, 31)),
    (7.375, (0, 31)),
    (7.0, None),  # 128 disparities in a picture of 120 columns
    (19.0, (3, 19)),  # the upper end is searched, too
    (3.0, (3, 18)),  # and the lower one
    (50.25, (40, 70)),
    (-9.0, (-16, 15)),
    (-20.5, (-32, -17)),
    (0.0, (-8, 8)),
]


@BOTH
@pytest.mark.parametrize(("disparity", "span"), CASES)
def test_a_plane_is_found_up_to_the_borders(method, disparity, span, stereo):
    values = seen_in_both(estimated(method, stereo(disparity, span)), disparity)
    right = np.abs(values - disparity) <= 0.25
    assert right.mean() > 0.93
    # Half of a block there is made up, so some of the matches are not unique.
    for border in (values[:, :4], values[:, -4:], values[:4], values[-4:]):
        assert (np.abs(border - disparity) <= 1).mean() > 0.6


@pytest.mark.parametrize("mode", ["sgbm", "hh", "3way", "hh4"])
def test_every_mode_of_sgbm(mode, stereo):
    values = seen_in_both(estimated(f"sgbm:mode={mode}", stereo(7, (0, 31), colour=True)), 7)
    assert (np.abs(values - 7) <= 0.25).mean() > 0.95


@BOTH
def test_without_padding_the_left_columns_are_missing(method, stereo):
    inputs = stereo(50, (40, 70))
    values = estimated(f"{method}:pad=false", inputs)
    assert np.isnan(values[:, :72]).all()  # 40 + 32 disparities
    assert np.isfinite(values[15:45, 85:105]).mean() > 0.9
    assert np.isfinite(estimated(method, inputs)[:, 51:72]).mean() > 0.9


@BOTH
def test_a_picture_too_narrow_to_be_searched(method, stereo):
    inputs = stereo(3, (0, 100), size=(40, 60))
    assert np.isnan(estimated(f"{method}:pad=false", inputs)).all()
    assert np.nanmedian(estimated(method, inputs)) == pytest.approx(3, abs=0.1)


@BOTH
def test_a_single_pixel_is_survived(method, stereo):
    assert estimated(method, stereo(0, (0, 15), size=(1, 1))).shape == (1, 1)


@pytest.mark.parametrize("colour", [False, True])
def test_sgbm_is_what_opencv_gives(colour, stereo):
    inputs = stereo(7.375, (2, 40), colour=colour)
    channels = 3 if colour else 1
    matcher = cv2.StereoSGBM_create(2, 48, 7, 8 * channels * 49, 1000, 1, 63, 10, 100, 2, 1)
    steps = matcher.compute(inputs.left_image, inputs.right_image)
    expected = np.where(steps < 2 * 16, np.nan, steps / 16).astype(np.float32)
    values = estimated("sgbm:pad=false,block_size=7,p2=1000,mode=hh", inputs)
    assert np.isfinite(values).mean() > 0.5
    assert np.array_equal(values, expected, equal_nan=True)


def test_bm_is_what_opencv_gives(stereo):
    inputs = stereo(7.375, (0, 31))
    matcher = cv2.StereoBM_create(32, 11)
    matcher.setTextureThreshold(20)
    matcher.setUniquenessRatio(5)
    matcher.setSpeckleWindowSize(50)
    matcher.setSpeckleRange(16)
    matcher.setDisp12MaxDiff(2)
    matcher.setPreFilterType(cv2.STEREO_BM_PREFILTER_NORMALIZED_RESPONSE)
    matcher.setPreFilterCap(20)
    matcher.setPreFilterSize(7)
    steps = matcher.compute(inputs.left_image, inputs.right_image)
    expected = np.where(steps < 0, np.nan, steps / 16).astype(np.float32)
    expected[:, :32] = np.nan
    options = (
        "pad=no,block_size=11,texture_threshold=20,uniqueness=5,speckle_window=50,speckle_range=1,"
        "disp12_max_diff=2,pre_filter=normalized,pre_filter_cap=20,pre_filter_size=7"
    )
    values = estimated(f"normalized=bm:{options}", inputs)
    assert np.isfinite(values).mean() > 0.3
    assert np.array_equal(values, expected, equal_nan=True)


def test_the_speckle_range_is_in_pixels_in_both(stereo):
    """A stripe 6 px in front of the rest is a speckle of 2 px range, none of 7 px."""
    inputs = dict(stereo(8, (0, 31)))
    right = inputs["right_image"].copy()
    right[25:45] = stereo(14).right_image[25:45]
    for method in ("sgbm:block_size=9", "bm:block_size=9"):
        for span, kept in ((2, False), (7, True)):
            given = Inputs({**inputs, "right_image": right})
            text = f"{method},pad=false,speckle_window=3000,speckle_range={span}"
            stripe = estimated(text, given)[32:38, 45:110]
            assert np.isfinite(stripe).mean() == pytest.approx(float(kept), abs=0.1)


@BOTH
@pytest.mark.parametrize("how", ["background", "scanline"])
def test_gaps_are_filled_on_request(method, how, stereo):
    inputs = stereo(20, (0, 31))
    plain, filled = estimated(method, inputs), estimated(f"{method}:fill={how}", inputs)
    known = np.isfinite(plain)
    assert not known.all()
    assert np.isfinite(filled).all()
    assert np.array_equal(plain[known], filled[known])


@BOTH
def test_float_pictures_are_as_good_as_bytes(method, stereo):
    whole = stereo(7, (0, 31))
    images = {n: whole[n].astype(np.float32) / 255 for n in ("left_image", "right_image")}
    real = Inputs({**whole, **images})
    assert np.array_equal(estimated(method, whole), estimated(method, real), equal_nan=True)


def test_colour_and_grey_together(stereo):
    colour = stereo(7, (0, 31), colour=True)
    grey = cv2.cvtColor(colour.right_image, cv2.COLOR_RGB2GRAY)
    values = estimated("sgbm", Inputs({**colour, "right_image": grey}))
    assert np.nanmedian(values) == pytest.approx(7, abs=0.2)


@BOTH
def test_pictures_of_two_shapes(method, stereo):
    inputs = Inputs({**stereo(7), "right_image": np.zeros((60, 100), np.uint8)})
    with pytest.raises(WrongShape, match="left_image is 120x60, right_image is 100x60"):
        find_method(method).estimate(inputs, "disparity")


def test_a_range_beyond_opencv(stereo):
    with pytest.raises(Unavailable, match=r"0\.\.2512 px is beyond the 2047 px"):
        find_method("sgbm").estimate(stereo(7, (0, 2500)), "disparity")


def test_a_right_picture_is_needed(stereo):
    inputs = {k: v for k, v in stereo(7).items() if k != "right_image"}
    with pytest.raises(Unavailable, match=r"needs left_image .*'plane' has no right_image\."):
        find_method("bm").estimate(Inputs(inputs), "disparity")


def test_what_opencv_refuses_is_one_sentence(stereo):
    odd = np.zeros((60, 120, 5), np.uint8)
    inputs = Inputs({**stereo(7), "left_image": odd, "right_image": odd})
    with pytest.raises(MethodFailed, match="method 'bm' crashed with error: OpenCV") as caught:
        find_method("bm").estimate(inputs, "disparity")
    assert "\n" not in str(caught.value)
    assert "Traceback" in caught.value.details


@pytest.mark.parametrize("method", ["sgbm", "bm"])
def test_nothing_lies_outside_the_range_and_holes_are_filled_after_that(stereo, method):
    """OpenCV searches 16 disparities at least; those beyond the sample's range are no matches."""
    inputs = stereo(12.0, (0, 9))
    bare = estimated(method, inputs)
    assert not (np.nan_to_num(bare) > 9).any()
    filled = estimated(f"{method}:fill=background", inputs)
    known = np.isfinite(bare).any(axis=1)
    assert np.isfinite(filled[known]).all()
    assert (filled[known] <= 9).all()
