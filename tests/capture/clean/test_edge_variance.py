"""The variance that a discontinuity nearby adds."""

import numpy as np
import pytest

from depthgauge.capture.clean.edge_variance import JUMP_PX, LENGTH, SIGMA_PX, edge_variance


def step(height=5, width=60, jump=4.0):
    disparity = np.full((height, width), 10.0, np.float32)
    disparity[:, width // 2 :] += jump
    return disparity


def test_it_falls_with_the_distance_from_a_jump():
    found = np.sqrt(edge_variance(step(), 4))
    length = LENGTH * 4
    for distance in (0, 1, 3, 7):
        expected = SIGMA_PX * np.exp(-distance / length)
        assert found[2, 30 + distance] == pytest.approx(expected, rel=1e-5)
        assert found[2, 29 - distance] == pytest.approx(expected, rel=1e-5)
    assert found[2, 0] == 0


def test_a_slant_is_no_jump():
    slanted = np.tile(np.linspace(10, 40, 60, dtype=np.float32), (5, 1))
    assert not edge_variance(slanted, 4).any()
    assert not edge_variance(step(jump=JUMP_PX), 4).any()


def test_missing_pixels_are_edges_and_the_border_of_the_image_is_none():
    disparity = np.full((9, 9), 10.0, np.float32)
    assert not edge_variance(disparity, 2).any()
    disparity[4, 4] = np.nan
    found = edge_variance(disparity, 2)
    assert found[4, 5] == pytest.approx(SIGMA_PX**2, rel=1e-6)
    assert found[0, 0] < found[4, 6] < found[4, 5]


def test_nothing_at_all_has_no_edge():
    assert not edge_variance(np.full((4, 4), np.nan, np.float32), 3).any()


def test_without_a_filter_the_window_of_the_matching_counts():
    np.testing.assert_array_equal(edge_variance(step(), 0), edge_variance(step(), 2))
