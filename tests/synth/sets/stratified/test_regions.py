"""Masks and numbered regions: complete, consistent, and under the benchmark's names."""

import numpy as np
import pytest

from depthgauge.synth.sets.stratified import SCENES, make_scene

NAMES = {
    "backgammon": {
        *("foreground_mask", "background_mask", "foreground_thinning_mask"),
        *("foreground_fattening_mask", "vertical_bins_labels"),
    },
    "dots": {"background_mask", "dots_by_size_labels", "boxes_labels"},
    "pyramids": {"plane_mask", "sphere_out_mask", "sphere_in_mask", "pyramids_mask"},
    "stripes": {
        *("high_contrast_mask", "low_contrast_mask", "low_texture_mask", "background_mask"),
        *("dark_stripes_mask", "bright_stripes_mask"),
        *("background_bins_labels", "horizontal_bins_labels", "wall_bins_labels"),
    },
    "camouflage": {"hidden_thinning_mask", "hidden_fattening_mask", "camouflage_bins_labels"},
}
MAPS = {"disparity", "depth", "high_disparity", "high_depth"}
ACROSS = ["glass", "gloss", "slant", "exposure"]


@pytest.mark.parametrize("name", SCENES)
def test_every_region_is_there_at_both_resolutions(light_field, name):
    truth = light_field(name).truth
    wanted = NAMES.get(name, {f"{name}_bins_labels"})
    assert set(truth) - MAPS - {"axes"} == wanted | {f"high_{item}" for item in wanted}
    for item in wanted:
        kind = bool if item.endswith("_mask") else np.uint8
        assert truth[item].dtype == truth[f"high_{item}"].dtype == kind
        assert truth[item].shape == (128, 128)
        assert truth[f"high_{item}"].shape == (512, 512)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("backgammon", ["foreground", "background"]),
        ("pyramids", ["plane", "sphere_out", "sphere_in", "pyramids"]),
        ("stripes", ["background", "dark_stripes", "bright_stripes"]),
        ("stripes", ["high_contrast", "low_contrast"]),
    ],
)
@pytest.mark.parametrize("prefix", ["", "high_"])
def test_what_excludes_each_other_does(light_field, name, parts, prefix):
    truth = light_field(name).truth
    total = sum(truth[f"{prefix}{part}_mask"].astype(int) for part in parts)
    if parts[0] == "high_contrast":
        assert total.max() == 1
    else:
        np.testing.assert_array_equal(total, 1)


@pytest.mark.parametrize("name", ["backgammon", "dots", "stripes"])
def test_a_small_mask_is_of_what_the_disparity_was_taken_from(light_field, name):
    """In a tile of 16, the upper median is in front from 8 pixels of foreground on."""
    truth = light_field(name).truth
    front = ~truth.high_background_mask
    count = front.reshape(128, 4, 128, 4).sum(axis=(1, 3))
    np.testing.assert_array_equal(~truth.background_mask, count >= 8)


# --- bins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACROSS)
def test_bins_go_from_left_to_right(light_field, name):
    bins = light_field(name).truth[f"high_{name}_bins_labels"]
    wanted = 1 + (2 * np.arange(512) + 1) * 10 // 1024
    np.testing.assert_array_equal(bins, np.broadcast_to(wanted, (512, 512)))


@pytest.mark.parametrize(
    ("name", "item", "count"),
    [
        ("decalibration", "decalibration_bins", 10),
        ("repetition", "repetition_bins", 10),
        ("backgammon", "vertical_bins", 15),
        ("stripes", "horizontal_bins", 15),
    ],
)
def test_bins_go_from_top_to_bottom(light_field, name, item, count):
    bins = light_field(name).truth[f"high_{item}_labels"]
    wanted = 1 + (2 * np.arange(512)[:, None] + 1) * count // 1024
    np.testing.assert_array_equal(bins, np.broadcast_to(wanted, (512, 512)))


def test_the_number_of_bins_is_the_axis_s():
    truth = make_scene("glass", size_px=64, views=1, scale=2, clarity="0:1:4").truth
    assert np.unique(truth.glass_bins_labels).tolist() == [1, 2, 3, 4]


# --- backgammon ---------------------------------------------------------------------------------


def test_the_rims_are_pure():
    """The toolkit takes column 14 for the foreground and the last but ten for the background."""
    for size in (96, 512):
        truth = make_scene("backgammon", size_px=size, views=1, scale=10).truth
        front = truth.high_foreground_mask
        assert front[:, :160].all()
        assert not front[:, -160:].any()
        # So the foreground's disparity there is that of the whole row.
        disparity = truth.high_disparity
        rows = np.broadcast_to(disparity[:, 140:141], disparity.shape)
        np.testing.assert_array_equal(disparity[front], rows[front])


def test_the_step_grows_from_right_to_left(light_field):
    truth = light_field("backgammon").truth
    step = truth.disparity[:, 10:11] - truth.disparity
    behind = truth.background_mask
    means = [step[:, a : a + 32][behind[:, a : a + 32]].mean() for a in (0, 32, 64, 96)]
    assert np.all(np.diff(means) < -0.15)


def test_fattening_and_thinning_are_within_ten_pixels_of_an_edge(light_field):
    """Along the row, measured from the masks alone."""
    truth = light_field("backgammon").truth
    front = truth.high_foreground_mask
    for name, own in (("fattening", ~front), ("thinning", front)):
        mask = truth[f"high_foreground_{name}_mask"]
        assert not (mask & ~own).any()
        for row in range(0, front.shape[0], 7):
            there = np.flatnonzero(~own[row])
            away = np.abs(np.arange(front.shape[1])[:, None] - there).min(axis=1) / 4
            sure = np.abs(away - 10) > 1.5
            np.testing.assert_array_equal(
                mask[row, sure], (own[row] & (away <= 10))[sure], err_msg=f"{name} {row}"
            )


def test_gaps_get_narrower_by_the_axis():
    truth = make_scene("backgammon", views=1, scale=1, gap="0.5:0.5:3").truth
    inside = truth.foreground_mask[:, 37:476]  # from the middle of a gap to the middle of the last
    np.testing.assert_allclose(inside.mean(axis=1), 0.5, atol=0.03)


# --- dots ---------------------------------------------------------------------------------------


def test_fifteen_boxes_each_with_ten_growing_dots():
    truth = make_scene("dots", views=1).truth
    boxes, sizes = truth.high_boxes_labels, truth.high_dots_by_size_labels
    assert set(np.unique(boxes)) == set(range(16))
    assert not ((sizes > 0) & (boxes == 0)).any()
    np.testing.assert_array_equal(sizes > 0, ~truth.high_background_mask)
    diameters = 20 * 12 ** (np.arange(10) / 9)
    for box in (1, 8, 15):
        areas = np.bincount(sizes[boxes == box], minlength=11)[1:]
        assert (np.diff(areas) > 0).all()
        np.testing.assert_allclose(areas, np.pi / 4 * diameters**2, rtol=0.1)
    # Three rows of five, in reading order.
    middles = [np.argwhere(boxes == box).mean(axis=0) for box in range(1, 16)]
    rows, columns = np.array(middles).T.reshape(2, 3, 5)
    assert (np.diff(columns, axis=1) > 900).all()
    assert (np.diff(rows, axis=0) > 1500).all()
    assert np.ptp(rows, axis=1).max() < 1


def test_other_numbers_of_cells_and_dots():
    truth = make_scene("dots", size_px=256, views=1, scale=4, noise="0:0.1:7", diameter="6:30:4")
    boxes = truth.truth.high_boxes_labels
    sizes = truth.truth.high_dots_by_size_labels
    assert set(np.unique(boxes)) == set(range(8))
    for box in range(1, 8):
        assert set(np.unique(sizes[boxes == box])) == set(range(5))
    assert not ((sizes > 0) & (boxes == 0)).any()


# --- stripes ------------------------------------------------------------------------------------


def test_seventeen_stripes_dark_and_bright_in_turn():
    truth = make_scene("stripes", views=1, scale=4).truth
    dark, bright = truth.high_dark_stripes_mask[0], truth.high_bright_stripes_mask[0]
    kinds = np.where(dark, 1, np.where(bright, 2, 0))
    order = kinds[np.flatnonzero(np.diff(kinds, prepend=0))]
    assert order[order > 0].tolist() == [1, 2] * 8 + [1]
    bands = truth.high_background_bins_labels[0]
    assert (
        bands[np.flatnonzero(np.diff(bands.astype(int), prepend=0))].tolist()
        == [band for number in range(18, 0, -1) for band in (number, 0)][:-1]
    )
    np.testing.assert_array_equal(bands == 0, kinds > 0)


def test_contrast_masks_are_at_the_edges_of_their_stripes(light_field, grow):
    truth = light_field("stripes").truth
    for name, kind in (("high_high", "dark"), ("high_low", "bright")):
        mask = truth[f"{name}_contrast_mask"]
        stripes = truth[f"high_{kind}_stripes_mask"]
        near = grow(stripes, 13) & grow(~stripes, 13)
        assert (mask <= near).all()
        assert (mask & stripes).any()
        assert (mask & truth.high_background_mask).any()
    flat = truth.high_low_texture_mask
    assert not (flat & (truth.high_high_contrast_mask | truth.high_low_contrast_mask)).any()
    # Little texture is on the wall's left half and on the stripes' lower half.
    behind = truth.high_background_mask
    assert not (flat & behind)[:, 256:].any()
    assert not (flat & ~behind)[:256].any()
    assert flat.any()


def test_bins_of_the_wall_are_two_bands_without_what_stripes_hide(grow):
    truth = make_scene("stripes", views=1, scale=4).truth
    wall, bands = truth.high_wall_bins_labels, truth.high_background_bins_labels
    inside = wall > 0
    np.testing.assert_array_equal(wall[inside], (bands[inside] + 1) // 2)
    assert wall.max() == 9
    # Four steps of 0.6 px: no view of a 9x9 grid sees a stripe there.
    stripes = truth.high_dark_stripes_mask | truth.high_bright_stripes_mask
    assert not (inside & grow(stripes[:1], 9)[:1]).any()
    counts = np.bincount(wall.ravel())[1:]
    assert counts.min() > 0.8 * counts.max()


# --- levels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(SCENES) - {"pyramids"}))
def test_every_bin_has_a_level_and_they_only_grow_or_only_fall(light_field, name):
    truth = light_field(name).truth
    for labels, levels in truth["axes"].items():
        assert truth[f"high_{labels}_labels"].max() == len(levels)
        steps = np.diff(levels)
        assert (steps > 0).all() or (steps < 0).all()


def test_levels_are_those_in_the_middles_of_bins():
    """Gaps from 0.9 to 0.1 in four bands: 0.8, 0.6, 0.4, 0.2 of their rows."""
    truth = make_scene("backgammon", views=1, scale=1, gap="0.9:0.1:4").truth
    assert truth["axes"]["vertical_bins"] == pytest.approx((0.8, 0.6, 0.4, 0.2))
    behind = truth.background_mask[:, 37:476]
    for band, level in enumerate(truth["axes"]["vertical_bins"], start=1):
        rows = truth.vertical_bins_labels[:, 0] == band
        assert behind[rows].mean() == pytest.approx(level, abs=0.02)
