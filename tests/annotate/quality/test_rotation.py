"""Rotations: against SciPy, and a search that finds what was turned."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from depthgauge.annotate.quality.rotation import (
    best_turn,
    lean_between,
    rotate_normals,
    rotation_matrix,
    rotation_vector,
)

vectors = st.tuples(*[st.floats(-60, 60)] * 3)


@given(vectors)
def test_the_matrix_is_scipys(vector):
    expected = Rotation.from_rotvec(np.radians(vector)).as_matrix()
    assert np.allclose(rotation_matrix(vector), expected, atol=1e-12)


@given(vectors)
def test_vector_and_matrix_are_inverse(vector):
    assert rotation_vector(rotation_matrix(vector)) == pytest.approx(vector, abs=1e-6)


def normals(seed=0, n=200):
    found = np.random.default_rng(seed).normal(size=(10, n // 10, 3))
    found[..., 2] = -abs(found[..., 2])
    return (found / np.linalg.norm(found, axis=-1, keepdims=True)).astype(np.float32)


def test_turning_keeps_lengths_and_gaps():
    some = normals()
    some[0, 0] = np.nan
    turned = rotate_normals(some, (0, 0, 90))
    assert np.isnan(turned[0, 0]).all()
    assert turned[1, 1] == pytest.approx([-some[1, 1, 1], some[1, 1, 0], some[1, 1, 2]], abs=1e-6)


@given(st.tuples(*[st.floats(-15, 15)] * 3))
def test_the_lean_of_normals_is_found_exactly(vector):
    some = normals()
    assert lean_between(some, rotate_normals(some, vector)) == pytest.approx(vector, abs=1e-3)


def test_a_lean_beyond_the_limit_is_cut_back():
    some = normals()
    found = lean_between(some, rotate_normals(some, (0, 50, 0)), limit_deg=30)
    assert found == pytest.approx((0, 30, 0), abs=1e-3)
    nothing = np.full((2, 2, 3), np.nan, np.float32)
    assert lean_between(nothing, nothing) == (0, 0, 0)


@given(st.tuples(*[st.floats(-16, 16)] * 3))
def test_the_search_finds_the_bottom_of_a_bowl(bottom):
    turn = best_turn(lambda v: math.dist(v, bottom))
    assert turn.value < 1.0  # within the last step
    assert turn.angle_deg <= 30 + 1e-6
    assert turn.evaluations < 120


def test_the_search_stays_within_the_limit_and_is_never_worse_than_nothing():
    turn = best_turn(lambda v: math.dist(v, (100, 0, 0)))
    assert turn.vector_deg == pytest.approx((30, 0, 0), abs=1e-6)
    none = best_turn(lambda v: math.hypot(*v))
    assert none.vector_deg == (0, 0, 0)
    assert best_turn(lambda v: math.nan).vector_deg == (0, 0, 0)


def test_a_start_helps_where_steps_miss_a_narrow_valley():
    def valley(v):
        return min(1.0, math.dist(v, (4.1, -7.3, 2.2)))

    assert best_turn(valley).value == 1.0
    assert best_turn(valley, [(4, -7, 2)]).value < 0.5
