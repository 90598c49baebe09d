"""Angles between directions: by hand, small ones, and what has no direction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.geometry.angles import angles_between

AHEAD = np.array([0.0, 0.0, -1.0])


def turned(degrees):
    return np.array([np.sin(np.radians(degrees)), 0.0, -np.cos(np.radians(degrees))])


def test_by_hand():
    normals = np.array([[[0, 0, -1], [0, 1, -1]], [[0, 0, 3], [5, 0, 0]]], np.float32)
    found = angles_between(normals, np.broadcast_to(AHEAD, (2, 2, 3)))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[0, 45], [180, 90]], rtol=1e-6)


@given(a=st.floats(0, 180), lengths=st.tuples(*[st.floats(1e-3, 1e3)] * 2))
def test_lengths_mean_nothing(a, lengths):
    found = angles_between(lengths[0] * turned(a), lengths[1] * AHEAD)
    assert float(found) == pytest.approx(a, abs=2e-5)


@pytest.mark.parametrize("a", [1e-7, 1e-5, 1e-3])
def test_small_angles_are_exact(a):
    """An arc cosine gives 0 for the first of them, and a few per cent off for the second."""
    assert float(angles_between(turned(a), AHEAD)) == pytest.approx(a, rel=1e-6)


def test_a_stack_of_maps_is_compared_with_one_map():
    rng = np.random.default_rng(3)
    stack, one = rng.normal(size=(4, 5, 6, 3)), rng.normal(size=(5, 6, 3))
    found = angles_between(stack.astype(np.float32), one)
    assert found.shape == (4, 5, 6)
    cosines = (stack * one).sum(-1) / np.linalg.norm(stack, axis=-1) / np.linalg.norm(one, axis=-1)
    np.testing.assert_allclose(found, np.degrees(np.arccos(cosines)), atol=1e-3)


def test_vectors_without_direction_have_no_angle():
    first = np.array([[0, 0, 0], [np.nan, 0, 1], [0, 0, np.inf], [0, 0, 1.0]])
    for found in (angles_between(first, AHEAD), angles_between(AHEAD, first)):
        assert np.isnan(found).tolist() == [True, True, True, False]
