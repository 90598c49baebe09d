"""Difficulty levels on pictures whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.geometry import find_edges
from depthgauge.regions import REGIONS, SampleMaps, compute_regions

Y, X = np.mgrid[0:60, 0:140]
FLAT = np.full(X.shape, 128, np.uint8)
NOISE = np.random.default_rng(7).integers(0, 256, X.shape).astype(np.uint8)
REGION_OF = {
    "texture_level": "low_texture",
    "saturation_level": "saturation",
    "repetition_level": "repetition",
    "contrast_level": "low_contrast",
}


def things(image, truth=None, item="left_image", **items):
    truth = np.ones(image.shape[:2], np.float32) if truth is None else truth.astype(np.float32)
    return SampleMaps(truth, {item: image, **items}, "disparity")


def level(thing, image, truth=None, **items):
    return things(image, truth, **items)[thing]


# --- the regions


@pytest.mark.parametrize("thing", REGION_OF)
def test_a_region_holds_the_levels_from_its_own(thing):
    ramp = np.clip(X * 2.2, 0, 255) * (Y < 30) + NOISE * (Y >= 30)
    image, truth = ramp.astype(np.uint8), np.where(Y < 20, 9.0, 1.0)
    made = things(image, truth)
    levels = made[thing]
    assert levels.dtype == np.uint8
    assert levels.shape == image.shape
    names = {f"at_least_{n}": f"{REGION_OF[thing]}:{n}" for n in range(1, 5)}
    names["plain"] = REGION_OF[thing]
    masks = compute_regions(names, truth, {}, quantity="disparity", things=made).masks
    for n in range(1, 5):
        assert (masks[f"at_least_{n}"] == (levels >= n)).all()
    assert (masks["plain"] == masks["at_least_1"]).all()


@pytest.mark.parametrize("name", REGION_OF.values())
@pytest.mark.parametrize("wrong", [0, 5, -1])
def test_there_are_four_levels(name, wrong):
    made = REGIONS[name]
    with pytest.raises(BadScoreId, match=f"'{name}': level is {wrong}; levels go from 1"):
        made.bind([str(wrong)])


@pytest.mark.parametrize("name", REGION_OF.values())
def test_without_an_image_they_are_unavailable(name):
    truth = np.ones((4, 4), np.float32)
    found = compute_regions({name: name}, truth, {"right_image": FLAT}, quantity="disparity")
    assert "needs one of left_image, centre_image, first_image, image" in found.unavailable[name]


def test_the_image_has_the_size_and_the_channels_of_one():
    with pytest.raises(WrongShape, match="left_image is 140x60, the truth is 4x4"):
        level("texture_level", FLAT, np.ones((4, 4)))
    with pytest.raises(WrongShape, match="left_image has shape"):
        level("texture_level", np.zeros((4, 4, 2), np.uint8))


@pytest.mark.parametrize("thing", REGION_OF)
def test_float_grey_and_colour_images_mean_the_same(thing):
    grey = (NOISE // 3 + X // 2).astype(np.uint8)
    truth = np.where(X < 70, 9.0, 1.0)
    colour = np.repeat(grey[..., np.newaxis], 3, axis=2)
    expected = level(thing, grey, truth)
    assert (level(thing, colour, truth) == expected).all()
    assert (level(thing, np.float32(grey / 255), truth) == expected).all()


# --- texture


def test_a_flat_picture_has_no_texture_and_noise_has_plenty():
    assert (level("texture_level", FLAT) == 4).all()
    assert (level("texture_level", NOISE) == 0).all()


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0.4, 4), (0.6, 3), (0.9, 3), (1.1, 2), (1.9, 2), (2.1, 1), (3.9, 1), (4.1, 0)],
)
def test_a_ramp_has_the_texture_of_its_step(step, expected):
    ramp = (20 + step * (X % 40)).astype(np.float32) / 255
    inner = (X % 40 >= 5) & (X % 40 < 34)
    assert (level("texture_level", ramp)[inner] == expected).all()


def test_only_steps_along_the_row_help_a_pair():
    rows = (Y % 2 * 100).astype(np.uint8)
    assert (level("texture_level", rows) == 4).all()
    for item in ("centre_image", "first_image", "image"):
        assert (level("texture_level", rows, item=item) == 0).all()
        assert (level("texture_level", rows.T.copy(), item=item) == 0).all()


def test_texture_by_hand():
    # One step of 9: of the 9 x 9 pixels around it, two in each row have half of its square.
    image = np.where(X < 70, 100, 109).astype(np.uint8)
    found = level("texture_level", image)
    # sqrt(81 / 9) = 3 where both pixels are in the window, sqrt(40.5 / 9) = 2.1 where one is.
    assert found[30, 60:80].tolist() == [4] * 5 + [1] * 10 + [4] * 5


@given(st.floats(0.0, 1.0), st.integers(0, 9))
def test_less_contrast_is_never_easier(factor, seed):
    texture = np.random.default_rng(seed).normal(0, 3, (20, 30))
    strong = (128 + texture).astype(np.float32) / 255
    weak = (128 + factor * texture).astype(np.float32) / 255
    for item in ("left_image", "image"):
        hard = level("texture_level", weak, item=item)
        assert (hard >= level("texture_level", strong, item=item)).all()


def test_levels_do_not_depend_on_the_rest_of_the_image():
    image = np.where(X < 70, NOISE // 30 + 100, FLAT).astype(np.uint8)
    whole, part = level("texture_level", image), level("texture_level", image[10:50, 20:120])
    assert (whole[14:46, 25:115] == part[4:-4, 5:-5]).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1)])
def test_one_row_and_one_column(shape):
    image = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    found = level("texture_level", image)
    assert (found == (0 if shape[1] > 1 else 4)).all()
    for thing in REGION_OF:
        assert level(thing, image, item="image").shape == shape


# --- saturation


def test_clipped_alone_and_in_clumps():
    image = np.full((60, 140, 3), 128, np.uint8)
    image[10, 10] = (255, 128, 128)
    image[10, 30] = (254, 0, 255)
    image[20:40, 60:80] = 255
    image[40, 100] = (252, 3, 128)
    found = level("saturation_level", image)
    assert found[10, 10] == 1
    assert found[10, 30] == 2
    assert found[40, 100] == 0
    assert found[30, 70] == 4
    # At the clump's corner a quarter (25 of 81) is clipped, on its side more than half (45).
    assert found[20, 60] == 2
    assert found[20, 70] == 3
    assert (found[24:36, 64:76] == 4).all()
    assert found[23, 70] == 3
    assert (found[image.max(axis=2) == 128] == 0).all()


@pytest.mark.parametrize("value", [0, 2, 253, 255])
def test_dark_and_bright_are_clipped(value):
    assert (level("saturation_level", np.full((20, 20), value, np.uint8)) == 4).all()


@pytest.mark.parametrize("value", [3, 128, 252])
def test_what_is_between_is_not(value):
    assert (level("saturation_level", np.full((20, 20), value, np.uint8)) == 0).all()


@given(st.integers(0, 9), st.floats(1.0, 6.0), st.floats(1.0, 3.0))
def test_more_exposure_never_clips_less_of_what_is_bright(seed, gain, more):
    scene = np.random.default_rng(seed).uniform(0.1, 1, (16, 18, 3)).astype(np.float32)
    first = np.clip(scene * gain, 0, 1).astype(np.float32)
    second = np.clip(scene * gain * more, 0, 1).astype(np.float32)
    easy, hard = level("saturation_level", first), level("saturation_level", second)
    assert (hard >= easy).all()


# --- repetition


def wave(period, amplitude=80):
    return np.rint(128 + amplitude * np.cos(2 * np.pi * X / period)).astype(np.uint8)


@pytest.mark.parametrize("period", [2, 3, 5, 8, 13, 21, 40, 60])
def test_what_repeats_within_the_search_is_repetitive(period):
    assert (level("repetition_level", wave(period)) == 4).all()


@pytest.mark.parametrize("period", [16, 40])
def test_only_repetition_within_the_disparity_range_deceives(period):
    within = level("repetition_level", wave(period), disparity_range=(10, 10 + period + 1))
    beyond = level("repetition_level", wave(period), disparity_range=(10, 10 + period - 4))
    assert (within == 4).all()
    assert (beyond == 0).all()


def test_a_range_without_an_end_sets_no_limit():
    for limits in ((0, np.inf), (np.nan, np.nan)):
        assert (level("repetition_level", wave(40), disparity_range=limits) == 4).all()
    assert (level("repetition_level", wave(40), disparity_range=(5, 5)) == 0).all()


@pytest.mark.parametrize(
    "image", [FLAT, NOISE, (Y * 4).astype(np.uint8), (X + Y).astype(np.uint8), wave(200)]
)
def test_what_does_not_repeat_is_not(image):
    assert (level("repetition_level", image) == 0).all()


def test_what_repeats_too_faintly_is_texture_less():
    assert (level("repetition_level", wave(16, amplitude=2)) == 0).all()
    assert (level("repetition_level", wave(16, amplitude=4)) == 4).all()


def test_only_the_part_that_repeats_is_marked():
    image = np.where(X < 70, wave(10), NOISE)
    found = level("repetition_level", image)
    assert (found[:, :62] == 4).all()
    assert (found[:, 78:] == 0).all()


def test_the_fit_is_that_of_the_patches():
    rng = np.random.default_rng(2)
    image = np.rint(128 + 50 * np.cos(X / 2) + rng.normal(0, 12, X.shape)).clip(0, 255)
    grey = image.astype(np.uint8)
    from depthgauge.regions import _radiometry_kernels as kernels

    found = np.zeros(grey.shape, np.float32)
    kernels.self_similarity(grey, 7, 20, 0.5, 4.0, found)
    for y, x in ((7, 7), (30, 60), (52, 132), (20, 90)):
        assert found[y, x] == pytest.approx(plain_fit(grey.astype(float), y, x, 20), abs=1e-5)


def plain_fit(grey, y, x, farthest):
    """The best fit of a patch beyond the first valley, to the left and to the right."""

    def patch(u):
        return grey[y - 7 : y + 8, u - 7 : u + 8]

    here, best = patch(x), 0.0
    for sign in (1, -1):
        fallen = False
        for shift in range(1, farthest + 1):
            u = x + sign * shift
            if not 7 <= u < grey.shape[1] - 7:
                break
            there = patch(u)
            spread = here.var() + there.var()
            fit = 1 - ((here - there) ** 2).mean() / spread
            if fallen:
                best = max(best, fit)
            fallen = fallen or fit < 0.5
    return best


def test_noise_hides_a_repetition_step_by_step():
    noise = np.random.default_rng(4).normal(0, 1, X.shape)
    medians = []
    for amount in (0, 10, 16, 22, 60):
        image = np.rint(128 + 60 * np.cos(X / 2) + amount * noise).clip(0, 255).astype(np.uint8)
        medians.append(np.median(level("repetition_level", image)))
    assert medians == sorted(medians, reverse=True)
    assert medians[0] == 4
    assert medians[-1] == 0


@given(st.integers(0, 5), st.integers(0, 70), st.integers(0, 70))
def test_a_wider_range_is_never_easier(seed, narrow, more):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (20, 9)).repeat(3, axis=1).astype(np.uint8)
    image = np.concatenate([image, image[:, ::-1], image], axis=1)
    easy = level("repetition_level", image, disparity_range=(0, narrow))
    assert (level("repetition_level", image, disparity_range=(0, narrow + more)) >= easy).all()


def test_pictures_smaller_than_a_patch_have_no_repetition():
    for shape in ((1, 50), (14, 50), (50, 3), (15, 15)):
        image = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
        assert not level("repetition_level", image).any()


# --- contrast


@pytest.mark.parametrize(
    ("step", "expected"),
    [(60, 0), (32, 0), (31, 1), (16, 1), (15, 2), (8, 2), (7, 3), (4, 3), (3, 4), (0, 4)],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_edge_has_the_level_of_its_step(step, expected, sign):
    truth = np.where(X < 70, 9.0, 1.0)
    image = np.where(X < 70, 128 + sign * step, 128).astype(np.uint8)
    found = level("contrast_level", image, truth)
    edges = find_edges(np.float32(truth), np.float32(truth))
    near = edges.foreground | edges.background
    assert near.sum() == 60 * 20
    assert (found[near] == expected).all()
    assert (found[~near] == 0).all()


def test_texture_on_both_sides_is_no_contrast():
    truth = np.where(X < 70, 9.0, 1.0)
    image = np.where((X + Y) % 2 == 0, 100, 140).astype(np.uint8)
    assert (level("contrast_level", image, truth)[:, 65:75] >= 3).all()


def test_a_difference_of_colour_is_contrast():
    truth = np.where(X < 70, 9.0, 1.0)
    image = np.full((*X.shape, 3), 100, np.uint8)
    image[..., 0] = np.where(X < 70, 150, 100)
    assert (level("contrast_level", image, truth) == 0).all()


def test_every_edge_has_its_own_contrast():
    truth = np.where((X // 40) % 2 == 1, 9.0, 1.0)
    image = np.choose(X // 40, [100, 110, 111, 200]).astype(np.uint8)
    found = level("contrast_level", image, truth)
    assert (found[:, 32:48] == 2).all()
    assert (found[:, 72:88] == 4).all()
    assert (found[:, 112:128] == 0).all()


def test_without_discontinuities_there_is_no_contrast_to_ask_for():
    assert not level("contrast_level", FLAT).any()
    assert not level("contrast_level", FLAT, np.full(FLAT.shape, np.nan)).any()


@given(st.floats(0.0, 1.0), st.floats(-60.0, 60.0), st.integers(0, 5))
def test_a_fainter_edge_is_never_easier(factor, step, seed):
    x = np.arange(30)[np.newaxis].repeat(20, axis=0)
    truth = np.where(x < 15, 9.0, 1.0)
    noise = np.random.default_rng(seed).normal(0, 2, x.shape)
    side = np.where(x < 15, step, 0.0)
    strong = ((128 + side + noise) / 255).astype(np.float32)
    weak = ((128 + factor * (side + noise)) / 255).astype(np.float32)
    assert (level("contrast_level", weak, truth) >= level("contrast_level", strong, truth)).all()


# --- how it behaves


def test_threads_change_nothing(on_threads):
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (200, 150, 3)).astype(np.uint8)
    image[60:140, 30:120] = np.uint8(wave(9)[:1, :90])[..., np.newaxis]
    truth = np.where(rng.random((20, 15)) < 0.5, 9.0, 1.0).repeat(10, 0).repeat(10, 1)
    one, *more = on_threads(lambda: things(image, truth))
    for many in more:
        for thing in REGION_OF:
            assert one[thing].tobytes() == many[thing].tobytes()
