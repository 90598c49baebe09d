import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from depthgauge.capture.audit import error_figures as errors
from depthgauge.capture.audit.error_bars import bar_figures
from depthgauge.capture.exact_truth import ExactTruth


def truth_of(disparity, visible=None, lit=None) -> ExactTruth:
    shape = disparity.shape
    yes = np.ones(shape, bool)
    numbers = np.zeros(shape, np.int32)
    return ExactTruth(
        disparity, np.ones(shape, np.float32), np.zeros(shape, np.float32),
        yes if visible is None else visible, yes if lit is None else lit,
        numbers, numbers, numbers, numbers,
    )  # fmt: skip


def test_figures_by_hand():
    found = errors.error_figures(np.array([0.5, -1.5, 3.0, np.nan, 0.0]))
    assert found["pixels"] == 4
    assert found["mean_abs_px"] == 1.25
    assert found["median_abs_px"] == 1.0
    assert found["rms_px"] == pytest.approx(np.sqrt((0.25 + 2.25 + 9) / 4))
    assert found["bias_px"] == 0.5
    assert found["bad_2_percent"] == 25.0
    nothing = errors.error_figures(np.array([np.nan]))
    assert nothing["pixels"] == 0
    assert nothing["mean_abs_px"] is nothing["bad_2_percent"] is None


def test_exactly_two_pixels_off_is_not_bad():
    assert errors.error_figures(np.array([2.0, -2.0, 2.001]))["bad_2_percent"] == pytest.approx(
        100 / 3
    )


@given(arrays(np.float32, (5, 7), elements=st.floats(-5, 5, width=32)), st.integers(0, 2**35 - 1))
def test_parts_add_up(error, bits):
    kept = np.array([(bits >> n) & 1 for n in range(35)], bool).reshape(5, 7)
    error = np.where(kept, error, np.float32(np.nan))
    exact = truth_of(np.ones((5, 7), np.float32))
    near = np.zeros((5, 7), bool)
    half = np.zeros((5, 7), bool)
    half[:, :3] = True
    both = [errors.map_figures(error, exact, near, part) for part in (half, ~half)]
    whole = errors.map_figures(error, exact, near)
    assert whole["pixels"] == kept.sum() == sum(part["pixels"] for part in both)
    assert whole["kept_percent"] == pytest.approx(100 * kept.mean())
    if all(part["pixels"] for part in both):
        total = sum(part["mean_abs_px"] * part["pixels"] for part in both)
        assert whole["mean_abs_px"] == pytest.approx(total / whole["pixels"], abs=1e-9)


def test_only_what_could_be_kept_is_asked_for():
    disparity = np.ones((1, 4), np.float32)
    exact = truth_of(
        disparity, visible=np.array([[True, True, False, True]]),
        lit=np.array([[True, True, True, False]]),
    )  # fmt: skip
    error = np.array([[0.1, np.nan, 0.3, 0.4]], np.float32)
    near = np.array([[True, False, True, False]])
    found = errors.map_figures(error, exact, near)
    assert found["kept_percent"] == 50.0  # of the first two
    assert found["kept_near_edges_percent"] == found["labelled_near_edges_percent"] == 100.0
    assert found["occluded"]["mean_abs_px"] == pytest.approx(0.3)
    assert found["pixels"] == 3  # all kept pixels have errors, occluded and dark ones too


def test_near_edges_only_what_is_right_counts_as_kept():
    """Two of four pixels have a label, and one of those is off by 3 px."""
    exact = truth_of(np.ones((1, 4), np.float32))
    error = np.array([[0.1, 3.0, np.nan, np.nan]], np.float32)
    found = errors.map_figures(error, exact, np.ones((1, 4), bool))
    assert found["labelled_near_edges_percent"] == 50.0
    assert found["kept_near_edges_percent"] == 25.0


def test_thin_structures_by_hand():
    """A bar of 3 px before a wall; a block of 20 px is not thin."""
    truth = np.full((40, 60), 5, np.float32)
    truth[:, 10:13] = 9
    truth[8:28, 30:50] = 9
    thin = errors.thin_structures(truth)
    assert thin[20].tolist() == [10 <= x < 13 for x in range(60)]
    error = np.zeros(truth.shape, np.float32)
    error[:, 11] = np.nan
    error[:20, 12] = -4
    found = errors.thin_figures(error, truth_of(truth), thin)
    assert found["pixels"] == thin.sum() == 120
    assert found["kept_and_right_percent"] == 50.0
    assert found["labelled_percent"] == pytest.approx(100 * 80 / 120)
    assert found["bad_2_percent"] == 25.0


def test_the_worst_object_has_fifty_labels():
    exact = truth_of(np.ones((10, 30), np.float32))
    numbers = np.zeros((10, 30), np.int32)
    numbers[:, 10:20], numbers[:4, 20:] = 1, 2
    error = np.zeros((10, 30), np.float32)
    error[0, 10:20] = 3  # 10 % of object 1
    error[:4, 20:] = 5  # all of object 2, which has 40 pixels
    found = errors.by_label(error, exact, np.zeros((10, 30), bool), numbers)
    worst = errors.worst_object(found)
    assert worst == {"object": "1", "pixels": 100, "bad_2_percent": 10.0, "kept_percent": 100.0}
    assert errors.worst_object({"2": found["2"]}) is None


def test_near_discontinuities_is_three_pixels():
    truth = np.full((9, 20), 5, np.float32)
    truth[:, 10:] = 7
    assert errors.near_discontinuities(truth)[4].tolist() == [6 <= x <= 13 for x in range(20)]
    truth[:, 10:] = 6  # a jump of exactly 1 px is none
    assert not errors.near_discontinuities(truth).any()


def test_masks_are_judged_where_there_are_labels():
    exact = truth_of(np.ones((1, 4), np.float32), visible=np.array([[True, True, False, False]]))
    disparity = np.array([[1, 1, 1, np.nan]], np.float32)
    found = errors.mask_figures(np.array([[True, False, True, True]]), disparity, exact)
    assert found == {"passed_but_hidden_percent": 50.0, "seen_but_refused_percent": 50.0}


def test_agreement_leaves_out_what_has_no_surface():
    labels, truth = np.array([[0, 1, 2]], np.int32), np.array([[0, 3, -1]], np.int32)
    assert errors.agreement_percent(labels, truth) == 50.0


def normal(sigma, seed=0):
    return (sigma * np.random.default_rng(seed).standard_normal(sigma.shape)).astype(np.float32)


def test_honest_bars_cover_what_they_say():
    sigma = np.geomspace(0.02, 1.0, 200_000).reshape(400, 500)
    found = bar_figures(normal(sigma), (sigma**2).astype(np.float32))
    assert found["within_1_sigma_percent"] == pytest.approx(68.27, abs=0.4)
    assert found["within_2_sigma_percent"] == pytest.approx(95.45, abs=0.2)
    assert found["rms_z"] == pytest.approx(1.0, abs=0.01)
    assert found["factor_68"] == pytest.approx(1.0, abs=0.01)
    assert len(found["table"]) == 10
    assert sum(row["pixels"] for row in found["table"]) == sigma.size
    for row in found["table"]:
        assert row["rms_error_px"] == pytest.approx(row["sigma_px"], rel=0.03)
        assert row["robust_error_px"] == pytest.approx(row["sigma_px"], rel=0.06)


def test_bars_that_are_too_small_are_told_by_how_much():
    sigma = np.full((200, 200), 0.3)
    found = bar_figures(normal(sigma), np.full((200, 200), 0.01, np.float32))
    assert found["factor_68"] == pytest.approx(3.0, abs=0.05)
    assert len(found["table"]) == 1


def test_pixels_without_variance_are_counted():
    error = np.array([[0.1, 0.2, np.nan, 0.4]], np.float32)
    variance = np.array([[0.01, np.nan, 0.01, 0.0]], np.float32)
    found = bar_figures(error, variance)
    assert (found["pixels"], found["without_variance"]) == (1, 2)
    nothing = bar_figures(error, np.full((1, 4), np.nan, np.float32))
    assert nothing == {"pixels": 0, "without_variance": 3, "table": []}
