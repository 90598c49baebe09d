"""Stratified scenes as stereo pairs."""

import numpy as np
import pytest

from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.warping import left_right_consistent, warp_backward
from depthgauge.synth.sets.stratified import SCENES, make_pair, make_scene


@pytest.mark.parametrize("name", SCENES)
def test_a_pair_is_the_light_field_with_a_longer_baseline(name):
    """Eight steps, and disparities from where the range begins."""
    pair = make_pair(name, size_px=128, sensor_noise=0)
    field = make_scene(name, size_px=128, views=1, scale=1, sensor_noise=0)
    lowest, highest = field.inputs.disparity_range
    wanted = 8 * (field.truth.disparity.astype(np.float64) - lowest)
    if name != "slant":  # its folds are wider
        np.testing.assert_allclose(pair.truth.disparity, wanted, atol=1e-5)
        np.testing.assert_allclose(pair.truth.depth, field.truth.depth, rtol=1e-6)
    if name not in ("repetition", "slant"):  # its pattern goes with the range
        difference = pair.inputs.left_image.astype(float) - field.inputs.centre_image
        assert np.abs(difference).max() == 0 or name == "dots"  # its noise is another
    for item in set(field.truth) & {i for i in pair.truth if i.endswith(("_mask", "_labels"))}:
        np.testing.assert_array_equal(pair.truth[item], field.truth[item])
    assert pair.inputs.disparity_range == (0, int(np.ceil(8 * (highest - lowest) - 1e-9)))


@pytest.mark.parametrize("name", SCENES)
def test_disparities_are_positive_and_within_the_range(stereo, name):
    pair = stereo(name)
    low, high = pair.inputs.disparity_range
    for item in ("disparity", "right_disparity"):
        assert pair.truth[item].dtype == np.float32
        assert low < pair.truth[item].min()
        assert pair.truth[item].max() < high


@pytest.mark.parametrize("name", SCENES)
def test_the_rig_gives_the_depth(stereo, name):
    pair = stereo(name)
    rig = pair.inputs.rig
    left, right = rig.cameras["left"], rig.cameras["right"]
    assert right.centre_px[0] - left.centre_px[0] == pytest.approx(rig.principal_offset_px)
    assert right.world_from_camera[0, 3] == pytest.approx(rig.baseline_m)
    optics = (left.focal_px[0], rig.baseline_m, rig.principal_offset_px)
    depth = depth_from_disparity(pair.truth.disparity, *optics)
    np.testing.assert_allclose(depth, pair.truth.depth, rtol=3e-6)


@pytest.mark.parametrize("name", SCENES)
def test_both_views_agree(stereo, grow, name):
    """The right truth at x - d is d, away from edges, where fetching would mix two surfaces."""
    truth = stereo(name).truth
    fetched = warp_backward(truth.right_disparity, truth.disparity)
    jumps = np.abs(np.diff(truth.right_disparity, axis=1, append=np.nan)) > 0.6
    near = warp_backward(grow(jumps, 2).astype(np.float32), truth.disparity)
    both = truth.visible_mask & (near == 0)
    assert both.mean() > 0.2
    # Through gaps thinner than a pixel a centre can be seen, but not be fetched.
    assert (np.abs(fetched - truth.disparity)[both] < 0.1).mean() > 0.98


@pytest.mark.parametrize("name", SCENES)
def test_visible_is_what_the_left_right_check_finds(stereo, grow, name):
    truth = stereo(name).truth
    check = left_right_consistent(truth.disparity, truth.right_disparity)
    jumps = np.abs(np.diff(truth.disparity, axis=1, append=np.nan)) > 0.6
    jumps |= grow(~check, 1)
    away = ~grow(jumps & truth.visible_mask, 2)
    assert (check != truth.visible_mask).mean() < 0.12
    assert (check == truth.visible_mask)[away].mean() > 0.99


def test_what_is_behind_a_peak_is_not_visible(stereo):
    """Foreground at x + (d_front - d) is at the same place of the right image, and in front."""
    truth = stereo("backgammon").truth
    parts = make_scene("backgammon", size_px=128, views=1, scale=9).truth.high_foreground_mask
    row, column = np.mgrid[:128, :128]
    front = truth.disparity[:, 5:6]
    aside = np.floor((column + 0.5 + front - truth.disparity) * 9).astype(int)
    covered = parts[9 * row + 4, np.clip(aside, 0, 9 * 128 - 1)] & truth.background_mask
    inside = column - truth.disparity >= -0.5
    wanted = inside & ~covered
    assert (truth.visible_mask == wanted).mean() > 0.99
    assert covered.sum() > 2000


def test_images_belong_to_the_truth(stereo, grow):
    for name in ("pyramids", "slant", "decalibration", "exposure"):
        pair = stereo(name, calm=True)
        truth = pair.truth
        fetched = warp_backward(pair.inputs.right_image, truth.disparity)
        error = np.abs(fetched - pair.inputs.left_image).mean(axis=2)
        both = truth.visible_mask & np.isfinite(error)
        jumps = np.abs(np.diff(truth.disparity, axis=1, append=np.nan)) > 0.6
        both &= ~grow(jumps, 3)
        assert error[both].mean() < 4
