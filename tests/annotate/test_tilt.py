"""Errors of normals: their size, and what a look at the preview takes back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate._tilt import Tilt, facing, rotation
from depthgauge.annotate.noise import AnnotatorNoise

ANGLE = st.floats(-3.0, 3.0)


def rng(seed=0):
    return np.random.default_rng(seed)


@given(ANGLE, ANGLE, ANGLE)
def test_rotations_are_rotations(a, b, c):
    turn = np.array([a, b, c])
    matrix = rotation(turn)
    assert np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-9)
    assert np.allclose(matrix @ turn, turn, atol=1e-9)
    assert np.linalg.det(matrix) == pytest.approx(1)
    assert np.trace(matrix) == pytest.approx(1 + 2 * math.cos(np.linalg.norm(turn)), abs=1e-9)


@given(ANGLE, ANGLE, ANGLE, st.floats(-1, 1), st.floats(-1, 1))
def test_what_is_said_faces_the_viewer(a, b, c, x, y):
    normal = rotation(np.array([a, b, c])) @ np.array([0.0, 0.0, -1.0])
    ray = np.array([x, y, 1.0])
    said = facing(normal, ray)
    assert np.linalg.norm(said) == pytest.approx(1)
    assert said @ ray < 0
    if normal @ ray < -0.1 * np.linalg.norm(ray):
        assert np.allclose(said, normal)


def test_no_noise_changes_nothing():
    exact = Tilt(AnnotatorNoise(), rng(), rng())
    normal = np.array([0.0, -0.6, -0.8])
    exact.look_at([(normal, np.array([[0.0, 0.0, 1.0]]))])
    assert np.allclose(exact(normal, np.array([0.0, 0.0, 1.0])), normal)


def test_a_floor_that_would_rise_above_its_horizon_is_laid_back():
    floor = np.array([0.0, -math.cos(0.25), -math.sin(0.25)])
    rays = np.stack([np.zeros(20), np.linspace(-0.1, 0.4, 20), np.ones(20)], axis=-1)
    wild = AnnotatorNoise(common_tilt_deg=60.0)

    def depths(look):
        found = []
        for seed in range(20):
            tilt = Tilt(wild, rng(), rng(seed))
            if look:
                tilt.look_at([(floor, rays)])
            found.append(-(rays @ tilt(floor, rays[10])))
        return found

    assert any((towards <= 0).any() for towards in depths(look=False))
    true = -(rays @ floor)
    for towards in depths(look=True):
        assert (towards > 0).all()
        share = (towards.max() / towards.min()) / (true.max() / true.min())
        assert 1 / 2.21 < share < 2.21


def test_a_normal_of_its_own_keeps_its_plane_possible():
    floor = np.array([0.0, -math.cos(0.25), -math.sin(0.25)])
    rays = np.stack([np.zeros(20), np.linspace(-0.1, 0.4, 20), np.ones(20)], axis=-1)
    tilt = Tilt(AnnotatorNoise(normal_deg=40.0), rng(), rng(3))
    said = [tilt(floor, rays[10], rays) for _ in range(30)]
    assert all((rays @ normal < 0).all() for normal in said)
    assert np.std([normal[0] for normal in said]) > 0.05
