"""Each region on small maps whose answer can be seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from depthgauge.errors import Misuse, Unavailable, WrongShape
from depthgauge.regions import REGIONS

NAN = np.nan


def compute(name, truth, **arguments):
    return REGIONS[name].compute(np.asarray(truth, np.float32), **arguments)


def picture(mask):
    return ["".join("#" if pixel else "." for pixel in row) for row in mask]


# --- all, border, near, far


def test_all_is_where_every_channel_is_finite():
    assert picture(compute("all", [[1, NAN, np.inf, 0]])) == ["#..#"]
    assert picture(compute("all", [[[1, 2], [NAN, 2], [1, NAN], [0, 0]]])) == ["#..#"]


def test_a_map_of_wrong_shape_is_refused():
    with pytest.raises(WrongShape, match=r"expected \(H, W\)"):
        compute("all", np.zeros(3))


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (0, ["....", "....", "...."]),
        (1, ["####", "#..#", ".###"]),
        (2, ["####", "####", ".###"]),
        (99, ["####", "####", ".###"]),
    ],
)
def test_border(width, rows):
    truth = np.ones((3, 4))
    truth[2, 0] = NAN
    assert picture(compute("border", truth, width=width)) == rows


def test_border_cannot_be_negative():
    with pytest.raises(Misuse, match="width is -1"):
        compute("border", np.ones((3, 3)), width=-1)


def test_near_means_small_depth_but_large_disparity():
    truth = [[1, 2, 3, NAN]]
    assert picture(compute("near", truth, quantity="depth", limit=2.0)) == ["#..."]
    assert picture(compute("far", truth, quantity="depth", limit=2.0)) == [".##."]
    assert picture(compute("near", truth, quantity="disparity", limit=2.0)) == ["..#."]
    assert picture(compute("far", truth, quantity="disparity", limit=2.0)) == ["##.."]


def test_a_truth_equal_to_a_decimal_limit_is_not_above_it():
    assert not compute("near", [[0.1]], quantity="disparity", limit=0.1).any()


def test_flow_has_no_near():
    with pytest.raises(Misuse, match="not for flow"):
        compute("near", np.ones((2, 2, 2)), quantity="flow", limit=2.0)


# --- visible, occluded


@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_visibility_from_masks(dtype):
    truth = [[1, 1, NAN, NAN]]
    mask = np.array([[1, 0, 1, 0]]).astype(dtype)
    for item, seen in (("visible_mask", "visible"), ("occluded_mask", "occluded")):
        other = {"visible": "occluded", "occluded": "visible"}[seen]
        assert picture(compute(seen, truth, quantity="flow", **{item: mask})) == ["#..."]
        assert picture(compute(other, truth, quantity="flow", **{item: mask})) == [".#.."]


def test_visibility_by_the_left_right_check():
    # x = 1 meets x = 0, which agrees; 2 meets 0, which does not; 3 meets 2, which is unknown.
    left = [[NAN, 1, 2, 1, 2.5]]
    right = np.array([[1, 0, NAN, 0, 0]], np.float32)
    arguments = {"quantity": "disparity", "right_disparity": right}
    assert picture(compute("visible", left, **arguments, threshold_px=0.5)) == [".#..."]
    assert picture(compute("occluded", left, **arguments, threshold_px=0.5))[0][:4] == "..#."
    assert picture(compute("visible", left, **arguments, threshold_px=1.0))[0][:4] == ".##."


def test_visibility_without_a_source_is_unavailable():
    with pytest.raises(Unavailable, match="this sample has neither"):
        compute("visible", [[1]], quantity="disparity")
    with pytest.raises(Unavailable, match="visibility of a depth truth needs a visible_mask"):
        compute("occluded", [[1]], quantity="depth", right_disparity=np.ones((1, 1), np.float32))


def test_a_mask_of_another_size_is_refused():
    with pytest.raises(WrongShape, match="visible_mask is 2x1, the truth is 1x1"):
        compute("visible", [[1]], quantity="flow", visible_mask=np.ones((1, 2), bool))


# --- texture


def test_texture_by_hand():
    # Squared gradients (the larger neighbour difference): 0 0 9 9 0 0.
    image = np.array([[7, 7, 7, 10, 10, 10]], np.uint8)
    truth = np.ones((1, 6))
    # Means over three: 0 3 6 6 3 0.
    flat = compute("textureless", truth, left_image=image)
    assert picture(flat) == ["##..##"]
    assert picture(compute("textureless", truth, left_image=image, threshold=3.0)) == ["#....#"]
    assert picture(compute("textureless", truth, left_image=image, window=1)) == ["##..##"]
    truth[0, 0] = truth[0, 2] = NAN
    assert picture(compute("textured", truth, left_image=image)) == ["...#.."]
    assert picture(compute("textureless", truth, left_image=image)) == [".#..##"]


def test_float_and_colour_images_mean_the_same():
    rng = np.random.default_rng(3)
    grey = rng.integers(0, 12, (20, 30)).astype(np.uint8)
    truth = np.ones(grey.shape)
    images = [grey, np.float32(grey / 255), np.repeat(grey[..., None], 3, axis=2)]
    threshold = 20.0001  # no mean of whole numbers is within rounding of it
    masks = [compute("textureless", truth, left_image=i, threshold=threshold) for i in images]
    assert 0 < masks[0].sum() < truth.size
    assert (masks[0] == masks[1]).all()
    assert (masks[0] == masks[2]).all()


@pytest.mark.parametrize("window", [1, 3, 7])
def test_texture_agrees_with_scipy(window):
    rng = np.random.default_rng(window)
    grey = rng.integers(0, 9, (15, 17)).astype(np.uint8)
    steps = np.diff(grey.astype(float), axis=1) ** 2
    squared = np.maximum(np.pad(steps, ((0, 0), (1, 0))), np.pad(steps, ((0, 0), (0, 1))))
    sums = ndimage.uniform_filter(squared, window, mode="constant")
    area = ndimage.uniform_filter(np.ones(grey.shape), window, mode="constant")
    flat = compute(
        "textureless", np.ones(grey.shape), left_image=grey, window=window, threshold=19.9
    )
    assert (flat == (sums / area < 19.9)).all()


def test_texture_refuses_what_it_cannot_mean():
    with pytest.raises(Misuse, match="window is 4"):
        compute("textured", np.ones((3, 3)), left_image=np.zeros((3, 3), np.uint8), window=4)
    with pytest.raises(WrongShape, match="left_image is 4x3, the truth is 3x3"):
        compute("textured", np.ones((3, 3)), left_image=np.zeros((3, 4, 3), np.uint8))
    with pytest.raises(WrongShape, match="left_image has shape"):
        compute("textured", np.ones((3, 3)), left_image=np.zeros((3, 3, 2), np.uint8))


# --- discontinuities


def test_both_sides_of_a_jump_are_edges():
    truth = [[5, 5, 5, 8, 8, 8, 8]]
    assert picture(compute("discontinuities", truth, width=1)) == ["..##..."]
    assert picture(compute("discontinuities", truth, width=3)) == [".####.."]
    assert picture(compute("discontinuities", truth, width=1, jump=3.0)) == ["......."]


def test_jumps_between_rows_count_and_the_window_is_square():
    truth = np.zeros((6, 5))
    truth[3, 2] = 2
    assert picture(compute("discontinuities", truth, width=1)) == [
        ".....",
        ".....",
        "..#..",
        ".###.",
        "..#..",
        ".....",
    ]
    assert picture(compute("discontinuities", truth, width=3)) == [
        ".....",
        ".###.",
        "#####",
        "#####",
        "#####",
        ".###.",
    ]


def test_nothing_near_missing_truth_is_an_edge():
    truth = [[5, 5, NAN, 8, 8, 8, 1, 1, 1, 9, NAN]]
    # 8|1 is far enough from the hole; of 1|9 the right side touches one.
    assert picture(compute("discontinuities", truth, width=1, guard=1)) == [".....##...."]
    assert picture(compute("discontinuities", truth, width=1, guard=0)) == [".....##.##."]
    assert picture(compute("discontinuities", truth, width=1, guard=3)) == ["..........."]


def test_guard_limits_edges_but_not_what_lies_around_them():
    truth = [[NAN, 5, 5, 5, 9, 9, 9]]
    assert picture(compute("discontinuities", truth, width=9)) == [".######"]


def test_a_jump_across_a_hole_is_none():
    truth = np.full((5, 5), 5.0)
    truth[:, 2] = NAN
    truth[:, 3:] = 9
    assert not compute("discontinuities", truth, guard=0).any()


def test_a_flow_jumps_by_the_length_of_the_difference():
    truth = np.zeros((1, 4, 2))
    truth[0, 2:] = [3, 4]
    assert picture(compute("discontinuities", truth, width=1, jump=4.9)) == [".##."]
    assert picture(compute("discontinuities", truth, width=1, jump=5.0)) == ["...."]


@pytest.mark.parametrize("seed", range(4))
def test_discontinuities_agree_with_numpy(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, (18, 23)).astype(np.float32)
    truth[rng.random(truth.shape) < 0.02] = NAN
    known = np.isfinite(truth)
    usable = ~ndimage.binary_dilation(~known, np.ones((3, 3)))
    edges = np.zeros(truth.shape, bool)
    for a, b in (
        (np.s_[:, 1:], np.s_[:, :-1]),
        (np.s_[1:], np.s_[:-1]),
    ):
        jumps = (np.abs(truth[a] - truth[b]) > 2) & usable[a] & usable[b]
        edges[a] |= jumps
        edges[b] |= jumps
    expected = ndimage.binary_dilation(edges, np.ones((5, 5))) & known
    assert expected.any()
    assert (compute("discontinuities", truth, jump=2.0, width=5) == expected).all()


def test_discontinuities_refuse_what_they_cannot_mean():
    for arguments, message in (
        ({"width": 8}, "width is 8"),
        ({"jump": -1.0}, "jump is -1"),
        ({"guard": -1}, "guard is -1"),
    ):
        with pytest.raises(Misuse, match=message):
            compute("discontinuities", np.ones((2, 2)), **arguments)
