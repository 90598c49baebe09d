"""Error bars: positive and finite for every label, and larger where labels are worse."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge.capture.clean import error_bars
from depthgauge.capture.clean.bar_model import SHAPE, BarModel, Line, bar_model
from depthgauge.capture.clean.error_bars import (
    Labels,
    columns_of,
    covariates,
    error_variance,
    log_sigma,
)

SIZE = (24, 40)
NAN = np.float32(np.nan)


def flat(size=SIZE, patterns=8, sigma=0.02) -> Labels:
    """Labels of a wall that both views see, 5 px away from the other border."""
    disparity = np.full(size, 5.0, np.float32)
    variance = np.full(size, sigma**2, np.float32)
    confidence = np.full(size, 0.95, np.float32)
    choice = np.full(size, np.nan, np.float32)
    return Labels(
        disparity, disparity, variance, confidence, choice, disparity, "left", patterns, 5
    )


def sigma_at(labels, place=(12, 20), **changed):
    return float(np.sqrt(error_variance(replace(labels, **changed))[place]))


VALUES = st.one_of(
    st.just(np.nan), st.floats(0, 30, width=32), st.sampled_from([0.0, 5.0, 5.25, 30.0])
)
ODD = st.one_of(
    st.sampled_from([np.nan, -1.0, 0.0, 2.0**-40, 2.0**20]), st.floats(2.0**-20, 1.0, width=32)
)


@given(st.data(), st.integers(1, 60), st.sampled_from(["left", "right"]))
def test_every_label_has_a_positive_finite_variance(data, patterns, side):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    maps = [data.draw(hnp.arrays(np.float32, shape, elements=VALUES)) for _ in range(2)]
    variance, confidence, choice = (
        data.draw(hnp.arrays(np.float32, shape, elements=ODD)) for _ in range(3)
    )
    known = np.isfinite(maps[0])
    variance = np.where(known, variance, NAN)
    labels = Labels(
        maps[0], maps[0] + NAN * ~known, variance, confidence, choice, maps[1], side, patterns, 3
    )
    found = error_variance(labels, np.full(shape, 1e-4, np.float32))
    if np.isfinite(variance).any():
        assert np.array_equal(np.isfinite(found), known)
        assert (found[known] > 0).all()
    else:
        assert np.isnan(found).all()


def test_one_pattern_gives_no_error_bars():
    labels = flat(patterns=1)
    assert np.isnan(error_variance(replace(labels, variance=labels.variance * NAN))).all()


def test_two_patterns_do_not_make_error_bars_random():
    # The difference of two values squared has one degree of freedom: own variances differ by
    # orders of magnitude between labels that are equally good.
    random = np.random.default_rng(0)
    own = (0.02 * random.normal(size=SIZE)).astype(np.float32) ** 2
    found = np.sqrt(error_variance(replace(flat(patterns=2), variance=own)))[4:-4, 10:-4]
    low, high = np.percentile(found, [16, 84])
    assert high < 1.6 * low
    low, high = np.percentile(np.sqrt(own), [16, 84])
    assert high > 5 * low


def test_worse_labels_have_larger_error_bars():
    labels = flat()
    usual = sigma_at(labels)
    assert sigma_at(labels, variance=labels.variance * 100) > 1.02 * usual
    assert sigma_at(labels, confidence=labels.confidence * 0.7) > 1.1 * usual
    assert sigma_at(labels, other=labels.other + 0.4) > 1.1 * usual
    stepped = labels.disparity.copy()
    stepped[:, 21:] += 4
    edged = replace(labels, disparity=stepped, before=stepped, other=stepped)
    # In front of an edge: windows make what is in front wider.
    assert sigma_at(edged, place=(12, 21)) > 1.5 * usual
    bent = labels.disparity + 0.05 * (np.arange(SIZE[1], dtype=np.float32) - 20) ** 2 / 2
    assert sigma_at(replace(labels, disparity=bent, before=bent, other=bent)) > 1.5 * usual


def test_both_views_have_the_same_error_bars_when_mirrored():
    random = np.random.default_rng(1)
    labels = flat()
    maps = [
        (5 + 0.05 * random.normal(size=SIZE)).astype(np.float32),
        labels.disparity,
    ]
    left = replace(labels, disparity=maps[0], before=maps[0], other=maps[1])
    right = replace(
        left, disparity=maps[0][:, ::-1], before=maps[0][:, ::-1], other=maps[1], side="right"
    )
    assert np.allclose(error_variance(left), error_variance(right)[:, ::-1], rtol=1e-4)


def test_a_row_error_counts_on_a_surface_that_is_inclined_from_row_to_row():
    labels = flat()
    down = labels.disparity + 0.2 * np.arange(SIZE[0], dtype=np.float32)[:, None]
    inclined = replace(labels, disparity=down, before=down, other=down)
    rows = np.full(SIZE, 0.3**2, np.float32)
    added = error_variance(inclined, rows) - error_variance(inclined)
    assert np.allclose(added, (0.3 * 0.2) ** 2, rtol=1e-3)
    assert np.allclose(error_variance(labels, rows), error_variance(labels))


def test_covariates_by_hand():
    labels = flat()
    disparity = labels.disparity.copy()
    disparity[:, 30:] += 2.0
    disparity[3, 3] = np.nan
    other = labels.disparity.copy()
    other[10, 15] += 0.25
    found = covariates(
        replace(labels, disparity=disparity, before=disparity + 0.5, other=other, patterns=4)
    )
    assert found["noise"][12, 20] == pytest.approx(np.log(0.02), abs=1e-5)
    assert found["moved"][12, 20] == pytest.approx(np.log(0.5), abs=1e-5)
    assert found["doubt"][12, 20] == pytest.approx(np.log(0.05), abs=1e-5)
    assert found["views"][10, 20] == pytest.approx(np.log(0.25), abs=1e-5)
    assert found["unmatched"][12, :5].all(), "these are outside of the other image"
    assert not found["unmatched"][12, 5:30].any()
    assert found["unmatched"][12, 32], "2 px nearer than the other view says"
    assert found["step"][12, 29] == pytest.approx(np.log(2.0), abs=1e-5)
    assert [found["edge"][12, x] for x in (20, 28, 29, 30, 32)] == [9, 1, 0, 0, 2]
    assert found["edge"][3, 5] == 1, "two px beside a missing label, whose neighbours are edges"
    assert found["front"][12, 29] == -0.5
    assert found["front"][12, 30] == 0.5
    assert found["middle"][12, 20] == 1, "nothing else is in the window"
    assert found["patterns"][0, 0] == pytest.approx(np.log(4), abs=1e-6)
    assert not any(np.isnan(values).any() for values in found.values())


def test_sag_is_the_bend_within_the_filters_window():
    """A parabola of curvature 0.01 leaves its tangent by 0.01 r^2 / 2."""
    labels = flat()
    bent = labels.disparity + 0.01 * (np.arange(SIZE[1], dtype=np.float32) - 20) ** 2 / 2
    bent = replace(labels, disparity=bent.astype(np.float32), before=bent, other=bent)
    for window, sag in ((1, 0.005), (5, 0.02), (9, 0.08)):
        found = covariates(replace(bent, window_px=window))["sag"]
        assert np.exp(found[12, 20]) == pytest.approx(sag, rel=0.01)
    inclined = labels.disparity + 0.2 * np.arange(SIZE[1], dtype=np.float32)
    inclined = replace(labels, disparity=inclined, before=inclined, other=inclined)
    jump = labels.disparity + 3 * (np.arange(SIZE[1]) > 20).astype(np.float32)
    jump = replace(labels, disparity=jump, before=jump, other=jump)
    for straight in (labels, inclined, jump):
        assert np.exp(covariates(straight)["sag"][12, 15]) < 1e-3


def test_small_pictures_and_large_windows_reach_farther_from_an_edge():
    labels = flat()
    stepped = labels.disparity + 3 * (np.arange(SIZE[1]) > 20).astype(np.float32)
    labels = replace(labels, disparity=stepped, before=stepped, other=stepped)
    for window, scale, reach in ((5, 1.0, 4), (5, 0.5, 6), (9, 0.5, 8)):
        found = covariates(replace(labels, window_px=window, scale=scale))
        assert found["rim"][12, 14] == pytest.approx(6 / reach)
        assert found["shrunk"][12, 14] == pytest.approx(-np.log(scale))


def test_labels_that_were_matched_in_smaller_pictures_have_larger_error_bars():
    assert sigma_at(flat(), scale=0.5) > 1.1 * sigma_at(flat())


def test_a_line_is_broken_at_its_knots_and_level_outside():
    found = {
        "noise": np.array([[-1.0, 0.0, 0.5, 2.0, 9.0]], np.float32),
        "edge": np.array([[0.0, 0.0, 3.0, 3.0, 3.0]], np.float32),
    }
    first, second = columns_of(Line("noise", (0.0, 1.0, 3.0)), found)
    assert first[0].tolist() == [0, 0, 0.5, 1, 1]
    assert second[0].tolist() == [0, 0, 0, 1, 2]
    near = columns_of(Line("noise", (0.0, 1.0, 3.0), near_edges=True), found)
    assert near[0][0] == pytest.approx([0, 0, 0.5 / np.e, 1 / np.e, 1 / np.e])


def test_the_sum_of_lines(monkeypatch):
    lines = (Line("noise", (0.0, 2.0), slopes=(0.5,)), Line("edge", (0.0, 4.0), slopes=(-0.25,)))
    model = BarModel(-3.0, lines, 0.5, 1.0, ())
    monkeypatch.setattr(error_bars, "bar_model", lambda: model)
    found = {"noise": np.float32([[1.0, 5.0]]), "edge": np.float32([[0.0, 2.0]])}
    found["sag"] = np.full((1, 2), -np.inf, np.float32)
    assert log_sigma(found)[0].tolist() == [-2.5, -2.5]
    found["sag"] = np.float32(np.log([[0.2, 4.0]]))
    expected = np.hypot(np.exp(-2.5), [0.1, 2.0])
    assert np.exp(log_sigma(found)[0]) == pytest.approx(expected, rel=1e-6)


def test_the_fitted_model_fits_its_shape():
    model = bar_model()
    assert len({line.name for line in SHAPE}) == len(SHAPE)
    for line in model.lines:
        assert len(line.slopes) == len(line.knots) - 1
        assert np.isfinite(line.slopes).all()
        assert list(line.knots) == sorted(line.knots)
    assert model.calibration > 0
    assert model.sessions
