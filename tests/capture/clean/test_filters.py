"""The filters of `capture clean` against plain NumPy, and what they do to known surfaces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge.capture.clean.filters import (
    find_mismatches,
    patch_sizes,
    scaled_window,
    smooth_plain,
    smooth_planes,
)
from depthgauge.errors import Misuse, WrongShape

MAPS = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
    elements=st.one_of(st.just(np.float32(np.nan)), st.integers(0, 12).map(np.float32)),
)  # fmt: skip


def reference_plain(values, window, sigma, sigma_distance):
    """The bilateral filter, pixel by pixel."""
    r = window // 2
    out = np.full(values.shape, np.nan)
    for y, x in zip(*np.nonzero(np.isfinite(values)), strict=True):
        rows = np.arange(max(0, y - r), min(values.shape[0], y + r + 1))
        columns = np.arange(max(0, x - r), min(values.shape[1], x + r + 1))
        part = values[np.ix_(rows, columns)].astype(float)
        squared = (rows[:, None] - y) ** 2 + (columns - x) ** 2
        weight = np.exp(-squared / (2 * sigma_distance**2))
        weight *= np.exp(-((part - values[y, x]) ** 2) / (2 * sigma**2))
        known = np.isfinite(part)
        out[y, x] = (weight[known] * part[known]).sum() / weight[known].sum()
    return out


def noisy(truth, noise_px=0.05, seed=0):
    """With noise that neighbours share, as that of matching windows."""
    white = np.random.default_rng(seed).normal(size=truth.shape)
    wide = sum(np.roll(white, (j, i), (0, 1)) for j in (-1, 0, 1) for i in (-1, 0, 1)) / 3
    return (truth + noise_px * wide).astype(np.float32)


def positions(height=80, width=120):
    y, x = np.mgrid[0:height, 0:width].astype(float)
    return x, y


def test_the_bilateral_filter_is_that_of_the_reference():
    values = (50 + 3 * np.random.default_rng(0).random((30, 300))).astype(np.float32)
    values[5:9, 20:40] = np.nan
    values[:, 250:] += 8
    found = smooth_plain(values, 7, 1.5, 4.0)
    wanted = reference_plain(values, 7, 1.5, 4.0)
    assert np.array_equal(np.isnan(found), np.isnan(values))
    assert np.nanmax(np.abs(found - wanted)) < 1e-4


def test_a_mean_by_hand():
    """Two pixels that differ by 2 with sigma 2 and no loss by distance: weights 1 and e^-1/2."""
    found = smooth_plain(np.array([[1.0, 3.0]], np.float32), 3, 2.0, 1e6)
    e = np.exp(-0.5)
    assert found[0] == pytest.approx([(1 + 3 * e) / (1 + e), (3 + e) / (1 + e)], rel=1e-5)


@given(MAPS)
def test_filters_keep_what_is_missing_and_stay_within_the_values(values):
    for smoothing in (smooth_plain, smooth_planes):
        found = smoothing(values, 5, 0.5, 3.0)
        assert np.array_equal(np.isnan(found), np.isnan(values))
    known = np.isfinite(values)
    if known.any():
        plain = smooth_plain(values, 5, 0.5, 3.0)[known]
        assert plain.min() >= values[known].min() - 1e-4
        assert plain.max() <= values[known].max() + 1e-4


@pytest.mark.parametrize("slopes", [(0.3, -0.2), (0.0, 0.0), (-0.7, 0.6)])
def test_planes_stay_planes_also_beside_holes_and_borders(slopes):
    x, y = positions()
    truth = (100 + slopes[0] * x + slopes[1] * y).astype(np.float32)
    truth[np.random.default_rng(0).random(truth.shape) < 0.3] = np.nan
    assert np.nanmax(np.abs(smooth_planes(truth, 9) - truth)) < 1e-3


def test_the_plain_filter_bends_them():
    x, y = positions()
    truth = (100 + 0.3 * x - 0.2 * y).astype(np.float32)
    assert np.abs(smooth_plain(truth, 9, 1.4, 14) - truth).max() > 0.3


@pytest.mark.parametrize("height_px", [4.0, 8.0])
def test_steps_are_kept_and_noise_falls(height_px):
    x, y = positions()
    truth = 40 + 0.1 * y + height_px * (x > 60)
    values = noisy(truth)
    error = np.abs(smooth_planes(values, 9, sigma_distance_px=14) - truth)
    assert error.mean() < 0.5 * np.abs(values - truth).mean()
    assert error[:, 56:65].max() < 0.25, "nothing is mixed at the step"


def test_the_published_filter_would_mix_both_sides_of_a_step_of_4_px():
    x, y = positions()
    truth = 40 + 0.1 * y + 4.0 * (x > 60)
    error = np.abs(smooth_plain(noisy(truth)) - truth)
    assert error[30:50, 50:70].mean() > 0.5


def test_a_ball_is_not_flattened():
    x, y = positions()
    squared = ((x - 60) ** 2 + (y - 40) ** 2) / 57**2
    truth = 40 + 6.5 * np.sqrt(1 - np.minimum(squared, 0.8))
    values = noisy(truth)
    inside = squared < 0.5
    error = {
        f.__name__: np.abs(f(values, 9) - truth)[inside] for f in (smooth_planes, smooth_plain)
    }
    assert error["smooth_planes"].mean() < 0.03
    assert error["smooth_planes"].mean() < np.abs(values - truth)[inside].mean()
    assert error["smooth_planes"].mean() < error["smooth_plain"].mean() + 0.005


def test_a_lone_line_and_a_lone_pixel_keep_their_values():
    values = np.full((20, 20), np.nan, np.float32)
    values[5] = 10 + 0.5 * np.arange(20)
    values[15, 15] = 3.0
    found = smooth_planes(values, 9)
    assert np.abs(found - values)[np.isfinite(values)].max() < 1e-4


@pytest.mark.parametrize(("window", "sigma"), [(4, 1.0), (0, 1.0), (5, 0.0)])
def test_impossible_filters(window, sigma):
    with pytest.raises(Misuse, match=r"window_px must be odd|sigmas must be above 0"):
        smooth_planes(np.zeros((4, 4), np.float32), window, sigma)


def test_the_window_follows_the_width_of_the_image():
    assert [scaled_window(w) for w in (4112, 2056, 1168, 640, 10)] == [35, 17, 9, 5, 3]


def reference_match(disparity, other, sign, threshold):
    words = np.full(disparity.shape, "", object)
    height, width = disparity.shape
    for y in range(height):
        for x in range(width):
            d = disparity[y, x]
            if np.isnan(d):
                continue
            at = x + sign * float(d)
            near = [int(np.floor(at)), int(np.floor(at)) + 1]
            differences = [
                other[y, u] - d for u in near if 0 <= u < width and np.isfinite(other[y, u])
            ]
            if not -0.5 <= at <= width - 0.5 or not differences:
                words[y, x] = "unmatched"
                continue
            best = min(differences, key=abs)
            words[y, x] = (
                "agrees" if abs(best) <= threshold else "nearer" if best > 0 else "farther"
            )
    return words


@given(st.data(), st.sampled_from(["left", "right"]), st.sampled_from([0.5, 1.0, 2.5]))
def test_matches_are_those_of_the_reference(data, side, threshold):
    first = data.draw(MAPS)
    other = data.draw(
        hnp.arrays(np.float32, first.shape, elements=st.sampled_from([np.nan, 0, 1, 2.25, 3, 5]))
    )
    found = find_mismatches(first, other, side, threshold)
    words = reference_match(first, other, -1 if side == "left" else 1, threshold)
    for word, mask in found.items():
        assert np.array_equal(mask, words == word)


def test_views_of_two_sizes():
    with pytest.raises(WrongShape, match="maps of the same size"):
        find_mismatches(np.zeros((2, 3)), np.zeros((2, 4)), "left", 1.0)


@given(MAPS, st.sampled_from([0.5, 1.0, 3.0]))
def test_patches_are_those_of_a_flood(values, difference):
    found = patch_sizes(values, difference)
    wanted = np.zeros(values.shape, int)
    for start in zip(*np.nonzero(np.isfinite(values)), strict=True):
        seen, queue = {start}, [start]
        while queue:
            y, x = queue.pop()
            for v, u in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                inside = 0 <= v < values.shape[0] and 0 <= u < values.shape[1]
                if (v, u) in seen or not inside:
                    continue
                if abs(values[v, u] - values[y, x]) <= difference:
                    seen.add((v, u))
                    queue.append((v, u))
        wanted[start] = len(seen)
    assert np.array_equal(found, wanted)
