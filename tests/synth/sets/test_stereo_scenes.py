"""The truth of the scenes is exact, their images belong to it, and they have what they promise."""

from dataclasses import replace
from decimal import Decimal, getcontext

import numpy as np
import pytest

from depthgauge.errors import Misuse, UnknownName
from depthgauge.geometry.warping import left_right_consistent, warp_backward
from depthgauge.synth.library.still_lifes import scene
from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.render.closed_form.rays import views
from depthgauge.synth.sets.stereo_scenes import SCENES, make_scene

SMALL = (96, 72)
PROMISED = {
    "boxes": {"planar"},
    "clutter": {"planar", "curved", "thin", "plain", "repetitive"},
    "curved": {"planar", "curved"},
    "fence": {"planar", "curved", "thin"},
    "slanted": {"planar"},
    "spheres": {"planar", "curved"},
    "staircase": {"planar", "curved", "thin", "repetitive"},
    "textureless": {"planar", "curved", "plain"},
}


def grow(mask, by):
    """The mask and everything within `by` pixels of it."""
    padded = np.pad(mask, by)
    height, width = mask.shape
    span = range(2 * by + 1)
    return np.any([padded[i : i + height, j : j + width] for i in span for j in span], axis=0)


def inside_of_surfaces(name, disparity):
    """Visible pixels two or more from an edge, in both views."""
    left, right = views(scene(name), disparity.shape[::-1])
    edges = [
        pictures._edges(pictures.centre_hits(scene(name), view).which) for view in (left, right)
    ]
    there = warp_backward(grow(edges[1], 1).astype(np.float32), disparity)
    return ~grow(edges[0], 2) & (there == 0)


# --- the truth ----------------------------------------------------------------------------------


def test_a_whole_wall_by_hand(clean):
    """The staircase's left wall is 0.84 m left of the left camera: z = 0.84 f / (centre - x).

    So d = f b / z = (centre - x) 0.12 / 0.84, whatever the camera's tilt.
    """
    wall = (
        pictures.centre_hits(scene("staircase"), views(scene("staircase"), (480, 360))[0]).which
        == 1
    )
    by_hand = np.broadcast_to((239.5 - np.arange(480)) / 7, (360, 480))
    assert wall.sum() > 10_000
    np.testing.assert_allclose(clean["staircase"].truth.disparity[wall], by_hand[wall], rtol=1e-7)


def test_balls_by_long_division(clean):
    """Depth of pixels on two balls, by the schoolbook formula with fifty digits."""
    getcontext().prec = 50
    made = scene("spheres")
    left = views(made, (480, 360))[0]
    which = pictures.centre_hits(made, left).which
    for index in (2, 7):
        shape = made.things[index].shape
        rows, columns = np.nonzero(which == index)
        for y, x in list(zip(rows, columns, strict=True))[::997]:
            slopes = (Decimal(2 * int(x) - 479) / 960, Decimal(2 * int(y) - 359) / 960, Decimal(1))
            ray = [
                sum(s * Decimal(axis[i]) for s, axis in zip(slopes, left.frame.axes, strict=True))
                for i in range(3)
            ]
            start = [
                Decimal(a) - Decimal(b)
                for a, b in zip(left.frame.centre, shape.frame.centre, strict=True)
            ]
            a = sum(r * r for r in ray)
            b = 2 * sum(r * s for r, s in zip(ray, start, strict=True))
            c = sum(s * s for s in start) - Decimal(shape.radii_m[0]) ** 2
            depth = (-b - (b * b - 4 * a * c).sqrt()) / (2 * a)
            wanted = float(480 * Decimal(made.baseline_m) / depth)
            assert clean["spheres"].truth.disparity[y, x] == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("name", SCENES)
def test_every_pixel_has_a_truth_within_the_range(clean, name):
    inputs, truth = clean[name].inputs, clean[name].truth
    low, high = inputs.disparity_range
    for disparity in (truth.disparity, truth.right_disparity):
        assert disparity.dtype == np.float32
        assert low + 1 <= disparity.min() <= disparity.max() <= high - 1
    assert inputs.left_image.dtype == np.uint8
    assert inputs.left_image.shape == inputs.right_image.shape == (360, 480, 3)


@pytest.mark.parametrize("name", SCENES)
def test_both_views_agree(clean, name):
    """The right truth at x - d is d: exact on planes, where disparities are linear in between."""
    truth = clean[name].truth
    both = truth.visible_mask & inside_of_surfaces(name, truth.disparity)
    difference = np.abs(warp_backward(truth.right_disparity, truth.disparity) - truth.disparity)
    flat = both & ~grow(truth.curved_mask, 2)
    if name == "boxes":  # a box has edges within itself, where the disparity has a kink
        assert (difference[flat] < 1e-4).mean() > 0.99
        assert difference[flat].max() < 0.1
    else:
        assert np.quantile(difference[flat], 0.99) < 1e-4
    assert difference[both].max() < 0.15
    assert both.mean() > 0.6


@pytest.mark.parametrize("name", SCENES)
def test_visible_is_what_the_left_right_check_finds(clean, name):
    """Up to the pixels at edges, where the check rounds to a pixel and the mask does not."""
    truth = clean[name].truth
    check = left_right_consistent(truth.disparity, truth.right_disparity)
    allowed = 0.02 if name == "fence" else 0.006
    assert (check != truth.visible_mask).mean() < allowed
    away = inside_of_surfaces(name, truth.disparity)
    np.testing.assert_array_equal(check[away], truth.visible_mask[away])


# --- the images ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_images_belong_to_the_truth(clean, name):
    """The right image, fetched by the true disparity, is the left one.

    What is left over is the fetching's blur, 1.3 of 255 levels; a quarter of a pixel is worse.
    """
    inputs, truth = clean[name].inputs, clean[name].truth
    both = truth.visible_mask & inside_of_surfaces(name, truth.disparity)

    def error(offset_px):
        fetched = warp_backward(inputs.right_image, truth.disparity + np.float32(offset_px))
        return np.nanmean(np.abs(fetched - inputs.left_image)[both])  # noqa: TID251  # the image's border

    assert error(0.0) < 1.4
    assert error(0.25) > 1.1 * error(0.0)
    assert error(-0.25) > 1.1 * error(0.0)


def test_images_are_neither_dark_nor_burnt(clean):
    for sample in clean.values():
        for image in (sample.inputs.left_image, sample.inputs.right_image):
            assert 80 < image.mean() < 180
            assert (image == 255).mean() < 0.01


def test_the_same_seed_gives_the_same_bytes():
    first, again, other = (make_scene("clutter", SMALL, seed) for seed in (3, 3, 4))
    for side in ("inputs", "truth"):
        for name, thing in getattr(first, side).items():
            if isinstance(thing, np.ndarray):
                assert thing.tobytes() == getattr(again, side)[name].tobytes()
    for name, thing in first.truth.items():
        assert thing.tobytes() == other.truth[name].tobytes(), "the seed is the noise's only"
    assert (first.inputs.left_image != other.inputs.left_image).mean() > 0.3


def test_noise_is_small_and_differs_between_the_views(clean):
    noisy = make_scene("textureless")
    noise = [
        noisy.inputs[side].astype(int) - clean["textureless"].inputs[side]
        for side in ("left_image", "right_image")
    ]
    assert 0.9 < np.std(noise[0]) < 1.3
    # Rounding the same wall in both views has a little in common.
    assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 0.05


# --- what is in them ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_masks_are_what_is_promised(clean, name):
    truth = clean[name].truth
    kinds = ("thin", "planar", "curved", "plain", "repetitive")
    assert {kind for kind in kinds if truth[f"{kind}_mask"].any()} == PROMISED[name]
    parts = truth.thin_mask.astype(int) + truth.planar_mask + truth.curved_mask
    assert (parts == 1).all(), "each pixel is of one kind"
    assert not (truth.plain_mask & truth.thin_mask).any()
    assert 0.02 < (~truth.visible_mask).mean() < 0.2


def test_disparities_are_from_small_to_large(clean):
    assert clean["spheres"].truth.disparity.max() > 8 * clean["spheres"].truth.disparity.min()


@pytest.mark.parametrize("name", ["clutter", "fence", "staircase"])
def test_bars_are_one_to_three_pixels_wide(clean, name):
    made = scene(name)
    left = views(made, (480, 360))[0]
    bars = [thing for thing in made.things if thing.thin]
    for bar in bars:
        seen = np.isfinite(pictures.centre_hits(replace(made, things=(bar,)), left).depth_m)
        assert 0.8 < width(seen) < 3.3
    truth = clean[name].truth
    assert truth.thin_mask.mean() < 0.08


def width(bar):
    """Across a straight bar, from the mean lengths of its rows' and columns' runs."""
    across, down = (n[n > 0].mean() for n in (bar.sum(axis=1), bar.sum(axis=0)))
    return across * down / np.hypot(across, down)


# --- size, names --------------------------------------------------------------------------------


def test_disparities_grow_with_the_width():
    small, large = (make_scene("slanted", size) for size in ((60, 40), (120, 80)))
    assert small.truth.disparity.shape == (40, 60)
    # The same field of view: the mean of 2 x 2 pixels is at the small pixel's place.
    mean = large.truth.disparity.reshape(40, 2, 60, 2).mean(axis=(1, 3))
    assert np.median(np.abs(mean - 2 * small.truth.disparity)) < 1e-4


@pytest.mark.parametrize("size_px", [(16, 160), (160, 16), (33, 21)])
@pytest.mark.parametrize("name", SCENES)
def test_no_ray_gets_out_whatever_the_shape_of_the_image(name, size_px):
    for view in views(scene(name), size_px):
        assert (pictures.centre_hits(scene(name), view).which >= 0).all()


def test_the_rig_gives_the_depth(clean):
    rig = clean["boxes"].inputs.rig
    left, right = rig.cameras["left"], rig.cameras["right"]
    assert (left.size_px, left.focal_px) == ((480, 360), (480.0, 480.0))
    apart = right.world_from_camera[:3, 3] - left.world_from_camera[:3, 3]
    np.testing.assert_allclose(apart, rig.baseline_m * left.world_from_camera[:3, 0], atol=1e-15)
    np.testing.assert_array_equal(left.world_from_camera[:3, :3], right.world_from_camera[:3, :3])
    # The floor is y = 0: the lowest middle pixel of the image looks at it.
    z = 480 * rig.baseline_m / clean["boxes"].truth.disparity[359, 240]
    point = z * np.array([0.5 / 480, 179.5 / 480, 1.0])
    world = left.world_from_camera[:3, :3] @ point + left.world_from_camera[:3, 3]
    assert abs(world[1]) < 1e-6


def test_unknown_scenes_and_sizes_are_refused():
    with pytest.raises(UnknownName, match="Did you mean 'spheres'"):
        make_scene("sphere")
    with pytest.raises(Misuse, match="8 px or more"):
        make_scene("boxes", (480, 4))
    with pytest.raises(Misuse, match="seed -1"):
        make_scene("boxes", SMALL, -1)
