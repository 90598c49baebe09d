"""PSNR and SSIM: by hand, against scikit-image and plain NumPy, with gaps and bad input."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from views import measured, smooth, value

import depthgauge as dg
from depthgauge.errors import BadEstimate, BadScoreId, WrongShape
from depthgauge.metrics import METRICS
from depthgauge.types import merge_states

SKIMAGE = {
    "gaussian": {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False},
    "uniform": {},
}
seeds = st.integers(0, 2**32 - 1)


def two(seed, size=(24, 31), noise=0.1):
    rng = np.random.default_rng(seed)
    truth = smooth(rng, *size)
    estimate = truth + noise * rng.standard_normal(truth.shape).astype(np.float32)
    return np.clip(estimate, 0, 1).astype(np.float32), truth


def plain_ssim(first, second, window):
    """SSIM with every window written out."""
    if window == "gaussian":
        at = np.arange(-5, 6)
        line = np.exp(-0.5 * (at / 1.5) ** 2)
        weights, unbiased = np.outer(line, line), 1.0
    else:
        weights, unbiased = np.ones((7, 7)), 49 / 48
    weights = weights[..., None] / weights.sum()
    side = len(weights)
    found = []
    for y in range(first.shape[0] - side + 1):
        for x in range(first.shape[1] - side + 1):
            a, b = (v[y : y + side, x : x + side].astype(float) for v in (first, second))
            ma, mb = (np.sum(weights * v, axis=(0, 1)) for v in (a, b))
            va, vb = (np.sum(weights * (v - m) ** 2, (0, 1)) for v, m in ((a, ma), (b, mb)))
            both = np.sum(weights * (a - ma) * (b - mb), axis=(0, 1))
            above = (2 * ma * mb + 1e-4) * (2 * unbiased * both + 9e-4)
            found.append(above / ((ma**2 + mb**2 + 1e-4) * (unbiased * (va + vb) + 9e-4)))
    return float(np.mean(found))


def test_psnr_by_hand():
    truth = np.full((2, 2, 3), 0.5, np.float32)
    assert value("psnr", truth + np.float32(0.1), truth) == pytest.approx(20, abs=1e-5)
    assert value("psnr", truth, truth) == 100
    assert value("psnr", truth, truth, cap=60) == 60
    assert value("psnr", np.zeros_like(truth), np.ones_like(truth)) == 0
    one = truth.copy()
    one[0, 0, 0] = 0.0  # 0.25 / 12
    assert value("psnr", one, truth) == pytest.approx(10 * math.log10(48))


def test_ssim_by_hand():
    """Without structure only the means differ: (2 m n + c1) / (m^2 + n^2 + c1)."""
    truth = np.full((11, 11, 3), 0.5, np.float32)
    expected = (2 * 0.5 * 0.25 + 1e-4) / (0.5**2 + 0.25**2 + 1e-4)
    found, state = measured("ssim", truth / 2, truth)
    assert found == pytest.approx(expected, abs=1e-12)
    assert (state.count, state.missing) == (1, 0)
    assert value("ssim", truth, truth) == 1


@pytest.mark.parametrize("window", SKIMAGE)
@settings(max_examples=10, deadline=None)
@given(seed=seeds, noise=st.sampled_from([0.0, 0.02, 0.5]))
def test_equal_to_scikit_image_and_to_plain_numpy(window, seed, noise):
    estimate, truth = two(seed, (17, 19), noise)
    wide = [each.astype(np.float64) for each in (truth, estimate)]
    expected = structural_similarity(*wide, channel_axis=-1, data_range=1, **SKIMAGE[window])
    found = value("ssim", estimate, truth, window=window)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found == pytest.approx(plain_ssim(estimate, truth, window), abs=1e-12)
    if noise:
        expected = peak_signal_noise_ratio(*wide, data_range=1)
        assert value("psnr", estimate, truth) == pytest.approx(expected, abs=1e-12)


def test_threads_change_no_bit(monkeypatch):
    estimate, truth = two(0, (200, 700))
    found = []
    for n in ("1", "3"):
        monkeypatch.setenv("DEPTHGAUGE_THREADS", n)
        found.append(value("ssim", estimate, truth))
    assert found[0] == found[1]


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_symmetric_bounded_and_best_for_the_truth(seed):
    estimate, truth = two(seed)
    for name, best in (("psnr", 100), ("ssim", 1)):
        assert value(name, truth, truth) == pytest.approx(best, abs=1e-12)
        found = value(name, estimate, truth)
        assert METRICS[name].bounds[0] <= found <= best
        assert value(name, truth, estimate) == pytest.approx(found, abs=1e-12)


def test_missing_pixels_cost_the_most():
    estimate, truth = two(1)
    estimate[3, 4, 1] = np.nan  # one channel is enough
    found, state = measured("psnr", estimate, truth)
    present = np.ones(truth.shape[:2], bool)
    present[3, 4] = False
    squares = np.sum((estimate[present].astype(float) - truth[present]) ** 2)
    n = truth.size
    assert (state.count, state.missing) == (n // 3 - 1, 1)
    assert found == pytest.approx(-10 * math.log10((squares + 3) / n))
    skipped = value("psnr", estimate, truth, missing="skip")
    assert skipped == pytest.approx(-10 * math.log10(squares / (n - 3)))


def test_windows_with_missing_pixels_have_the_worst_ssim():
    truth = np.full((13, 15, 3), 0.5, np.float32)
    estimate = truth.copy()
    estimate[0, 0] = np.nan  # in one of 3 x 5 windows
    found, state = measured("ssim", estimate, truth)
    assert (state.count, state.missing) == (14, 1)
    assert found == pytest.approx((14 - 1) / 15)
    assert value("ssim", estimate, truth, missing="skip") == pytest.approx(1)


@pytest.mark.parametrize(("name", "worst"), [("psnr", 0), ("ssim", -1)])
def test_a_flood_of_nan(name, worst):
    truth = np.full((13, 15, 3), 0.5, np.float32)
    nothing = np.full_like(truth, np.nan)
    assert value(name, nothing, truth) == worst
    assert math.isnan(value(name, nothing, truth, missing="skip"))
    found, state = measured(name, truth, nothing)
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)


def test_regions_and_unknown_truth():
    estimate, truth = two(2)
    region = np.zeros(truth.shape[:2], bool)
    region[:, :12] = True
    half = value("psnr", estimate, truth, region=region)
    assert half == pytest.approx(value("psnr", estimate[:, :12], truth[:, :12]), abs=1e-12)
    truth[:, 20] = np.nan
    assert value("psnr", estimate, truth, region=region) == half
    # Windows that reach a pixel without truth are not judged.
    _, state = measured("ssim", estimate, truth)
    assert (state.count, state.missing) == ((24 - 10) * (15 - 5), 0)


def test_frames_are_averaged_not_merged():
    estimate, truth = two(3)
    frames = [measured("psnr", view, truth) for view in (estimate, truth)]
    merged = merge_states([state for _, state in frames])
    expected = np.mean([found for found, _ in frames])
    assert METRICS["psnr"].finish(merged, "bad", cap=100.0) == pytest.approx(expected)


def test_small_pictures_have_no_window():
    truth = np.full((10, 40, 3), 0.5, np.float32)
    found, state = measured("ssim", truth, truth)
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)


def test_bad_input_is_named():
    truth = np.full((12, 12, 3), 0.5, np.float32)
    with pytest.raises(BadEstimate, match=r"from 0 to 127\.5; divide 8-bit codes by 255"):
        value("psnr", 255 * truth, truth)
    with pytest.raises(WrongShape):
        value("psnr", truth[:5], truth)
    with pytest.raises(WrongShape, match=r"a view is \(H, W, 3\)"):
        value("ssim", truth[..., :2], truth[..., :2])
    with pytest.raises(BadScoreId, match="window is 'square' but must be one of gaussian, uniform"):
        value("ssim", truth, truth, window="square")


def test_usual_scores_of_two_views_and_their_maps():
    estimate, truth = two(4)
    scores = dg.score(estimate, truth, quantity="view")
    assert [*scores][:2] == ["psnr@all", "ssim@all"]
    assert scores["psnr@all"].unit == "dB"
    shown = METRICS["psnr"].error_map(estimate, truth, cap=100.0)
    assert shown.shape == truth.shape[:2]
    shown = METRICS["ssim"].error_map(estimate, truth, window="gaussian")
    inner = shown[np.isfinite(shown)]
    assert inner.size == scores["ssim@all"].count
    assert inner.mean(dtype=float) == pytest.approx(scores["ssim@all"].value, abs=1e-6)
