"""The kernels of the light-field methods against plain references."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from depthgauge.geometry._shared_kernels import path_count
from depthgauge.methods._light_field import kernels, surface_kernels
from depthgauge.methods._light_field.costs import Likeness, costs
from depthgauge.methods._light_field.noise import blurred
from depthgauge.methods._light_field.surface import surface
from depthgauge.methods._light_field.views import splines_of


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 255, shape).astype(np.float32)


@pytest.mark.parametrize("shift", [(0, 0), (0.5, 0.25), (-2.75, 1.5), (3, -3)])
@pytest.mark.parametrize("size", [(12, 40), (40, 9)])
def test_shifted_pictures_are_those_of_scipy(shift, size):
    picture = noise(*size)
    coefficients = picture[np.newaxis].copy()
    kernels.spline_coefficients(coefficients)
    out, line = np.zeros_like(picture), np.zeros(size[1] + 16, np.float32)
    kernels.shifted(coefficients[0], *map(float, shift), 0, size[0], line, out)
    expected = ndimage.shift(picture, (-shift[1], -shift[0]), order=3, mode="mirror")
    assert np.abs(out - expected).max() < 0.01


def test_costs_are_of_the_views_that_agree_best():
    """The view to the right agrees with the centre at disparity 2, the one to the left never."""
    views = noise(1, 3, 1, 12, 20)
    left, centre = views[0, 0, 0].copy(), views[0, 1, 0].copy()
    views[0, 2, 0, :, :-2] = centre[:, 2:]  # what the centre view has at x is at x - 2 there
    splines = splines_of(views)
    tried, doubt = np.array([1.0, 2.0], np.float32), np.zeros((12, 20), np.float32)
    plain, both = Likeness(np.inf, np.inf, 0.0, 1.0), np.ones(3, bool)
    best = costs(splines, tried, both, doubt, plain)[:, 3:-3]
    assert best[..., 1].max() < 0.01
    from_left = np.abs(left[:, 4:-2] - centre[:, 3:-3])  # disparity 1: it is at x + 1 there
    from_right = np.abs(centre[:, 4:-2] - centre[:, 3:-3])
    assert best[..., 0] == pytest.approx(np.minimum(from_left, from_right), abs=0.01)
    doubtful = costs(splines, tried, both, doubt + np.float32(1e6), plain)[:, 3:-3]
    assert doubtful[..., 0] == pytest.approx((from_left + from_right) / 2, abs=0.01)
    one = costs(splines, tried, np.array([True, True, False]), doubt, plain)[:, 3:-3]
    assert one[..., 0] == pytest.approx(from_left, abs=0.01)


def test_gradients_do_not_see_a_change_of_brightness():
    views = np.repeat(noise(1, 1, 1, 12, 20), 3, axis=1)
    views[0, 2] += 40
    splines, both = splines_of(views), np.ones(3, bool)
    tried, doubt = np.zeros(1, np.float32), np.full((12, 20), 1e6, np.float32)
    colour, gradient = (
        costs(splines, tried, both, doubt, Likeness(25, 15, part, 1.0)) for part in (0.0, 1.0)
    )
    assert colour == pytest.approx(12.5, abs=0.01)  # the mean of 0 and of the most that counts
    assert gradient == pytest.approx(0, abs=0.01)


def followed(volume: np.ndarray, small: float, large: float) -> np.ndarray:
    """Semi-global matching from left to right, written down as it is defined."""
    out = np.zeros_like(volume)
    height, width, disparities = volume.shape
    for y in range(height):
        out[y, 0] = volume[y, 0]
        for x in range(1, width):
            before = out[y, x - 1]
            for d in range(disparities):
                ways = [before[d], before.min() + large]
                ways += [before[e] + small for e in (d - 1, d + 1) if 0 <= e < disparities]
                out[y, x, d] = volume[y, x, d] + min(ways) - before.min()
    return out


@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_paths_are_followed_as_defined(direction):
    dx, dy = direction
    volume, image = noise(6, 7, 5), np.zeros((1, 6, 7), np.float32)
    total, how = np.zeros_like(volume), np.array([20, 90, 10, 8], np.float32)
    paths = path_count(6, 7, dx, dy)
    surface_kernels.follow_paths(paths, volume, image, dx, dy, how, total)
    turned = volume if dx else volume.swapaxes(0, 1)
    expected = followed(turned[:, :: dx + dy], 20, 90)[:, :: dx + dy]
    assert total == pytest.approx(expected if dx else expected.swapaxes(0, 1), rel=1e-5)


@pytest.mark.parametrize("direction", [(1, 1), (-1, -1), (1, -1), (-1, 1)])
def test_slanted_paths_reach_every_pixel_once(direction):
    volume, image = np.ones((5, 8, 3), np.float32), np.zeros((1, 5, 8), np.float32)
    total, how = np.zeros_like(volume), np.array([1, 2, 1, 8], np.float32)
    paths = path_count(5, 8, *direction)
    surface_kernels.follow_paths(paths, volume, image, *direction, how, total)
    assert (total == 1).all()


def test_edges_of_the_picture_make_jumps_cheap():
    volume = np.zeros((1, 8, 9), np.float32)
    volume[0, :4, 1:], volume[0, 4:, :8] = 10, 10  # disparity 0, then disparity 8
    image = np.zeros((1, 1, 8), np.float32)
    total, how = np.zeros_like(volume), np.array([5, 50, 1, 8], np.float32)
    surface_kernels.follow_paths(path_count(1, 8, 1, 0), volume, image, 1, 0, how, total)
    assert total[0, 4].argmin() == 0
    image[0, 0, 4:] = 100
    total[:] = 0
    surface_kernels.follow_paths(path_count(1, 8, 1, 0), volume, image, 1, 0, how, total)
    assert total[0, 4].argmin() == 8


@given(st.floats(1.6, 5.4), st.floats(0.1, 10))
def test_minima_of_absolute_values_are_exact(place, slope):
    volume = (slope * np.abs(np.arange(8) - place)).astype(np.float32).reshape(1, 1, 8)
    found, sharpness = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32)
    surface_kernels.minima(volume, np.full((1, 1), -1), found, sharpness)
    assert found[0, 0] == pytest.approx(place, abs=1e-3)
    assert sharpness[0, 0] > 0


def test_minima_at_the_ends_and_in_flat_costs_have_no_sharpness():
    volume = np.array([[[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 1, 1]]], np.float32)
    found, sharpness = np.zeros((1, 3), np.float32), np.full((1, 3), 9, np.float32)
    surface_kernels.minima(volume, np.array([[-1, -1, 2]]), found, sharpness)
    assert found.tolist() == [[0, 3, 2]]
    assert sharpness.tolist() == [[0, 0, 0]]


def test_windows_hold_only_pixels_that_look_alike():
    image = np.zeros((1, 5, 6), np.float32)
    image[:, :, 3:] = 255
    volume = np.repeat(image[0, :, :, np.newaxis], 2, axis=2) + noise(5, 6, 2) / 255
    out, scale = np.zeros_like(volume), np.full((5, 6), 2, np.float32)
    surface_kernels.aggregate(volume, image, 1, 5.0, scale, out)
    assert out[2, 1] == pytest.approx(2 * volume[1:4, 0:3].mean(axis=(0, 1)), rel=1e-4)
    assert out[2, 2] == pytest.approx(2 * volume[1:4, 1:3].mean(axis=(0, 1)), rel=1e-4)


def test_weighted_medians_are_those_of_repeated_values():
    values = noise(9, 9, seed=1)
    counts = np.random.default_rng(2).integers(1, 4, (9, 9))
    image, out = np.zeros((3, 9, 9), np.float32), np.zeros_like(values)
    surface_kernels.weighted_median(values, counts.astype(np.float32), image, 2, 10.0, out)
    for y, x in np.ndindex(9, 9):
        window = np.s_[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3]
        repeated = np.sort(np.repeat(values[window].ravel(), counts[window].ravel()))
        assert out[y, x] == repeated[(repeated.size - 1) // 2]


def test_a_surface_goes_through_few_points_of_a_plane():
    y, x = np.indices((24, 30), dtype=np.float32)
    plane = 0.5 + 0.02 * x - 0.01 * y
    weight = np.zeros_like(plane)
    weight[::5, ::5] = 1
    start = np.where(weight > 0, plane, np.median(plane)).astype(np.float32)
    image = np.full((1, 24, 30), 90, np.float32)
    for _ in range(4):
        start = surface(start, plane, weight, image, 0.04)
    assert np.abs(start - plane)[2:-2, 2:-2].max() < 0.005


def test_a_surface_jumps_only_where_its_start_does():
    truth = np.where(np.arange(30) < 15, 0.0, 1.0).astype(np.float32) + np.zeros(
        (20, 1), np.float32
    )
    bumpy = truth + np.random.default_rng(3).normal(0, 0.03, truth.shape).astype(np.float32)
    image = np.full((1, *truth.shape), 90, np.float32)
    smooth = surface(bumpy, bumpy, np.ones_like(truth), image, 0.04)
    assert np.abs(smooth - truth).mean() < 0.6 * np.abs(bumpy - truth).mean()
    assert np.abs(smooth - truth)[:, 14:16].max() < 0.1


def test_blurs_of_a_changing_width():
    plane = noise(40, 60)
    none = np.zeros_like(plane)
    assert np.array_equal(blurred(plane, none), plane)
    wide = blurred(plane, none + np.float32(2.8))
    assert wide[12:-12, 12:-12] == pytest.approx(
        ndimage.gaussian_filter(plane, 2.8)[12:-12, 12:-12], abs=0.5
    )
    changing = np.repeat(np.linspace(0, 9, 60, dtype=np.float32)[np.newaxis], 40, axis=0)
    spread = np.abs(np.diff(blurred(plane, changing), axis=0)).mean(axis=0)
    assert spread[0] > 5 * spread[10] > 10 * spread[30]
