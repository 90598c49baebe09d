"""R-SSIM beside scikit-image, the earth mover's distance beside SciPy, conflicts beside a loop."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import make_pair, seeds
from scipy.stats import wasserstein_distance
from skimage.metrics import structural_similarity

import depthgauge as dg
from depthgauge.errors import BadScoreId
from depthgauge.metrics import METRICS
from depthgauge.metrics.structure.histograms import earth_movers_distance, tiles
from depthgauge.metrics.structure.neighbours import surrounded
from depthgauge.metrics.structure.range_similarity import similarities, whole_windows


def value(name, estimate, truth, region=None, missing="bad", **params):
    m = METRICS[name]
    bound = m.bind(params)
    return m.finish(m.measure(estimate, truth, region, **bound), missing, **bound)


def surface(seed, size=(40, 50)):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0 : size[0], 0 : size[1]]
    return (20 + 5 * np.sin(x / 7 + rng.random()) + y / 9 + rng.normal(0, 0.3, size)).astype("f4")


# --- R-SSIM -------------------------------------------------------------------------------------


def by_windows(x, g, window, c1, c2):
    """Equation 3.12 window by window."""
    at = np.arange(window) - window // 2
    w = np.exp(-0.5 * (at / 1.5) ** 2)
    w = np.outer(w, w) / np.outer(w, w).sum()
    found = np.zeros((x.shape[0] - window + 1, x.shape[1] - window + 1))
    for i, j in np.ndindex(*found.shape):
        a, b = (v[i : i + window, j : j + window].astype(float) for v in (x, g))
        ma, mb = (w * a).sum(), (w * b).sum()
        va, vb = (w * (a - ma) ** 2).sum(), (w * (b - mb) ** 2).sum()
        cov = (w * (a - ma) * (b - mb)).sum()
        depth = (2 * ma * mb + c1) / (ma**2 + mb**2 + c1)
        found[i, j] = depth * (2 * cov + c2) / (va + vb + c2)
    return found


@given(seed=seeds)
def test_r_ssim_is_the_equation(seed):
    x, g = surface(seed, (10, 11)), surface(seed + 1, (10, 11))
    expected = by_windows(x, g, 9, 1e-12, 1e-6).mean()
    assert value("r_ssim", x, g) == pytest.approx(expected, abs=1e-6)


def test_r_ssim_is_that_of_scikit_image_with_its_constants():
    x, g = surface(1), surface(2)
    _, full = structural_similarity(
        x.astype(float), g.astype(float), data_range=1.0, K1=1e-6, K2=1e-3, full=True,
        gaussian_weights=True, sigma=1.5, use_sample_covariance=False, win_size=11,
    )  # fmt: skip
    found = similarities(x, g, 11, 1e-12, 1e-6)
    assert found == pytest.approx(full[5:-5, 5:-5], abs=1e-8)


@given(seed=seeds)
def test_r_ssim_of_equal_maps_is_1_and_mirrored_structure_is_negative(seed):
    g = surface(seed)
    assert value("r_ssim", g, g) == pytest.approx(1)
    assert value("ms_r_ssim", g, g) == pytest.approx(1)
    assert value("r_ssim", 60 - g, g) < 0
    assert value("ms_r_ssim", 60 - g, g) == 0


def test_flat_windows_are_equal():
    g = np.full((20, 20), 37.25, np.float32)
    assert value("r_ssim", g, g) == pytest.approx(1)
    assert value("r_ssim", g + np.float32(1e-5), g) == pytest.approx(1, abs=1e-3)


@given(seed=seeds)
def test_windows_with_gaps_cost_the_worst_or_are_left_out(seed):
    rng = np.random.default_rng(seed)
    g, x = surface(seed, (14, 17)), surface(seed + 1, (14, 17))
    x[rng.random(x.shape) < 0.01] = np.nan
    g[rng.random(g.shape) < 0.005] = np.nan
    filled = [np.nan_to_num(v) for v in (x, g)]
    full = by_windows(*filled, 9, 1e-12, 1e-6)
    asked, whole = np.zeros(full.shape, bool), np.zeros(full.shape, bool)
    for i, j in np.ndindex(*full.shape):
        asked[i, j] = np.isfinite(g[i : i + 9, j : j + 9]).all()
        whole[i, j] = asked[i, j] and np.isfinite(x[i : i + 9, j : j + 9]).all()
    expected = np.where(whole, full, -1)[asked]
    if not expected.size:
        return
    assert value("r_ssim", x, g) == pytest.approx(expected.mean(), abs=1e-6)
    skipped = value("r_ssim", x, g, missing="skip")
    assert skipped == pytest.approx(
        full[whole].mean() if whole.any() else math.nan, abs=1e-6, nan_ok=True
    )
    shown = METRICS["r_ssim"].error_map(x, g, window=9, noise=0.001)
    assert shown[np.isfinite(shown)].mean() == pytest.approx(expected.mean(), abs=1e-6)


def test_whole_windows():
    known = np.ones((6, 7), bool)
    known[2, 3] = False
    expected = np.zeros((4, 5), bool)
    for i, j in np.ndindex(4, 5):
        expected[i, j] = known[i : i + 3, j : j + 3].all()
    assert np.array_equal(whole_windows(known, 3), expected)
    assert whole_windows(np.ones((2, 9), bool), 3).shape == (0, 7)


def test_several_scales_multiply_and_small_maps_have_fewer():
    x, g = surface(1), surface(2)
    single = value("ms_r_ssim", x, g, scales=1)
    depth = by_windows(x, g, 9, 1e-12, 1e300).mean()
    shape = by_windows(x, g, 9, 1e300, 1e-6).mean()
    assert single == pytest.approx(depth * shape, rel=1e-6)
    half = [v.reshape(20, 2, 25, 2).mean(axis=(1, 3)) for v in (x, g)]
    second = by_windows(*half, 9, 1e300, 1e-6).mean()
    assert value("ms_r_ssim", x, g, scales=2) == pytest.approx(single * second, rel=1e-5)
    assert value("ms_r_ssim", x, g, scales=9) == value("ms_r_ssim", x, g, scales=3)


def test_a_window_without_a_middle_is_refused():
    with pytest.raises(BadScoreId, match="window is 8 but must be odd"):
        value("r_ssim", surface(1), surface(1), window=8)
    with pytest.raises(BadScoreId, match="scales is 0"):
        value("ms_r_ssim", surface(1), surface(1), scales=0)


@pytest.mark.parametrize("name", ["r_ssim", "ms_r_ssim", "histogram_error", "neighbour_conflicts"])
def test_empty_regions_and_nothing_estimated(name):
    m, g = METRICS[name], surface(0)
    g[::9, ::9] = np.nan if name == "neighbour_conflicts" else g[::9, ::9]
    state = m.measure(g, g, np.zeros(g.shape, bool), **m.bind({}))
    assert (state.count, state.missing) == (0, 0)
    assert math.isnan(m.finish(state, **m.bind({})))
    state = m.measure(np.full_like(g, np.nan), g, None, **m.bind({}))
    assert state.count == 0
    assert state.missing > 0
    worst = {"r_ssim": -1, "ms_r_ssim": 0}.get(name, math.nan)
    assert m.finish(state, **m.bind({})) == pytest.approx(worst, nan_ok=True)


# --- histograms ---------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=40),
    st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=40),
)
def test_the_distance_is_that_of_scipy(first, second):
    found = earth_movers_distance(np.array(first), np.array(second))
    assert found == pytest.approx(wasserstein_distance(first, second), abs=1e-9)
    back = earth_movers_distance(np.array(second), np.array(first))
    assert found == pytest.approx(back, abs=1e-9)


@given(seed=seeds, cuts=st.integers(0, 4), width=st.sampled_from([0.0, 0.5, 4.0]))
def test_the_histogram_error_is_the_mean_over_tiles(seed, cuts, width):
    estimate, truth = make_pair(seed)
    found = []
    for rows, columns in tiles(truth.shape, cuts):
        x, g = (v[rows, columns][np.isfinite(v[rows, columns])] for v in (estimate, truth))
        if width:
            x, g = ((np.floor(v.astype(float) / width) + 0.5) * width for v in (x, g))
        if x.size and g.size:
            found.append(wasserstein_distance(x, g))
    expected = np.mean(found)
    assert value("histogram_error", estimate, truth, cuts=cuts, bin_width=width) == pytest.approx(
        expected, rel=1e-5
    )


@pytest.mark.parametrize("cuts", range(7))
def test_tiles_cover_the_map_once(cuts):
    covered = np.zeros((13, 21), int)
    for tile in tiles(covered.shape, cuts):
        covered[tile] += 1
    assert (covered == 1).all()
    assert len(list(tiles((64, 64), cuts))) == 2**cuts


def test_values_need_not_be_at_the_same_pixels():
    truth, estimate = np.full((2, 10, 10), np.nan, np.float32)
    truth[::2, ::2], estimate[1::2, 1::2] = 5, 8
    assert value("histogram_error", estimate, truth) == 3
    assert math.isnan(value("histogram_error", estimate, truth, estimates="region"))
    estimate[:5] = np.nan
    m = METRICS["histogram_error"]
    state = m.measure(estimate, truth, None, **m.bind({}))
    assert (state.count, state.missing) == (10, 15)


def test_too_many_cuts_are_refused():
    with pytest.raises(BadScoreId, match="cuts is 17 but at most 16"):
        value("histogram_error", surface(0), surface(0), cuts=17)


# --- neighbours of a sparse truth ---------------------------------------------------------------


def inside(p, corners):
    """Whether a point is in a triangle, its border included."""
    (a, b, c), signs = corners, []
    for u, v in ((a, b), (b, c), (c, a)):
        signs.append((v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0]))
    return all(s >= 0 for s in signs) or all(s <= 0 for s in signs)


@given(seed=seeds)
def test_every_pixel_has_three_points_around_it(seed):
    """The two values are of three points whose triangle holds the pixel and no other point."""
    rng = np.random.default_rng(seed)
    truth = np.full((6, 6), np.nan, np.float32)
    places = rng.permutation(36)[:6]
    truth.ravel()[places] = rng.permutation(100)[:6]
    points = np.argwhere(np.isfinite(truth))
    pixels, least, most = surrounded(truth, np.isfinite(truth), 100)
    for pixel, low, high in zip(pixels, least, most, strict=True):
        at = divmod(int(pixel), 6)
        both = [p for p in points if truth[tuple(p)] in (low, high)]
        others = [p for p in points if low < truth[tuple(p)] < high]
        assert any(inside(at, [*both, third]) for third in others)


def test_a_conflict_is_outside_of_all_three_values():
    truth = np.full((20, 20), np.nan, np.float32)
    truth[::4, :10:3], truth[::4, 10::3] = 5, 9
    assert value("neighbour_conflicts", np.full((20, 20), 7, "f4"), truth) < 100
    right = np.where(np.arange(20) < 10, 5, 9) * np.ones((20, 1))
    assert value("neighbour_conflicts", right.astype("f4"), truth) == 0
    off = value("neighbour_conflicts", np.full((20, 20), 11, "f4"), truth)
    assert off == 100
    assert value("neighbour_conflicts", np.full((20, 20), 10, "f4"), truth) < 100


def test_long_triangles_and_points_on_a_line_say_nothing():
    truth = np.full((50, 50), np.nan, np.float32)
    truth[[0, 0, 49, 49], [0, 49, 0, 49]] = 5
    assert math.isnan(value("neighbour_conflicts", np.full((50, 50), 5, "f4"), truth))
    assert value("neighbour_conflicts", np.full((50, 50), 5, "f4"), truth, reach_px=80) == 0
    line = np.full((9, 9), np.nan, np.float32)
    line[4, ::2] = 5
    assert math.isnan(value("neighbour_conflicts", np.full((9, 9), 5, "f4"), line))
    np.fill_diagonal(line, 5)
    line[4, ::2] = np.nan
    np.fill_diagonal(line, 5)
    assert math.isnan(value("neighbour_conflicts", np.full((9, 9), 5, "f4"), line))


def test_a_map_of_conflicts_has_the_score_as_its_mean():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random((30, 30)) < 0.2, 5 + rng.random((30, 30)), np.nan).astype("f4")
    estimate = (5 + rng.normal(0, 2, (30, 30))).astype("f4")
    estimate[rng.random((30, 30)) < 0.3] = np.nan
    m = METRICS["neighbour_conflicts"]
    shown = m.error_map(estimate, truth, **m.bind({}))
    assert shown[np.isfinite(shown)].mean() == pytest.approx(
        value("neighbour_conflicts", estimate, truth)
    )
    assert not np.isfinite(shown[np.isfinite(truth)]).any()


def test_far_away_maps_have_a_multi_scale_similarity():
    """Only ratios count, so 100 km are like 100 m."""
    y, x = np.mgrid[0:40, 0:48]
    truth = (100 + 5 * np.sin(x / 4) + y).astype(np.float32)
    estimate = truth + np.random.default_rng(2).normal(0, 0.5, truth.shape).astype(np.float32)
    near, far = (
        next(iter(dg.score(k * estimate, k * truth, "ms_r_ssim:2", check=False).values())).value
        for k in (1, 1000)
    )
    assert far == pytest.approx(near, abs=1e-6)
