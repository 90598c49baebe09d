"""Errors of normals: their size, and what a look at the preview takes back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.quality.rotation import rotation_matrix
from depthgauge.annotate.simulate._tilt import Tilt, facing
from depthgauge.annotate.simulate.noise import AnnotatorNoise

ANGLE = st.floats(-170.0, 170.0)
FLOOR = np.array([0.0, -math.cos(0.25), -math.sin(0.25)])
RAYS = np.stack([np.zeros(20), np.linspace(-0.1, 0.4, 20), np.ones(20)], axis=-1)
AHEAD = np.array([0.0, 0.0, 1.0])


def rng(seed=0):
    return np.random.default_rng(seed)


@given(ANGLE, ANGLE, ANGLE, st.floats(-1, 1), st.floats(-1, 1))
def test_what_is_said_faces_the_viewer(a, b, c, x, y):
    normal = rotation_matrix((a, b, c)) @ np.array([0.0, 0.0, -1.0])
    ray = np.array([x, y, 1.0])
    said = facing(normal, ray)
    assert np.linalg.norm(said) == pytest.approx(1)
    assert said @ ray < 0
    if normal @ ray < -0.1 * np.linalg.norm(ray):
        assert np.allclose(said, normal)


def test_no_noise_changes_nothing():
    exact = Tilt(AnnotatorNoise(), 0, rng())
    normal = np.array([0.0, -0.6, -0.8])
    exact.look_at([(normal, np.array([[0.0, 0.0, 1.0]]))])
    assert np.allclose(exact(normal, np.array([0.0, 0.0, 1.0])), normal)


def test_a_floor_that_would_rise_above_its_horizon_is_laid_back():
    floor, rays = FLOOR, RAYS
    wild = AnnotatorNoise(common_tilt_deg=60.0)

    def depths(look):
        found = []
        for seed in range(20):
            tilt = Tilt(wild, 0, rng(seed))
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
    floor, rays = FLOOR, RAYS
    tilt = Tilt(AnnotatorNoise(normal_deg=40.0), 0, rng(3))
    said = [tilt(floor, rays[10], rays) for _ in range(30)]
    assert all((rays @ normal < 0).all() for normal in said)
    assert np.std([normal[0] for normal in said]) > 0.05


def angle_deg(a, b):
    return math.degrees(math.atan2(np.linalg.norm(np.cross(a, b)), a @ b))


def test_normals_of_a_surface_lean_together_and_surfaces_apart():
    noise = AnnotatorNoise(surface_deg=10.0)
    tilt = Tilt(noise, 0, rng())
    found = []
    for number in range(200):
        tilt.begin_surface(number, -AHEAD)
        first, second = tilt(-AHEAD, AHEAD), tilt(-AHEAD, AHEAD)
        assert np.array_equal(first, second)
        found.append(angle_deg(first, -AHEAD))
    assert np.mean(found) == pytest.approx(10.0, rel=0.12)
    assert len(set(found)) == 200


def test_what_a_surface_suggests_is_the_same_for_everybody_and_in_any_order():
    noise = AnnotatorNoise(shared_surface_deg=10.0)

    def said(person, order, picture=7):
        tilt, found = Tilt(noise, picture, rng(person)), {}
        for number in order:
            tilt.begin_surface(number, -AHEAD)
            found[number] = tuple(tilt(-AHEAD, AHEAD))
        return found

    assert said(1, (1, 2, 3)) == said(2, (3, 1, 2))
    assert len(set(said(1, (1, 2, 3)).values())) == 3
    assert said(1, (1, 2)) != said(1, (1, 2), picture=8)


@pytest.mark.parametrize("stretch", [1.1, 1.3, 2.2])
def test_the_preview_allows_planes_as_much_as_told(stretch):
    noise = AnnotatorNoise(common_tilt_deg=20.0, surface_deg=20.0, stretch=stretch)
    true = -(RAYS @ FLOOR)
    shares = []
    for seed in range(40):
        tilt = Tilt(noise, 0, rng(seed))
        tilt.look_at([(FLOOR, RAYS)])
        tilt.begin_surface(1, FLOOR)
        towards = -(RAYS @ tilt(FLOOR, RAYS[10], RAYS))
        shares.append((towards.max() / towards.min()) / (true.max() / true.min()))
    assert 1 / stretch - 1e-9 <= min(shares)
    assert max(shares) <= stretch + 1e-9
    assert max(shares) > 1 + 0.6 * (stretch - 1)
