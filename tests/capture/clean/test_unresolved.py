"""Structures that a map does not show."""

import numpy as np

from depthgauge.capture.clean.unresolved import beside_unresolved


def wall():
    return np.full((11, 15), 20, np.float32), np.full((11, 15), 0.95, np.float32)


def test_doubtful_pixels_beside_a_wire_that_the_map_does_not_show():
    disparity, confidence = wall()
    confidence[:, 7] = 0.2
    confidence[:, 6] = 0.7
    confidence[5, 8] = 0.9
    confidence[:, 2] = 0.7  # doubtful, but beside nothing
    found = beside_unresolved(disparity, confidence, 0.5, 0.8)
    expected = np.zeros(disparity.shape, bool)
    expected[:, 6:8] = True
    np.testing.assert_array_equal(found, expected)


def test_a_jump_of_the_map_explains_low_confidence():
    disparity, confidence = wall()
    disparity[:, 8:] = 26
    confidence[:, 7] = 0.2
    confidence[:, 6] = 0.7
    assert not beside_unresolved(disparity, confidence, 0.5, 0.8).any()


def test_missing_pixels_are_no_structure():
    disparity, confidence = wall()
    disparity[:, 7], confidence[:, 7], confidence[:, 6] = np.nan, np.nan, 0.7
    assert not beside_unresolved(disparity, confidence, 0.5, 0.8)[:, :7].any()
