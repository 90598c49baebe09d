"""P-PSNR: by hand, against the loops that define it, with gaps and bad input."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import measured, pair, value

import depthgauge as dg
from depthgauge.errors import BadScoreId, NotGiven, WrongShape


def literal(left, right, patch, stride, least_px, most_px, cap):
    """Every patch, every shift, as the definition says it."""
    found = []
    height, width = left.shape[:2]
    for y in range(0, height - patch + 1, stride):
        for x in range(0, width - patch + 1, stride):
            source = left[y : y + patch, x : x + patch].astype(float)
            errors = [
                np.mean((source - right[y : y + patch, x - d : x - d + patch]) ** 2)
                for d in range(least_px, most_px + 1)
                if x - d >= 0
            ]
            if errors:
                found.append(-10 * math.log10(max(min(errors), 10 ** (-cap / 10))))
    return float(np.mean(found)) if found else math.nan


def test_by_hand():
    """Two patches of 2 px: the first cannot be shifted, the second is found 0.1 darker."""
    left = np.zeros((2, 4, 3), np.float32)
    left[:, 2:] = 0.5
    right = np.full((2, 4, 3), 0.9, np.float32)
    right[:, 1:3] = 0.4
    rules = {"patch": 2, "stride": 2, "least_px": 1, "most_px": 2}
    found, state = measured("p_psnr", right, right, {"left_image": left}, **rules)
    assert found == pytest.approx(20, abs=1e-5)
    assert (state.count, state.missing) == (8, 0)


def test_a_shifted_view_has_the_cap_where_the_shift_is_searched():
    left, _, _ = pair()
    items = {"left_image": left}
    assert value("p_psnr", np.roll(left, -5, axis=1), left, items, stride=32) == pytest.approx(60)
    near = value("p_psnr", np.roll(left, -1, axis=1), left, items)
    assert near < 40  # 1 px is not among 2 .. 48


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    patch=st.sampled_from([1, 3, 8, 16]),
    stride=st.sampled_from([5, 16]),
    shifts=st.sampled_from([(0, 0), (2, 9), (2, 48)]),
)
def test_equal_to_the_definition(seed, patch, stride, shifts):
    rng = np.random.default_rng(seed)
    left, right = rng.random((2, 37, 61, 3)).astype(np.float32)
    rules = {"patch": patch, "stride": stride, "least_px": shifts[0], "most_px": shifts[1]}
    found = value("p_psnr", right, left, {"left_image": left}, **rules)
    expected = literal(left, right, **rules, cap=60)
    assert found == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_threads_change_no_bit(monkeypatch):
    left, right, _ = pair(size=(160, 320))
    found = []
    for n in ("1", "3"):
        monkeypatch.setenv("DEPTHGAUGE_THREADS", n)
        found.append(value("p_psnr", right, right, {"left_image": left}))
    assert found[0] == found[1]


def test_codes_and_floats_are_the_same_left_view():
    left, right, _ = pair()
    codes = np.rint(255 * left).astype(np.uint8)
    floats = codes.astype(np.float32) / np.float32(255)
    found = [value("p_psnr", right, right, {"left_image": image}) for image in (codes, floats)]
    assert found[0] == found[1]


def test_missing_pixels_never_help():
    left, right, _ = pair()
    gaps = right.copy()
    gaps[20:30, 40:60] = np.nan
    found, state = measured("p_psnr", gaps, right, {"left_image": left})
    assert state.missing == 200
    assert found < value("p_psnr", right, right, {"left_image": left})
    nothing = np.full_like(right, np.nan)
    assert value("p_psnr", nothing, right, {"left_image": left}) == 0


def test_regions_take_whole_patches():
    left, right, _ = pair()
    region = np.zeros(right.shape[:2], bool)
    region[:32] = True
    found = value("p_psnr", right, right, {"left_image": left}, region)
    upper = {"left_image": left[:32]}
    assert found == pytest.approx(value("p_psnr", right[:32], right[:32], upper))


def test_constant_pictures_and_pictures_without_a_patch():
    grey = np.full((32, 64, 3), 0.5, np.float32)
    assert value("p_psnr", grey, grey, {"left_image": grey}) == 60
    small = grey[:10]
    found, state = measured("p_psnr", small, small, {"left_image": small})
    assert math.isnan(found)
    assert state.count == 640


def test_bad_input_is_named():
    left, right, _ = pair()
    with pytest.raises(WrongShape, match="left_image is 160x32 but the views are 160x64"):
        value("p_psnr", right, right, {"left_image": left[:32]})
    with pytest.raises(BadScoreId, match="least_px is 9 but most_px is 3"):
        value("p_psnr", right, right, {"left_image": left}, least_px=9, most_px=3)
    with pytest.raises(BadScoreId, match="stride 0"):
        value("p_psnr", right, right, {"left_image": left}, stride=0)
    with pytest.raises(NotGiven, match="left_image"):
        dg.score(right, right, "p_psnr", quantity="view")
    found = dg.score(right, right, "p_psnr", quantity="view", items={"left_image": left})
    assert found["p_psnr@all"].value > 25
