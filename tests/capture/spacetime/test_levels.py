"""Grey levels of rectified patterns: what is resolved, and how bright they are."""

import numpy as np
import pytest

from depthgauge.capture.spacetime.engine import Pairs
from depthgauge.capture.spacetime.levels import resolved, uneven_gains, with_resolved


def pairs_of(left, right):
    known = np.ones(left.shape[1:3], bool)
    return Pairs(left, right, known, known)


def some(seed=0, patterns=4):
    rng = np.random.default_rng(seed)
    return rng.integers(20, 200, (patterns, 30, 40, 3)).astype(np.uint8)


def test_a_window_needs_two_patterns_that_show_something():
    stack = some()
    stack[:, 5:15, 5:15] = 255
    stack[0, 8:12, 8:12] = 100  # one pattern is not enough
    stack[:2, 20:30, 20:30] = 255  # two of four are
    found = resolved(stack, range(4))
    expected = np.ones((30, 40), bool)
    expected[7:13, 7:13] = False  # where the whole window is saturated
    assert np.array_equal(found, expected)
    assert resolved(stack, [0]).sum() == 30 * 40 - resolved_hole(stack)
    both = with_resolved(pairs_of(stack, some(1)), range(4))
    assert np.array_equal(both.left_known, expected)
    assert both.right_known.all()


def resolved_hole(stack):
    """With one pattern: windows that are saturated in it."""
    import cv2

    full = (stack[0].min(axis=2) >= 254).astype(np.uint8)
    return int(cv2.erode(full, np.ones((5, 5), np.uint8)).sum())


def test_equal_changes_of_both_cameras_are_left_alone():
    left, right = some(0), some(1)
    gains = np.array([1.0, 0.5, 0.8, 0.9])[:, None, None, None]
    assert uneven_gains(pairs_of(left, right), range(4)) is None
    dim = [np.rint(stack * gains).astype(np.uint8) for stack in (left, right)]
    assert uneven_gains(pairs_of(*dim), range(4)) is None


def test_other_changes_are_evened_out():
    left, right = some(0), some(1)
    left[2] = np.rint(0.7 * left[2]).astype(np.uint8)
    found = uneven_gains(pairs_of(left, right), range(4))
    assert found is not None
    assert found.uneven == pytest.approx(1 / 0.7 - 1, abs=0.03)
    even = found.applied(pairs_of(left, right))
    assert even.left.dtype == np.float32
    means = even.left.mean(axis=(1, 2))
    assert np.allclose(means, means.mean(axis=0), rtol=1e-5)
    assert uneven_gains(even, range(4)) is None
