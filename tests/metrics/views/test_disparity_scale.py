"""The scale of disparities: the line by hand and by NumPy, views with a known scale, controls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import measured, pair, value

import depthgauge as dg
from depthgauge.errors import Unavailable, WrongShape
from depthgauge.metrics import METRICS
from depthgauge.metrics.views._stereo import fit_line
from depthgauge.metrics.views.disparity_scale import ScaleRules, judged_disparities
from depthgauge.types import merge_states

SIZE = (80, 200)
RULES = {"disparities": 64}


def test_line_by_hand():
    line = fit_line(np.array([1.0, 2, 3, 4]), np.array([3.0, 5, 7, 9]))
    assert line == pytest.approx((2, 1, 0, 0))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.2, 5), offset=st.floats(-20, 20))
def test_outliers_do_not_move_the_line(seed, scale, offset):
    rng = np.random.default_rng(seed)
    found = rng.uniform(0, 50, 2000)
    true = scale * found + offset + 0.02 * rng.standard_normal(2000)
    wrong = rng.random(2000) < 0.2
    spoiled = np.where(wrong, rng.uniform(0, 50, 2000), found)
    line = fit_line(spoiled, true)
    expected = np.polyfit(found[~wrong], true[~wrong], 1)
    assert line.scale == pytest.approx(expected[0], rel=0.02)
    assert line.offset == pytest.approx(expected[1], abs=0.02 * 50 * scale)
    assert line.residual_px < 1
    assert 0.1 < line.outliers < 0.3


def test_without_outliers_it_is_least_squares():
    rng = np.random.default_rng(0)
    found = rng.uniform(0, 50, 500)
    true = 1.5 * found + 3 + rng.uniform(-0.1, 0.1, 500)
    line = fit_line(found, true)
    expected = np.polyfit(found, true, 1)
    assert (line.scale, line.offset) == pytest.approx(tuple(expected), abs=1e-12)
    residuals = true - np.polyval(expected, found)
    assert line.residual_px == pytest.approx(np.sqrt(np.mean(residuals**2)))


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_views_with_a_known_scale(factor):
    """Half of the disparities: the line is twice as steep."""
    left, right, disparity = pair(size=SIZE)
    _, view, _ = pair(size=SIZE, factor=factor)
    items = {"left_image": left, "disparity": disparity}
    found = value("sd", view, right, items, **RULES)
    assert found == pytest.approx(abs(1 / factor - 1), abs=0.03)
    bias = value("sd_bias", view, right, items, **RULES)
    assert bias == pytest.approx(1 / factor - 1, abs=0.03)
    assert value("sd_offset", view, right, items, **RULES) == pytest.approx(0, abs=0.3)
    assert value("sd_valid", view, right, items, **RULES) > 90
    assert value("sd_residual", view, right, items, **RULES) < 0.3
    assert value("sd_outliers", view, right, items, **RULES) < 10


@pytest.mark.parametrize("shift", [0, 8])
def test_a_copied_or_shifted_left_view_has_no_scale(shift):
    left, right, disparity = pair(size=SIZE)
    view = np.roll(left, -shift, axis=1)
    items = {"left_image": left, "disparity": disparity}
    score = dg.score(view, right, "sd", quantity="view", items=items)["sd@all"]
    assert math.isnan(score.value)
    assert score.why == "missing"
    assert value("sd_valid", view, right, items, **RULES) > 90  # it is found, but is the same
    _, lost = measured("sd", view, right, items, **RULES)
    fine, state = measured("sd", right, right, items, **RULES)
    both = merge_states([lost, state])
    bound = METRICS["sd"].bind(RULES)
    assert math.isnan(METRICS["sd"].finish(both, "bad", **bound))
    assert METRICS["sd"].finish(both, "skip", **bound) == fine


def test_frames_that_tell_nothing_about_a_scale_are_empty():
    left, right, disparity = pair(size=SIZE)
    for none in (np.full_like(disparity, 7), np.full_like(disparity, np.nan)):
        items = {"left_image": left, "disparity": none}
        found, state = measured("sd", right, right, items, **RULES)
        assert math.isnan(found)
        assert (state.count, state.missing) == (0, 0)


def test_pixels_that_the_right_view_does_not_see_are_not_judged():
    disparity = np.full((1, 12), 1.0, np.float32)
    disparity[0, 7:9] = 4.0  # lands on 3 and 4, which hides 4 and 5
    seen = judged_disparities(disparity, None, ScaleRules())
    assert np.flatnonzero(~seen[0]).tolist() == [0, 4, 5]
    disparity[0, 10] = np.nan
    disparity[0, 11] = 300.0
    seen = judged_disparities(disparity, np.arange(12)[None] > 6, ScaleRules())
    assert np.flatnonzero(seen[0]).tolist() == [7, 8, 9]


def test_missing_pixels_and_floods():
    left, right, disparity = pair(size=SIZE)
    items = {"left_image": left, "disparity": disparity}
    nothing = np.full_like(right, np.nan)
    found, state = measured("sd", nothing, right, items, **RULES)
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, SIZE[0] * SIZE[1])
    gaps = right.copy()
    gaps[:40] = np.nan
    found, state = measured("sd_valid", gaps, right, items, **RULES)
    assert state.missing == 40 * SIZE[1]
    assert found < value("sd_valid", right, right, items, **RULES)
    grey = np.full_like(right, 0.5)
    assert math.isnan(value("sd", grey, right, items, **RULES))


def test_bad_input_is_named(tmp_path, monkeypatch):
    left, right, disparity = pair(size=SIZE)
    with pytest.raises(WrongShape, match="disparity is"):
        value("sd", right, right, {"left_image": left, "disparity": disparity[:9]})
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))
    items = {"left_image": left, "disparity": disparity}
    with pytest.raises(Unavailable, match=r"no ONNX file in .* is onnx-0123456789ab"):
        value("sd", right, right, items, matcher="onnx-0123456789ab")
