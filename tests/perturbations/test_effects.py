"""Every effect: nothing at the neutral level, hand numbers, damage that grows with the level."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from depthgauge.errors import DuplicateName, UnknownName
from depthgauge.perturbations import EFFECTS, effect, perturb_image
from depthgauge.perturbations._resample import rotated, scaled, shifted_down

NAMES = list(EFFECTS)
GREY = np.full((200, 300), 128, np.uint8)


def right(image, text, sample_id="s"):
    """As the right view, which every effect may damage."""
    return perturb_image(image, text, sample_id=sample_id, item="right_image")


def psnr(image, damaged):
    square = np.mean((image.astype(np.float64) - damaged) ** 2)
    return math.inf if square == 0 else 10 * math.log10(255**2 / square)


def test_the_folder_is_the_registry():
    assert set(NAMES) >= {
        "blooming", "blur", "chromatic_aberration", "decalibration", "gain", "gamma", "jpeg",
        "noise", "offset", "rotation", "shot_noise", "vignetting",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_effect_declares_itself(name):
    found = EFFECTS[name]
    assert found.doc
    assert found.cite
    assert found.revision >= 1
    assert found.levels[0] == found.neutral
    assert len(set(found.levels)) == len(found.levels) >= 4
    assert all(found.bounds[0] <= level <= found.bounds[1] for level in found.levels)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["bytes", "float", "grey", "grey float"])
def test_the_neutral_level_is_the_image_itself(name, kind, texture):
    image = texture[..., 0] if "grey" in kind else texture
    image = np.float32(image / 255) if "float" in kind else image
    assert right(image, f"{name}:{EFFECTS[name].neutral:g}") is image


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grey", [False, True])
def test_damage_grows_with_the_level(name, grey, texture):
    image = texture[..., 1].copy() if grey else texture
    quality = [psnr(image, right(image, f"{name}:{level:g}")) for level in EFFECTS[name].levels]
    assert quality[0] == math.inf
    assert all(a > b + 0.5 for a, b in itertools.pairwise(quality[1:])), quality
    assert quality[1] < 60


@pytest.mark.parametrize("name", NAMES)
def test_shape_type_and_range_stay(name, texture):
    strongest = EFFECTS[name].levels[-1]
    for image in (texture, texture[..., 0], np.float32(texture / 255), texture[:1, :1]):
        before = image.copy()
        damaged = right(image, f"{name}:{strongest:g}")
        assert damaged.shape == image.shape
        assert damaged.dtype == image.dtype
        assert damaged.min() >= 0
        assert damaged.max() <= (255 if image.dtype == np.uint8 else 1)
        assert np.array_equal(image, before)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "jpeg"])
def test_floats_are_damaged_like_bytes(name, texture):
    strongest = EFFECTS[name].levels[-1]
    from_bytes = right(texture, f"{name}:{strongest:g}")
    from_floats = right(np.float32(texture / 255), f"{name}:{strongest:g}")
    assert np.abs(255 * from_floats - from_bytes).max() <= 0.5 + 1e-3


# ------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("level", [2, 5, 10])
def test_the_deviation_of_noise_is_its_level(level):
    error = right(GREY, f"noise:{level}").astype(np.float64) - 128
    # 60000 draws: the deviation is known to 0.3 %; rounding to bytes adds 1/12 to the variance.
    assert error.var() == pytest.approx(level**2 + 1 / 12, rel=0.02)
    assert abs(error.mean()) < 4 * level / math.sqrt(GREY.size)


@pytest.mark.parametrize("value", [50, 200])
def test_the_variance_of_shot_noise_is_the_level_times_the_value(value):
    flat = np.full((200, 300), value / 255, np.float32)
    error = 255.0 * right(flat, "shot_noise:0.5").astype(np.float64) - value
    assert error.var() == pytest.approx(0.5 * value, rel=0.03)


def test_noise_is_the_same_pattern_only_stronger():
    flat = np.full((20, 30, 3), 0.5, np.float32)
    weak, strong = (right(flat, f"noise:{level}") - flat for level in (1, 4))
    assert strong == pytest.approx(4 * weak, abs=1e-6)


def test_blur_is_a_gaussian():
    point = np.zeros((41, 41), np.float32)
    point[20, 20] = 1
    damaged = right(point, "blur:2")
    assert damaged.sum() == pytest.approx(1, abs=1e-4)
    assert damaged[20, 20] == pytest.approx(1 / (2 * math.pi * 4), rel=0.01)
    assert damaged[20, 22] / damaged[20, 20] == pytest.approx(math.exp(-0.5), rel=1e-4)


def test_blur_does_not_mix_colours():
    red = np.zeros((20, 20, 3), np.uint8)
    red[5:15, 5:15, 0] = 255
    damaged = right(red, "blur:3")
    assert damaged[..., 1:].max() == 0
    assert 0 < damaged[10, 4, 0] < 255


def test_exposure_by_hand():
    image = np.array([[0, 51, 102, 255]], np.uint8)
    assert right(image, "gain:0.5").tolist() == [[0, 26, 51, 128]]
    assert right(image, "gain:2").tolist() == [[0, 102, 204, 255]]
    assert right(image, "offset:-60").tolist() == [[0, 0, 42, 195]]
    assert right(image, "gamma:2").tolist() == [[0, 10, 41, 255]]
    assert right(image, "gamma:0.5").tolist() == [[0, 114, 161, 255]]


def test_vignetting_takes_its_share_at_the_corner():
    white = np.ones((61, 81), np.float32)
    damaged = right(white, "vignetting:0.4")
    assert damaged[30, 40] == 1
    assert damaged[[0, 0, -1, -1], [0, -1, 0, -1]] == pytest.approx(0.6)
    # 1 / sqrt(factor) = 1 + k r^2 is 1 / sqrt(0.6) at the corner; (15, 20) is half way there.
    k = 1 / math.sqrt(0.6) - 1
    assert damaged[15, 20] == pytest.approx((1 + k / 4) ** -2)


def test_chromatic_aberration_moves_red_out_and_blue_in():
    """By a tenth of the distance from the middle: 5 px at the corner, which is 50 px away."""
    bump = np.exp(-0.5 * ((np.arange(81) - 60) / 2.0) ** 2)  # 20 px to the right of the middle
    image = np.float32(np.broadcast_to(0.8 * bump[:, None], (61, 81, 3)))
    damaged = right(image, "chromatic_aberration:5")
    places = np.arange(81) @ damaged[30] / damaged[30].sum(axis=0)
    # Red at r shows what was at 0.9 r, so what was at 20 is at 20 / 0.9 now.
    assert places == pytest.approx([40 + 20 / 0.9, 60, 40 + 20 / 1.1], abs=0.02)


def test_chromatic_aberration_arrives_at_the_corner_by_its_level():
    """What was `level` px nearer to the middle is at the corner now."""
    ramp = np.hypot(*np.meshgrid(np.arange(81) - 40, np.arange(61) - 30)).astype(np.float32)
    image = np.repeat((2 * ramp / 255)[..., None], 3, axis=2)
    damaged = 255 / 2 * right(image, "chromatic_aberration:3")
    assert damaged[0, 0] == pytest.approx([47, 50, 50], abs=0.1)  # beyond the border nothing grows
    assert damaged[10, 40, 2] == pytest.approx(20 * (1 + 3 / 50), abs=0.01)


def test_chromatic_aberration_of_a_grey_image_is_the_luma_of_the_colours(texture):
    grey = np.float32(0.25 + 0.5 * texture[..., 0] / 255)  # nothing is clipped
    colours = right(np.repeat(grey[..., None], 3, axis=2), "chromatic_aberration:2")
    expected = colours @ np.array([0.299, 0.587, 0.114])
    assert right(grey, "chromatic_aberration:2") == pytest.approx(expected, abs=1e-5)


def test_blooming_spreads_only_what_is_saturated():
    image = np.full((200, 200), 100, np.uint8)
    assert np.array_equal(right(image, "blooming:2"), image)
    image[:, :100] = 255
    damaged = right(image, "blooming:0.5")
    # Half of the halo of a half plane lies beyond its border: 100 + 0.5 * 255 / 2.
    assert damaged[100, 99:101].mean() == pytest.approx((255 + 100 + 0.25 * 255) / 2, abs=8)
    sigma = 0.01 * math.hypot(200, 200)
    beyond = 100 + 0.5 * 255 * 0.5 * math.erfc(5.5 / sigma / math.sqrt(2))
    assert damaged[100, 105] == pytest.approx(beyond, abs=1)
    assert damaged[100, 150] == 100


def test_jpeg_is_the_codec_of_opencv(texture):
    import cv2

    options = [cv2.IMWRITE_JPEG_QUALITY, 30]
    coded = cv2.imencode(".jpg", cv2.cvtColor(texture, cv2.COLOR_RGB2BGR), options)[1]
    expected = cv2.cvtColor(cv2.imdecode(coded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    assert np.array_equal(right(texture, "jpeg:30"), expected)


@pytest.mark.parametrize("pixels", [1, 3])
def test_decalibration_moves_rows_by_its_level(pixels, texture):
    damaged = right(texture, f"decalibration:{pixels}")
    inner = slice(10, -10)
    up, down = (np.roll(texture, d * pixels, axis=0)[inner] for d in (-1, 1))
    assert np.array_equal(damaged[inner], up) != np.array_equal(damaged[inner], down)


def test_decalibration_goes_both_ways_and_never_changes_its_mind_with_the_level(texture):
    ways = set()
    for sample_id in "abcdefgh":
        found = {
            np.array_equal(
                right(texture, f"decalibration:{level}", sample_id)[10:-10],
                np.roll(texture, level, axis=0)[10:-10],
            )
            for level in (1, 2)
        }
        assert len(found) == 1
        ways |= found
    assert ways == {True, False}


def test_half_a_pixel_twice_is_one_pixel(texture):
    pixels = np.float32(texture[..., 0])
    twice = shifted_down(shifted_down(pixels, 0.5), 0.5)
    # Splines lose a little of the finest detail; bilinear sampling would lose 15 grey levels here.
    error = (twice - shifted_down(pixels, 1))[70:-10, 10:-10]
    assert np.sqrt((error**2).mean()) < 1.0


def test_rotation_turns_clockwise_about_the_middle():
    image = np.zeros((41, 41), np.float32)
    image[20, 35] = 100  # 15 px to the right
    turned = rotated(image, 90)
    assert np.unravel_index(turned.argmax(), turned.shape) == (35, 20)
    turned = rotated(image, 30)
    assert np.unravel_index(turned.argmax(), turned.shape) == (28, 33)


def test_scaling_by_one_and_back_is_the_image(texture):
    pixels = np.float32(gaussian_filter(texture[..., 0].astype(float), 3))
    assert scaled(pixels, 1.0) == pytest.approx(pixels, abs=1e-3)
    back = scaled(scaled(pixels, 0.9), 1 / 0.9)
    assert back[10:-10, 10:-10] == pytest.approx(pixels[10:-10, 10:-10], abs=0.5)


# ----------------------------------------------------------------------------------- registry


def test_a_declaration_that_cannot_be_is_refused():
    declared = {"unit": "", "neutral": 0, "levels": (0, 1), "bounds": (0, 1)}
    with pytest.raises(TypeError, match="must take the keyword level"):
        effect("never", **declared)(lambda image, *, strength: image)
    with pytest.raises(TypeError, match="levels must start with the neutral one"):
        effect("never", **{**declared, "neutral": 1})(lambda image, *, level: image)
    with pytest.raises(DuplicateName, match=r"depthgauge\.perturbations\.noise"):
        effect("noise", **declared)(lambda image, *, level: image)
    assert "never" not in EFFECTS


def test_unknown_names_the_nearest():
    with pytest.raises(UnknownName, match=r"no perturbation 'nois'\. Did you mean 'noise'"):
        EFFECTS["nois"]
