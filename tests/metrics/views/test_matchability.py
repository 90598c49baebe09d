"""E_Match: by hand, against plain loops, on controls, and with bad input."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import measured, pair, smooth, value

import depthgauge as dg
from depthgauge.errors import Unavailable
from depthgauge.metrics.views._keypoints import Features, count_shared, match_features
from depthgauge.metrics.views.matchability import jaccard_error

SIZE = (96, 160)


def features(points, words):
    return Features(np.array(points, float), np.array(words, np.float32))


def test_matches_by_hand():
    left = features([(10, 5), (20, 5), (30, 5), (40, 5)], [[0, 0], [9, 0], [0, 9], [9, 9]])
    right = features([(5, 5), (15, 9), (25, 6), (26, 6)], [[0, 1], [9, 1], [0, 8], [1, 8]])
    found = match_features(left, right, ratio=0.9, epipolar_px=2)
    # 1: the rows differ by 4. 3: its nearest is nearer to 1.
    assert found.tolist() == [0, 2]
    assert match_features(left, right, ratio=0.9, epipolar_px=4).tolist() == [0, 1, 2]
    # 2: at 1 and 1.41, two are nearly as close.
    assert match_features(left, right, ratio=0.7, epipolar_px=2).tolist() == [0]


def test_shared_points_by_hand():
    first, second = np.array([(0.0, 0), (5, 0), (9, 9)]), np.array([(0.4, 0), (0.9, 0), (5, 2)])
    assert count_shared(first, second, 1.0) == 1  # one to one: both are near the first
    assert count_shared(first, second, 2.0) == 2
    assert count_shared(first, first, 0.0) == 3
    assert count_shared(first, np.zeros((0, 2)), 1.0) == 0
    assert jaccard_error(3, 3, 1) == pytest.approx(80)
    assert math.isnan(jaccard_error(0, 0, 0))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ratio=st.sampled_from([0.7, 0.9, 1.0]))
def test_matches_are_those_of_the_definition(seed, ratio):
    rng = np.random.default_rng(seed)
    sides = [features(rng.uniform(0, 6, (9, 2)), rng.integers(0, 30, (9, 4))) for _ in range(2)]
    left, right = sides
    far = np.linalg.norm(left.words[:, None].astype(float) - right.words[None], axis=2)
    expected = []
    for i in range(9):
        order = np.argsort(far[i], kind="stable")
        j = order[0]
        clear = far[i, j] < ratio * far[i, order[1]]
        level = abs(left.points[i, 1] - right.points[j, 1]) <= 2
        if clear and level and np.argmin(far[:, j]) == i:
            expected.append(i)
    assert match_features(left, right, ratio=ratio, epipolar_px=2).tolist() == expected


def test_controls_are_in_order():
    left, right, _ = pair(size=SIZE)
    items = {"left_image": left}
    other = smooth(np.random.default_rng(9), *SIZE)
    blurred = (right + np.roll(right, 2, axis=1)) / 2
    found = [value("e_match", view, right, items) for view in (right, blurred, other)]
    assert found[0] == 0
    assert 0 < found[1] < found[2]
    assert found[2] > 90
    # A copy of the left view can be matched: the metric says nothing about shifts.
    assert value("e_match", left, right, items) < found[2]


def test_a_view_that_is_too_high_does_not_match():
    left, right, _ = pair(size=SIZE)
    up = {shift: np.roll(right, shift, axis=0) for shift in (1, 4)}
    items = {"left_image": left}
    assert value("e_match", up[1], right, items) < 30
    assert value("e_match", up[4], right, items) > 90
    assert value("e_match", up[4], right, items, epipolar_px=5) < 30


def test_missing_pixels_constant_pictures_and_floods():
    left, right, _ = pair(size=SIZE)
    items = {"left_image": left}
    gaps = right.copy()
    gaps[:48] = np.nan
    found, state = measured("e_match", gaps, right, items)
    assert found > 30
    assert state.missing == 48 * SIZE[1]
    assert value("e_match", np.full_like(right, np.nan), right, items) == 100
    grey = np.full_like(right, 0.5)
    assert value("e_match", grey, right, items) == 100
    found, state = measured("e_match", grey, grey, items)  # nothing to match anywhere
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)
    tiny = right[:4, :4]
    assert math.isnan(value("e_match", tiny, tiny, {"left_image": left[:4, :4]}))


def test_fewer_keypoints_and_another_matcher_are_other_protocols():
    left, right, _ = pair(size=SIZE)
    given_ = {"quantity": "view", "items": {"left_image": left}}
    hashes = {
        dg.score(right, right, name, **given_).protocol.hash
        for name in ("e_match", "e_match:sift,512", "e_match:sift,2048,0.8")
    }
    assert len(hashes) == 3


def test_a_matcher_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "kornia", None)
    monkeypatch.setitem(sys.modules, "kornia.feature", None)
    left, right, _ = pair(size=SIZE)
    with pytest.raises(Unavailable, match="matcher dedode needs PyTorch and kornia"):
        dg.score(right, right, "e_match:dedode", quantity="view", items={"left_image": left})
