"""Stereo pairs at other sizes: shrunk pictures, and pictures of two sizes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import Misuse, Unavailable, WrongShape
from depthgauge.geometry.resizing import resize
from depthgauge.methods import find_method
from depthgauge.methods._pair import PairOptions, stereo_pair
from depthgauge.methods._stereo import search_of
from depthgauge.types import Inputs

BOTH = pytest.mark.parametrize("method", ["sgbm:block_size=7", "bm:block_size=11"])


def pair_of(left_size, right_size=None, **options):
    shapes = (left_size[::-1], (right_size or left_size)[::-1])
    left, right = (np.zeros((*shape, 3), np.uint8) for shape in shapes)
    inputs = Inputs({"left_image": left, "right_image": right})
    return stereo_pair(inputs, PairOptions(**options), grey=False)


def estimated(method: str, inputs: Inputs) -> np.ndarray:
    return find_method(method).estimate(inputs, "disparity").values


def other_size(inputs: Inputs, scale: float, name: str = "right_image") -> Inputs:
    image = inputs[name]
    size = [round(n * scale) for n in image.shape[1::-1]]
    return Inputs({**inputs, name: cv2.resize(image, size, interpolation=cv2.INTER_AREA)})


@pytest.mark.parametrize(
    ("right", "options", "expected"),
    [
        (None, {}, (120, 60)),
        (None, {"input_scale": 0.5}, (60, 30)),
        (None, {"input_scale": 0.25}, (30, 15)),
        (None, {"input_scale": 0.001}, (1, 1)),
        ((60, 30), {}, (60, 30)),
        ((60, 30), {"match_size": "larger"}, (120, 60)),
        ((60, 30), {"match_size": "larger", "input_scale": 0.25}, (30, 15)),
        ((240, 120), {}, (120, 60)),
        ((240, 120), {"match_size": "larger"}, (240, 120)),
        ((241, 120), {"match_size": "larger"}, (241, 120)),  # rounded to whole pixels
    ],
)
def test_the_size_at_which_a_pair_is_compared(right, options, expected):
    pair = pair_of((120, 60), right, **options)
    assert pair.left.shape == pair.right.shape == (*expected[::-1], 3)
    assert pair.scale == expected[0] / 120


def test_shrinking_is_the_mean_of_blocks_and_nothing_is_shrunk_twice():
    """Through another size first, the blocks would be blurred."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 256, (40, 80), np.uint8)
    right = rng.integers(0, 256, (20, 40), np.uint8)
    inputs = Inputs({"left_image": left, "right_image": right})
    pair = stereo_pair(inputs, PairOptions(input_scale=0.5), grey=True)
    blocks = left.reshape(10, 4, 20, 4).mean(axis=(1, 3))
    assert np.abs(pair.left - blocks).max() <= 0.5
    assert np.abs(pair.right - right.reshape(10, 2, 20, 2).mean(axis=(1, 3))).max() <= 0.5


def test_equal_pictures_are_not_touched():
    left = np.random.default_rng(0).integers(0, 256, (9, 12, 3), np.uint8)
    inputs = Inputs({"left_image": left, "right_image": left})
    assert stereo_pair(inputs, PairOptions(), grey=False).left is left


@BOTH
@pytest.mark.parametrize(("scale", "disparity"), [(0.5, 20.0), (0.5, -17.0), (0.25, 40.0)])
def test_a_plane_at_half_and_quarter_size(method, scale, disparity, stereo):
    span = (disparity - 30, disparity + 30)
    inputs = stereo(disparity, span, size=(120, 240))
    values = estimated(f"{method},input_scale={scale}", inputs)
    assert values.shape == (120 * scale, 240 * scale)
    assert np.nanmedian(values) == pytest.approx(scale * disparity, abs=0.2)
    whole = estimated(f"{method},input_scale={scale},enlarge=true", inputs)
    assert np.array_equal(whole, resize(values, (120, 240), "nearest", "disparity"), equal_nan=True)
    assert np.nanmedian(whole) == pytest.approx(disparity, abs=0.2 / scale)


@BOTH
@pytest.mark.parametrize("span", [(0, 60), None])
@pytest.mark.parametrize(
    ("which", "match", "seen"), [("right_image", "smaller", 0.6), ("right_image", "larger", 1)]
)
def test_a_right_picture_of_another_size(method, which, match, seen, span, stereo):
    """As after an unbalanced rectification: the same field of view in fewer pixels."""
    inputs = other_size(stereo(20.0, span, size=(120, 240)), 0.6, which)
    values = estimated(f"{method},match_size={match}", inputs)
    assert values.shape == (120 * seen, 240 * seen)
    inner = values[:, round(20 * seen) :]
    assert np.nanmedian(inner) == pytest.approx(20 * seen, abs=0.2)
    assert (np.abs(inner - 20 * seen) <= 0.5).mean() > 0.9


def test_a_left_picture_that_is_the_smaller_one(stereo):
    inputs = other_size(stereo(20.0, size=(120, 240)), 0.5, "left_image")
    small = estimated("sgbm", inputs)
    assert small.shape == (60, 120)
    assert np.nanmedian(small) == pytest.approx(10, abs=0.2)
    large = estimated("sgbm:match_size=larger", inputs)
    assert large.shape == (120, 240)
    assert np.nanmedian(large) == pytest.approx(20, abs=0.4)


def test_pictures_of_another_shape_are_refused():
    expected = r"left_image is 120x60, right_image is 100x60; .* same to 1 %"
    with pytest.raises(WrongShape, match=expected):
        pair_of((120, 60), (100, 60))
    with pytest.raises(WrongShape, match="left_image is 4112x3008, right_image is 1280x960"):
        pair_of((4112, 3008), (1280, 960))


@pytest.mark.parametrize(
    ("width", "scale", "disparities", "count"),
    [
        (4112, 1, None, 528),  # an eighth, and the next multiple of 16
        (4112, 0.25, None, 144),
        (640, 1, None, 128),
        (640, 0.5, None, 64),
        (640, 0.5, 200, 112),
        (640, 1, 1, 16),
    ],
)
def test_how_far_is_searched_without_a_range(width, scale, disparities, count):
    pair = pair_of((width, width // 2), input_scale=scale)
    assert search_of(Inputs({}), pair, disparities).count == count


def test_the_range_of_a_sample_shrinks_with_its_pictures():
    pair = pair_of((400, 200), input_scale=0.25)
    search = search_of(Inputs({"disparity_range": (-10, 101)}), pair, None)
    assert (search.lowest, search.count, search.allowed) == (-3, 32, (-2.5, 25.25))


@pytest.mark.parametrize("value", ["0", "1.5", "-0.5", "half", "true"])
def test_scales_that_are_none(value):
    with pytest.raises(Misuse, match="input_scale"):
        find_method(f"sgbm:input_scale={value}")


def test_a_mode_that_would_not_fit_into_memory():
    picture = np.zeros((3008, 4112), np.uint8)
    inputs = Inputs({"left_image": picture, "right_image": picture, "quantity": "disparity"})
    expected = r"mode hh needs 24\.3 GiB for 4112x3008 px and 528 disparities, .* is 8; use mode"
    with pytest.raises(Unavailable, match=expected):
        find_method("sgbm:mode=hh").estimate(inputs, "disparity")
    small = Inputs({**inputs, "left_image": picture[:40, :60], "right_image": picture[:40, :60]})
    with pytest.raises(Unavailable, match=r"mode hh4 needs 0\.0 GiB"):
        find_method("sgbm:mode=hh4,memory_limit_gib=0.0001").estimate(small, "disparity")
    assert estimated("sgbm:mode=hh4", small).shape == (40, 60)


def test_a_limit_of_memory_is_of_one_machine():
    wide, narrow = find_method("sgbm:memory_limit_gib=64"), find_method("sgbm")
    assert wide.options_hash == narrow.options_hash
    assert find_method("sgbm:input_scale=0.5").options_hash != narrow.options_hash


def test_half_and_unbalanced_on_a_real_pair(shared):
    """Motorcycle at half size is worse than at full size, and not by much; so is unbalanced."""
    folder = shared("data/middlebury-motorcycle")
    with np.load(folder / "motorcycle_disp.npz") as file:
        truth = file["arr_0"]
    known = np.isfinite(truth)
    images = {n: io.read_image(folder / f"motorcycle_{n}.png") for n in ("left", "right")}
    inputs = Inputs({f"{name}_image": image for name, image in images.items()})

    def bad(text: str, given: Inputs) -> float:
        values = estimated(f"{text},enlarge=true", given)
        return 100 * float((~(np.abs(values - truth) <= 2))[known].mean())

    full, half = bad("sgbm:input_scale=1", inputs), bad("sgbm:input_scale=0.5", inputs)
    fewer = other_size(inputs, 0.6)
    down, up = bad("sgbm:match_size=smaller", fewer), bad("sgbm:match_size=larger", fewer)
    assert full < 22
    assert full - 3 < min(half, down, up)
    assert max(half, down, up) < full + 12
