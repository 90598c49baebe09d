"""How maps bend: hand numbers, references, what does not matter."""

import numpy as np
import pytest
from hypothesis import given
from maps import seeds
from scenes import make_scene, score, value

from depthgauge.geometry import curvature, hessian
from depthgauge.metrics.bumpiness import bend

Y, X = np.mgrid[0:20, 0:30].astype(np.float64)


def as_map(values):
    return np.asarray(values, np.float32)


FLAT, PLANE = as_map(0 * X), as_map(3 + 0.5 * X - 0.25 * Y)
BOWL = as_map(0.5 * X * X + 0.125 * Y * Y)  # bends by 1 and 0.25
SADDLE = as_map(X * Y / 4)  # eigenvalues 0.25 and -0.25


@pytest.mark.parametrize(
    ("estimate", "truth", "bumpiness", "smoothing"),
    [
        (PLANE, FLAT, 0, 0),
        (BOWL, FLAT, 100, 0),
        (FLAT, BOWL, 0, 100),
        (BOWL, BOWL + PLANE, 0, 0),
        (-BOWL, BOWL, 0, 0),
        (SADDLE, FLAT, 25, 0),
        (SADDLE, BOWL, 0, 75),
        (BOWL, SADDLE, 75, 0),
    ],
)
def test_hand_numbers(estimate, truth, bumpiness, smoothing):
    assert value("bumpiness", estimate, truth, {}) == pytest.approx(bumpiness, abs=1e-4)
    assert value("smoothing", estimate, truth, {}) == pytest.approx(smoothing, abs=1e-4)


@pytest.mark.parametrize(("estimate", "expected"), [(PLANE, 0), (BOWL, 100), (SADDLE, 25)])
def test_weak_bumpiness_by_hand(estimate, expected):
    for truth in (None, np.full_like(FLAT, np.nan), BOWL):
        assert value("weak_bumpiness", estimate, truth, {}) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("estimate", "truth", "clip", "expected"),
    [
        (PLANE, FLAT, 0.05, 0),
        (0.01 * BOWL, FLAT, 0.05, 100 * 0.01 * np.hypot(1, 0.25)),
        (BOWL, FLAT, 0.05, 5),
        (BOWL, FLAT, 0.5, 50),
        (BOWL, 0.99 * BOWL, 0.05, np.hypot(1, 0.25)),
        (0.1 * SADDLE, FLAT, 0.05, 100 * 0.025 * np.sqrt(2)),
    ],
)
def test_light_field_bumpiness_by_hand(estimate, truth, clip, expected):
    """The Frobenius norm of the error's Hessian, clipped (equation 7.1)."""
    found = value("light_field_bumpiness", as_map(estimate), as_map(truth), {}, clip=clip)
    assert found == pytest.approx(expected, rel=2e-3, abs=1e-4)


def test_an_inward_bend_counts_in_light_fields_only():
    """Equation 7.1 asks for difference, 4.4 for more."""
    assert value("bumpiness", FLAT, BOWL, {}) == 0
    assert value("light_field_bumpiness", FLAT, BOWL, {}) == pytest.approx(5)


@given(seed=seeds)
def test_agrees_with_the_eigenvalues_of_numpy(seed):
    estimate, truth, _ = make_scene(seed)

    def most(values):
        xx, xy, yy = np.moveaxis(hessian(values).astype(np.float64), -1, 0)
        matrices = np.nan_to_num(np.stack([xx, xy, xy, yy], -1).reshape(*xx.shape, 2, 2))
        bends = np.abs(np.linalg.eigvalsh(matrices)).max(-1)
        return np.where(np.isnan(xx), np.nan, bends)

    a, r = most(estimate), most(truth)
    known = np.isfinite(r)
    more = (a - r)[known & np.isfinite(a)]
    for name, sign in (("bumpiness", 1), ("smoothing", -1)):
        found, state = score(name, estimate, truth, {})
        assert (state.count, state.missing) == (more.size, known.sum() - more.size)
        assert found == pytest.approx(100 * np.maximum(0, sign * more).mean(), rel=1e-4)
    weak = value("weak_bumpiness", estimate, truth, {})
    assert weak == pytest.approx(100 * a[np.isfinite(a)].mean(), rel=1e-4)


@given(seed=seeds)
def test_light_field_bumpiness_agrees_with_a_reference(seed):
    estimate, truth, _ = make_scene(seed, noise=0.01)
    second = hessian(estimate - truth).astype(np.float64)
    norms = np.sqrt(second[..., 0] ** 2 + 2 * second[..., 1] ** 2 + second[..., 2] ** 2)
    known = np.isfinite(hessian(truth)[..., 0])
    used = np.minimum(norms[known & np.isfinite(norms)], 0.05)
    lost = int(known.sum()) - used.size
    found, state = score("light_field_bumpiness", estimate, truth, {})
    assert (state.count, state.missing) == (used.size, lost)
    assert found == pytest.approx(100 * (used.sum() + 0.05 * lost) / known.sum(), rel=1e-5)
    skipped = value("light_field_bumpiness", estimate, truth, {}, missing="skip")
    assert skipped == pytest.approx(100 * used.mean(), rel=1e-5)


def test_four_times_the_hessian_is_a_quarter_of_the_clip():
    """How the benchmark's program relates to equation 7.1, as the metric's text says."""
    estimate, truth, _ = make_scene(2, noise=0.01, missing=0, unknown=0)
    second = 4 * hessian(estimate - truth).astype(np.float64)
    norms = np.sqrt(second[..., 0] ** 2 + 2 * second[..., 1] ** 2 + second[..., 2] ** 2)
    fourfold = 100 * np.minimum(norms[1:-1, 1:-1], 0.05).mean()
    found = 4 * value("light_field_bumpiness", estimate, truth, {}, clip=0.0125)
    assert found == pytest.approx(fourfold, rel=1e-5)


def test_the_bend_is_the_larger_eigenvalue_of_the_geometry_room():
    values = np.random.default_rng(0).uniform(0, 9, (20, 30)).astype(np.float32)
    expected = np.abs(curvature(values)[..., 0])
    assert np.allclose(bend(values), expected, rtol=1e-5, equal_nan=True)


def test_a_missing_pixel_takes_eight_neighbours_and_unknown_truth_none():
    estimate, truth = FLAT.copy(), FLAT.copy()
    estimate[5, 5] = truth[12, 12] = np.nan
    _, state = score("bumpiness", estimate, truth, {})
    assert (state.count, state.missing) == (18 * 28 - 18, 9)
    _, state = score("weak_bumpiness", estimate, truth, {})
    assert (state.count, state.missing) == (18 * 28 - 9, 9)


def test_maps_show_what_is_averaged():
    from depthgauge.metrics import METRICS

    shown = METRICS["bumpiness"].error_map(BOWL, FLAT)
    assert np.isnan(shown[0]).all()
    assert shown[1:-1, 1:-1] == pytest.approx(100, abs=1e-3)
    assert METRICS["smoothing"].error_map(BOWL, FLAT)[1:-1, 1:-1] == pytest.approx(0)
    assert METRICS["weak_bumpiness"].error_map(BOWL, None)[3, 3] == pytest.approx(100)
    assert METRICS["light_field_bumpiness"].error_map(BOWL, FLAT)[3, 3] == pytest.approx(5)
