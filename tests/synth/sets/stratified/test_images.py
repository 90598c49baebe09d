"""The images: they belong to the truth, and they have the challenges that they promise."""

from dataclasses import replace

import numpy as np
import pytest

from depthgauge.geometry.warping import warp_backward
from depthgauge.synth.sets.stratified import SCENES, _render, make_pair, make_scene
from depthgauge.synth.sets.stratified._grid import Grid
from depthgauge.synth.sets.stratified._model import packed
from depthgauge.synth.sets.stratified._scene import View
from depthgauge.synth.sets.stratified._scene_list import scene
from depthgauge.types import Sample

SEE_THROUGH = ("glass", "gloss")


def differences(sample: Sample, row: int, column: int, grow, offset=0.0) -> np.ndarray:
    """A view, fetched by the truth, against the centre view; NaN where edges or borders are."""
    views, disparity = sample.inputs.views, sample.truth.disparity + np.float32(offset)
    right, down = column - 2, row - 2
    flow = -np.stack([right * disparity, down * disparity], axis=-1)
    fetched = warp_backward(views[row, column], flow)
    error = np.abs(fetched - views[2, 2]).mean(axis=2)
    jumps = np.zeros(disparity.shape, bool)
    for axis in (0, 1):
        jump = np.abs(np.diff(sample.truth.disparity, axis=axis, append=np.nan)) > 0.1
        jumps |= jump | np.roll(jump, 1, axis)
    error[grow(jumps, 8)] = np.nan
    return error


def mean(values: np.ndarray) -> float:
    return float(values[np.isfinite(values)].mean())


@pytest.mark.parametrize("name", sorted(set(SCENES) - set(SEE_THROUGH)))
@pytest.mark.parametrize("view", [(0, 0), (2, 4), (4, 1)])
def test_views_belong_to_the_truth(light_field, grow, name, view):
    """Fetching blurs a little; a disparity that is 0.2 px off is clearly worse."""
    sample = light_field(name, calm=True)
    error = mean(differences(sample, *view, grow))
    assert np.isfinite(differences(sample, *view, grow)).mean() > 0.05
    assert error < 3.0
    for offset in (0.2, -0.2):
        assert mean(differences(sample, *view, grow, offset)) > 1.3 * error


@pytest.mark.parametrize(
    ("name", "item"),
    [(name, f"{name}_bins_labels") for name in (*SEE_THROUGH, "decalibration", "exposure")],
)
def test_views_agree_less_and_less_where_that_is_the_challenge(light_field, grow, name, item):
    sample = light_field(name)
    bins = sample.truth[item]
    error = np.mean([differences(sample, *view, grow) for view in ((0, 0), (2, 4), (4, 1))], axis=0)
    easy, hard = (
        mean(np.where((bins >= a) & (bins <= b), error, np.nan)) for a, b in ((1, 3), (8, 10))
    )
    assert hard > 1.5 * easy


def test_what_is_seen_through_glass_is_the_wall(light_field, grow):
    """Where the pane is clear, the wall's disparity -0.5 explains the views better."""
    sample = light_field("glass")
    wall = -0.5 - sample.truth.disparity
    clear = sample.truth.glass_bins_labels >= 9
    frosted = sample.truth.glass_bins_labels <= 2
    pane_error, wall_error = (differences(sample, 2, 4, grow, offset) for offset in (0.0, wall))
    assert mean(wall_error[clear]) < mean(pane_error[clear])
    assert mean(wall_error[frosted]) > mean(pane_error[frosted])


@pytest.mark.parametrize("name", SCENES)
def test_images_are_neither_dark_nor_burnt_nor_empty(light_field, name):
    image = light_field(name, calm=True).inputs.centre_image
    assert image.dtype == np.uint8
    assert 70 < image.mean() < 200
    assert (image == 255).mean() < 0.01
    assert image.std() > 10


@pytest.mark.parametrize("name", SCENES)
def test_the_centre_image_is_the_middle_of_the_views(light_field, name):
    inputs = light_field(name).inputs
    assert inputs.views.shape == (5, 5, 128, 128, 3)
    np.testing.assert_array_equal(inputs.views[2, 2], inputs.centre_image)


@pytest.mark.parametrize("name", ["backgammon", "dots", "stripes"])
def test_a_pixel_is_the_mean_over_its_square(name):
    """With one colour a surface, light is how much of each surface 16 x 16 parts of it see."""
    made = scene(name, {"diameter": "6:24:8"} if name == "dots" else {})
    grid, view = Grid(made.optics, 96), View(2.0, -1.0)
    things = []
    for thing in made.things(grid, 1.0):
        tone = thing.paint.tones[1]
        things.append(replace(thing, paint=replace(thing.paint, tones=(tone, tone, tone))))
    numbers = packed(things, grid, (0,))
    surface = _render.truth(numbers, view, 96, scale=16).surface.reshape(96, 16, 96, 16)
    wanted = sum(
        (surface == i).mean(axis=(1, 3))[..., np.newaxis] * thing.paint.tones[1]
        for i, thing in enumerate(things)
    )
    error = np.abs(np.sqrt(_render.light(numbers, view, 96)) - np.sqrt(wanted)) * 255
    partly = np.ptp(surface, axis=(1, 3)) > 0
    assert partly.mean() > 0.03
    assert error.max() < 12
    assert error[partly].mean() < 1.5
    assert np.median(error[~partly]) < 1e-6


# --- dots ---------------------------------------------------------------------------------------


def test_every_cell_has_the_variance_that_was_asked_for():
    """In all views, and where the centre is; the values of 8 bits add 1/12."""
    axes = {"size_px": 256, "views": 3, "scale": 1, "seed": 3}
    noisy = make_scene("dots", noise="0:0.004:6", **axes)
    clean = make_scene("dots", noise="0:0:6", **axes)
    boxes = noisy.truth.boxes_labels
    for view in ((0, 0), (1, 1), (2, 1)):
        noise = noisy.inputs.views[view].astype(float) - clean.inputs.views[view]
        for box, variance in enumerate(np.linspace(0, 0.004, 6), start=1):
            inside = noise[boxes == box]
            wanted = variance + (2 / 12 / 255**2 if variance else 0)
            assert (inside / 255).var() == pytest.approx(wanted, rel=0.04, abs=1e-12)
            assert abs(inside.mean()) < 0.5


def test_noise_is_cut_off_at_black_and_white():
    image = make_scene("dots", size_px=256, views=1, scale=1).inputs.centre_image
    boxes = make_scene("dots", size_px=256, views=1, scale=1).truth.boxes_labels
    last = image[boxes == 15]
    # A normal variable around 0.5 with variance 0.2 is outside 0..1 in 26 of 100 cases.
    assert 0.18 < ((last == 0) | (last == 255)).mean() < 0.36


def test_noise_is_independent_in_views_channels_and_neighbours():
    sample = make_scene("dots", size_px=256, views=3, scale=1, noise="0.01:0.01:1")
    clean = make_scene("dots", size_px=256, views=3, scale=1, noise="0:0:1")
    noise = sample.inputs.views.astype(float) - clean.inputs.views
    one, other = noise[1, 1], noise[1, 2]
    for a, b in (
        (one, other),
        (one[..., 0], one[..., 1]),
        (one[:, 1:], one[:, :-1]),
        (one[1:], one[:-1]),
    ):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.02


def test_the_same_point_has_the_same_noise_in_every_view():
    """The border between two cells is where the surface is, not where the pixel is."""
    axes = {"size_px": 64, "views": 9, "scale": 1}
    noisy = make_scene("dots", noise="0:0.05:2", **axes).inputs.views
    clean = make_scene("dots", noise="0:0:2", **axes).inputs.views
    for row, column, border in ((4, 4, 32), (4, 8, 34), (4, 0, 30)):
        # The wall's disparity is -0.55: what the centre has at 32, four steps aside is at 34.2.
        changed = (noisy[row, column] != clean[row, column]).any(axis=2)[:10].mean(axis=0)
        assert changed[: border - 1].max() == 0
        assert changed[border + 1 :].min() > 0.8


# --- the others ---------------------------------------------------------------------------------


def test_stripes_have_less_and_less_texture():
    made = make_scene("stripes", views=1, scale=1, sensor_noise=0)
    image = made.inputs.centre_image.mean(axis=2)
    truth = make_scene("stripes", views=1, scale=1).truth
    quiet = ~(truth.high_contrast_mask | truth.low_contrast_mask)
    for stripes in ("bright", "dark"):
        mask = truth[f"{stripes}_stripes_mask"] & quiet
        spread = [image[rows][mask[rows]].std() for rows in np.split(np.arange(512), 4)]
        assert np.all(np.diff(spread) < 0)
        assert spread[0] > 4 * spread[3]
    wall = [image[(truth.background_bins_labels == band) & quiet].std() for band in (1, 6, 12, 18)]
    assert np.all(np.diff(wall) < 0)
    assert wall[-1] < 2
    # Bright stripes are like the wall, dark ones are not.
    grey = image[truth.background_mask].mean()
    assert abs(image[truth.bright_stripes_mask].mean() - grey) < 20
    assert image[truth.dark_stripes_mask].mean() < grey - 50


def test_patterns_repeat_at_their_periods():
    """A period of twice the range, 6 px, is 12 px; half of it is the opposite."""
    axes = {"period": "2:2:1", "unique": "0.15:0.15:1", "sensor_noise": 0}
    row = make_scene("repetition", size_px=128, views=1, scale=1, **axes)
    image = row.inputs.centre_image.mean(axis=2)
    same, half = (
        np.corrcoef(image[:, shift:].ravel(), image[:, :-shift].ravel())[0, 1] for shift in (12, 6)
    )
    assert same > 0.9
    assert half < 0.3
    assert row.inputs.disparity_range == (-2.5, 3.5)


def test_a_smaller_and_smaller_share_of_a_texture_is_unique():
    """Without it, the pattern is the same one period further."""
    axes = {"period": "2:2:1", "unique": "1:0.01:4", "sensor_noise": 0}
    sample = make_scene("repetition", size_px=256, views=1, scale=1, **axes)
    image, bins = sample.inputs.centre_image.mean(axis=2), sample.truth.repetition_bins_labels
    same = [
        np.corrcoef(image[bins[:, 0] == k, 12:].ravel(), image[bins[:, 0] == k, :-12].ravel())[0, 1]
        for k in range(1, 5)
    ]
    assert np.all(np.diff(same) > 0)
    assert same[0] < 0.5
    assert same[-1] > 0.999


def test_a_pair_s_period_goes_with_its_own_range():
    """Eight steps: the range is 48 px, and half of it 24 px."""
    axes = {"period": "0.5:0.5:1", "unique": "0.15:0.15:1", "sensor_noise": 0}
    sample = make_pair("repetition", size_px=128, **axes)
    image = sample.inputs.left_image.mean(axis=2)
    assert sample.inputs.disparity_range == (0, 48)
    assert np.corrcoef(image[:, 24:].ravel(), image[:, :-24].ravel())[0, 1] > 0.9


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_takes_the_sensors_noise(name):
    """Independent of the scene's own noise; rounding to 8 bits adds twice 1/12."""
    axes = {
        "size_px": 128,
        "scale": 1,
        "views": 3,
        **({"noise": "0:0:15"} if name == "dots" else {}),
    }
    noisy, clean = (
        make_scene(name, sensor_noise=grey, **axes).inputs.views.astype(float) for grey in (3, 0)
    )
    inside = (clean > 20) & (clean < 235)
    assert (noisy - clean)[inside].var() == pytest.approx(9 + 2 / 12, rel=0.02)
    pair = make_pair(name, size_px=64, sensor_noise=3).inputs
    assert (pair.left_image != make_pair(name, size_px=64, sensor_noise=0).inputs.left_image).any()


def test_noise_of_sensors_and_of_a_scene_add_up():
    axes = {"size_px": 128, "views": 1, "scale": 1}
    noisy = make_scene("dots", noise="0.0004:0.0004:1", sensor_noise=4, **axes)
    clean = make_scene("dots", noise="0:0:1", sensor_noise=0, **axes)
    noise = noisy.inputs.views.astype(float) - clean.inputs.views
    assert noise.var() == pytest.approx(0.0004 * 255**2 + 16 + 2 / 12, rel=0.03)


def test_decalibration_moves_rows_of_the_right_image():
    """An offset of one whole pixel everywhere is the same image one row further."""
    off, calm = (
        make_pair("decalibration", size_px=96, offset=offset).inputs
        for offset in ("1:1:1", "0:0:1")
    )
    np.testing.assert_array_equal(off.left_image, calm.left_image)
    np.testing.assert_array_equal(off.right_image[:-1], calm.right_image[1:])


def test_decalibrated_views_are_off_by_more_and_more_rows(light_field):
    views = light_field("decalibration").inputs.views.astype(float)
    calm = light_field("decalibration", calm=True).inputs.views
    change = np.abs(views - calm).mean(axis=(3, 4))
    assert change[2, 2].max() == 0
    others = change.mean(axis=(0, 1))
    assert others[96:].mean() > 2 * others[:32].mean()


def test_two_stops_halve_what_is_stored():
    """Light is stored with gamma 2: a quarter of the light is half of the value."""
    dark, calm = (
        make_pair("exposure", size_px=96, stops=stops).inputs for stops in ("2:2:1", "0:0:1")
    )
    np.testing.assert_array_equal(dark.left_image, calm.left_image)
    half = calm.right_image.astype(float) / 2
    assert np.abs(dark.right_image - half).max() <= 0.75


def test_no_view_is_brighter_than_the_centre_s_exposure(light_field):
    views = light_field("exposure").inputs.views.astype(float)
    calm = light_field("exposure", calm=True).inputs.views.astype(float)
    assert (views <= calm).all()
    np.testing.assert_array_equal(views[2, 2], calm[2, 2])
    ratio = (views / np.maximum(calm, 1)).mean(axis=(0, 1, 2, 4))
    assert ratio[120:].mean() < 0.8
    assert ratio[:4].mean() > 0.95
