"""Planar and curved surfaces on maps whose second derivatives are known."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry import Surfaces, curvature, find_surfaces, fitted_curvature

NAN = np.nan
Y, X = np.mgrid[0:60, 0:80].astype(np.float64)


def least_squares(values, window):
    """The fitted curvature, pixel by pixel with NumPy's solver."""
    radius = window // 2
    v, u = np.mgrid[-radius : radius + 1, -radius : radius + 1].reshape(2, -1)
    terms = np.stack([np.ones_like(u), u, v, u * u / 2, u * v, v * v / 2], axis=1)
    out = np.full(values.shape, NAN)
    for y in range(radius, values.shape[0] - radius):
        for x in range(radius, values.shape[1] - radius):
            patch = values[y - radius : y + radius + 1, x - radius : x + radius + 1]
            if np.isfinite(patch).all():
                xx, xy, yy = np.linalg.lstsq(terms, patch.reshape(-1), rcond=None)[0][3:]
                out[y, x] = abs(np.linalg.eigvalsh([[xx, xy], [xy, yy]])).max()
    return out


# --- fitted curvature


@pytest.mark.parametrize("window", [3, 5, 9])
def test_it_is_that_of_the_quadratic_of_least_squares(window):
    rng = np.random.default_rng(window)
    values = rng.normal(20, 3, (16, 19)).astype(np.float32)
    values[4, 5] = NAN
    found = fitted_curvature(values, window)
    expected = least_squares(values.astype(np.float64), window)
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_it_is_exact_on_quadratics():
    values = 3 + 2 * X - Y + 0.02 * X * X - 0.03 * X * Y + 0.01 * Y * Y
    expected = abs(np.linalg.eigvalsh([[0.04, -0.03], [-0.03, 0.02]])).max()
    found = fitted_curvature(values, 7)
    np.testing.assert_allclose(found[3:-3, 3:-3], expected, rtol=1e-3)
    assert np.isnan(found[:3]).all()
    assert np.isnan(found[:, -3:]).all()


def test_the_larger_channel_counts():
    flow = np.stack([0.05 * X * X, 0.2 * Y * Y], -1)
    np.testing.assert_allclose(fitted_curvature(flow, 5)[2:-2, 2:-2], 0.4, rtol=1e-3)
    flow = flow[..., ::-1].copy()
    flow[20, 20, 1] = NAN
    found = fitted_curvature(flow, 5)
    assert np.isnan(found[18:23, 18:23]).all()
    assert found[10, 10] == pytest.approx(0.4, rel=1e-3)


def test_its_noise_is_as_the_docs_say():
    noise = np.random.default_rng(0).normal(size=(300, 300))
    median = {w: float(np.nanmedian(fitted_curvature(noise, w))) for w in (5, 9, 15)}
    assert median == pytest.approx({5: 0.29, 9: 0.047, 15: 0.0098}, rel=0.1)
    differences = float(np.nanmedian(abs(curvature(noise)).max(-1)))
    assert differences > 50 * median[9]


@pytest.mark.parametrize("window", [0, 1, 4, -3, 101, 10**12 + 1])
def test_windows_that_show_no_bend_are_refused(window):
    with pytest.raises(Misuse, match=f"window is {window}"):
        fitted_curvature(np.zeros((9, 9)), window)


def test_a_map_smaller_than_the_window_has_none():
    assert np.isnan(fitted_curvature(np.zeros((1, 30)), 9)).all()


# --- surfaces


def test_planes_are_planar_up_to_the_border():
    found = find_surfaces(5 + 0.3 * X - 0.2 * Y, "disparity")
    inner = np.zeros(X.shape, bool)
    inner[4:-4, 4:-4] = True
    assert (found.planar == inner).all()
    assert (found.continuous == inner).all()
    assert not found.curved.any()


def test_near_a_jump_nothing_is_continuous():
    truth = np.where(X < 40, 5.0, 9.0)
    found = find_surfaces(truth, "disparity", window=5)
    inner = (X >= 2) & (X < 78) & (Y >= 2) & (Y < 58)
    # The pixels of the jump are columns 39 and 40; windows reach two columns farther.
    assert (found.continuous == (inner & ((X < 37) | (X > 42)))).all()


def test_missing_truth_leaves_its_surroundings_open():
    truth = np.full(X.shape, 5.0)
    truth[30, 40] = NAN
    found = find_surfaces(truth, "disparity", window=7)
    hole = (abs(X - 40) <= 3) & (abs(Y - 30) <= 3)
    assert not found.continuous[hole].any()
    assert found.planar[20, 20]


def test_a_ball_is_curved_and_its_wall_planar():
    distance = np.hypot(X - 40, Y - 30)
    ball = 10 + 0.4 * np.sqrt(np.maximum(0, 30.0**2 - distance**2))
    truth = np.where(distance < 20, ball, 1.0)
    found = find_surfaces(truth, "disparity")
    on_ball, on_wall = distance < 12, distance > 28
    assert found.curved[on_ball].all()
    inner = (X >= 4) & (X < 76) & (Y >= 4) & (Y < 56)
    assert found.planar[on_wall & inner].all()
    assert not found.continuous[(distance > 17) & (distance < 23)].any()


def test_a_crease_is_curved_or_broken_by_how_sharp_it_is():
    gentle = find_surfaces(0.1 * abs(X - 40), "disparity")
    assert gentle.curved[30, 40]
    sharp = find_surfaces(0.9 * abs(X - 40), "disparity")
    assert not sharp.continuous[30, 40]
    assert sharp.planar[30, 20]


def test_thresholds_include_themselves():
    truth = 0.005 * X * X
    assert find_surfaces(truth, "disparity", flat=0.0101, bend=0.05).planar[30, 40]
    assert find_surfaces(truth, "disparity", flat=0.0099, bend=0.0101).curved[30, 40]
    assert not find_surfaces(truth, "disparity", flat=0.001, bend=0.0099).continuous[30, 40]


def test_slanted_planes_are_planar_in_depth_too():
    # A floor: disparity is linear in y, depth is not.
    depth = 40 / (2 + 0.5 * Y)
    found = find_surfaces(depth, "depth", jump=10.0)
    inner = (X >= 4) & (X < 76) & (Y >= 4) & (Y < 56)
    assert found.planar[inner].all()
    assert not find_surfaces(depth, "disparity", jump=10.0).planar[:20].any()


def test_a_dent_in_a_wall_bends_by_as_much_in_depth():
    depth = 5 + 0.004 * ((X - 40) ** 2 + (Y - 30) ** 2) * (np.hypot(X - 40, Y - 30) < 9)
    found = find_surfaces(depth, "depth", jump=2.0, bend=0.0082, flat=0.0078, window=5, wide=5)
    assert found.curved[30, 40]


def test_depth_that_is_not_positive_is_no_surface():
    depth = np.full((20, 20), 2.0)
    depth[10, 10] = 0
    found = find_surfaces(depth, "depth", jump=5.0)
    assert not found.continuous[6:15, 6:15].any()
    assert found.planar[5, 5]


def test_flow_bends_where_one_of_its_channels_does():
    flow = np.stack([0.1 * X, 0.01 * Y * Y], -1)
    found = find_surfaces(flow, "flow")
    assert found.curved[30, 40]
    assert find_surfaces(np.stack([0.1 * X, 0.2 * Y], -1), "flow").planar[30, 40]


@pytest.mark.parametrize("truth", [np.full((20, 20), NAN), np.ones((1, 40)), np.ones((5, 5))])
def test_nothing_to_find(truth):
    found = find_surfaces(truth, "disparity")
    assert not (found.continuous | found.planar | found.curved).any()


def test_continuous_is_planar_or_curved():
    rng = np.random.default_rng(1)
    truth = np.cumsum(rng.normal(0, 0.02, X.shape), axis=1)
    found = find_surfaces(truth, "disparity")
    assert found.planar.any()
    assert found.curved.any()
    assert (found.continuous == (found.planar | found.curved)).all()
    assert not (found.planar & found.curved).any()


def test_a_wide_window_only_makes_planar_what_looks_bent_in_a_small_one():
    truth = np.cumsum(np.random.default_rng(1).normal(0, 0.02, X.shape), axis=1)
    found, narrow = (find_surfaces(truth, "disparity", flat=0.005, wide=w) for w in (13, 9))
    bends = fitted_curvature(truth, 13)
    assert (found.continuous == narrow.continuous).all()
    wide = narrow.continuous & (bends <= 0.005)
    assert (found.planar == (narrow.planar | wide)).all()
    assert (found.planar & ~narrow.planar).any()


def test_a_part_of_the_curvature_is_that_of_the_whole():
    values = np.random.default_rng(2).normal(size=(40, 50, 2)).astype(np.float32)
    where = np.random.default_rng(3).random((40, 50)) < 0.1
    where[10:20] = False
    part, whole = fitted_curvature(values, 5, where), fitted_curvature(values, 5)
    np.testing.assert_array_equal(part, np.where(where, whole, NAN))
    with pytest.raises(WrongShape, match="the mask is 4x4"):
        fitted_curvature(values, 5, np.zeros((4, 4), bool))


def test_real_truth_has_its_floor_planar(shared):
    path = shared("data/middlebury-motorcycle/motorcycle_disp.npz")
    truth = np.load(path)["arr_0"]
    truth[~np.isfinite(truth)] = NAN
    found = find_surfaces(truth, "disparity")
    floor = np.zeros(truth.shape, bool)
    floor[420:490, 250:700] = True
    assert found.planar[floor & found.continuous].mean() > 0.93
    left = np.zeros(truth.shape, bool)
    left[330:490, :150] = True
    # Errors of the truth bend this part of the floor in streaks.
    narrow = find_surfaces(truth, "disparity", wide=9)
    assert narrow.curved[left & narrow.continuous].mean() > 0.25
    assert found.curved[left & found.continuous].mean() < 0.05
    assert (found.continuous == narrow.continuous).all()
    tank = np.zeros(truth.shape, bool)
    tank[185:215, 330:420] = True
    assert found.curved[tank].mean() > 0.6


def test_threads_change_nothing(on_threads):
    truth = np.random.default_rng(1).normal(size=(120, 130)).cumsum(axis=0) * 0.02
    one, *more = on_threads(lambda: find_surfaces(truth, "disparity"))
    for many in more:
        for name in Surfaces.__slots__:
            assert getattr(one, name).tobytes() == getattr(many, name).tobytes()


def test_parameters_that_mean_nothing_are_refused():
    with pytest.raises(Misuse, match="flat is 2 and bend 1"):
        find_surfaces(np.zeros((9, 9)), "disparity", flat=2.0, bend=1.0)
    with pytest.raises(Misuse, match="window is 12"):
        find_surfaces(np.zeros((9, 9)), "disparity", wide=12)
    with pytest.raises(Misuse, match="jump is -1"):
        find_surfaces(np.zeros((9, 9)), "disparity", jump=-1.0)
    with pytest.raises(WrongShape, match=r"found \(9,\)"):
        find_surfaces(np.zeros(9), "disparity")
