"""The parts of the simulator: sensor, patterns, rig, scenes, the choice of a renderer."""

import subprocess
import sys

import numpy as np
import pytest

from depthgauge.errors import MissingExtra, Misuse, UnknownName
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.sessions import Board
from depthgauge.synth.library.rooms import scene
from depthgauge.synth.render import mitsuba as _mitsuba
from depthgauge.synth.sets.capture_session import SCENES, _passive, _rig
from depthgauge.synth.sets.capture_session._board import board_poses
from depthgauge.synth.sets.capture_session._patterns import pattern
from depthgauge.synth.sets.capture_session._sensor import (
    READ,
    WELL,
    developed,
    footprint,
    key,
    linear,
)

# --- the sensor ---------------------------------------------------------------------------------


def test_noise_has_the_stated_spread():
    for level in (0.02, 0.2, 0.6):
        light = np.full((40_000, 3), level, np.float32)
        seen = linear(developed(light, key("noise", level)))
        expected = np.sqrt(level / WELL + READ**2)
        step = float(np.diff(linear(np.array([100, 101], np.uint8)))[0])
        assert seen.mean() == pytest.approx(level, rel=5e-3)
        assert seen.std() == pytest.approx(expected, rel=0.05, abs=step / 3)


def test_noise_depends_on_the_place_alone():
    light = np.full((1000, 3), 0.3, np.float32)
    whole = developed(light, 7)
    parts = np.concatenate([developed(light[:300], 7), developed(light[300:], 7, first=300)])
    assert np.array_equal(whole, parts)
    assert not np.array_equal(whole, developed(light, 8))


def test_noise_of_neighbours_is_not_alike():
    seen = linear(developed(np.full((20_000, 3), 0.3, np.float32), 1)).astype(np.float64)
    flat = seen.ravel() - seen.mean()
    for lag in (1, 3, 6):
        assert abs(np.corrcoef(flat[lag:], flat[:-lag])[0, 1]) < 0.02


@pytest.mark.parametrize("side", [1, 2, 3, 4, 8])
def test_a_footprint_is_centred_and_inside_the_pixel_s_reach(side):
    offsets = footprint(side)
    assert offsets.shape == (side * side, 2)
    assert np.abs(offsets.mean(axis=0)).max() < 1e-12
    assert np.abs(offsets).max() < 0.8


# --- patterns -----------------------------------------------------------------------------------


def test_patterns_are_new_for_each_projector_and_number():
    one, other, third = pattern(0, 0, 0, 320), pattern(0, 1, 0, 320), pattern(0, 0, 1, 320)
    for a, b in ((one, other), (one, third), (other, third)):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.05
    assert np.array_equal(one, pattern(0, 0, 0, 320))
    assert abs(np.corrcoef(one[..., 0].ravel(), one[..., 1].ravel())[0, 1]) < 0.1


@pytest.mark.parametrize("width_px", [320, 1168])
def test_blobs_are_a_few_camera_pixels_wide(width_px):
    """Half of the correlation is gone within 1 to 3 camera px."""
    shown = pattern(0, 0, 0, width_px)[..., 1].astype(np.float64)
    shown -= shown.mean()
    scale = _rig.THROW * _rig.projector_px(width_px)[0] / (0.8 * width_px)
    lags = [max(1, round(px * scale)) for px in (1, 3)]
    near, far = ((shown[:, lag:] * shown[:, :-lag]).mean() / shown.var() for lag in lags)
    assert near > 0.5 > far
    assert shown.std() > 60


# --- rig and scenes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_scenes_have_all_classes_and_vary_with_the_seed(name):
    one, other = scene(name, 0), scene(name, 1)
    assert {t.material.category for t in one.things} == {0, 1, 2, 3}
    assert {t.material.surface for t in one.things} == {0, 1, 2}
    assert 20_000 < sum(len(t.mesh.triangles) for t in one.things) < 300_000
    places = [[t.mesh.vertices.mean(axis=0) for t in s.things] for s in (one, other)]
    assert not np.allclose(*places)
    for thing in one.things:
        assert np.isfinite(thing.mesh.vertices).all()
        assert np.isfinite(thing.mesh.normals).all()


def test_an_unknown_scene_is_refused():
    with pytest.raises(UnknownName, match=r"attic.*bathroom, desk, kitchen"):
        scene("attic", 0)


def test_another_seed_is_another_rig():
    room = scene("desk", 0)
    assert _rig.cameras(640, room, 0) != _rig.cameras(640, room, 1)
    assert _rig.cameras(640, room, 0) == _rig.cameras(640, room, 0)


def test_the_full_size_is_that_of_the_real_cameras():
    found = _rig.cameras(4112, scene("desk", 0), 0)
    assert found["L"].size_px == (4112, 3008)
    assert found["C"].size_px == (1936, 1216)


def test_a_board_that_no_camera_can_hold_is_refused():
    cameras = _rig.cameras(320, scene("desk", 0), 0)
    with pytest.raises(Misuse, match="choose other squares"):
        board_poses(Board(square_m=0.002), cameras, 1, 0)


# --- the lens -----------------------------------------------------------------------------------


def test_the_ideal_picture_covers_the_lens_and_is_resampled_exactly():
    camera = _rig.cameras(320, scene("desk", 0), 0)["L"]
    ideal = _passive.wide_pinhole(camera, 1.15)
    width, height = ideal.size_px
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    slopes = slopes_at(np.stack([x, y], -1).astype(np.float64), ideal)
    # A smooth function of the ray; through the lens it must be the same function.
    wave = lambda s: 0.5 + 0.3 * np.sin(9 * s[..., 0]) * np.cos(7 * s[..., 1])  # noqa: E731
    light = np.repeat(wave(slopes)[..., None], 3, axis=2).astype(np.float32)
    seen = _passive.through_lens(light, ideal, camera)
    u, v = np.meshgrid(np.arange(camera.size_px[0]), np.arange(camera.size_px[1]))
    exact = wave(slopes_at(np.stack([u, v], -1).astype(np.float64), camera))
    assert np.abs(seen[..., 0] - exact).max() < 1e-3
    corners = slopes_at(np.array([[0.0, 0.0], [319.0, 233.0]]), camera)
    inside = project(np.concatenate([corners, np.ones((2, 1))], 1), ideal)
    assert (inside > 1).all()
    assert (inside < np.array(ideal.size_px) - 2).all()


# --- the renderer -------------------------------------------------------------------------------


@pytest.fixture
def fresh_choice():
    _mitsuba.working_variant.cache_clear()
    yield
    _mitsuba.working_variant.cache_clear()


@pytest.mark.parametrize("outcome", ["abort", "hang", "absent"])
def test_without_llvm_the_slow_variant_is_taken_and_it_is_said(monkeypatch, fresh_choice, outcome):
    def run(*args, **kwargs):
        if outcome == "hang":
            raise subprocess.TimeoutExpired("python", 1)
        if outcome == "absent":
            raise OSError
        return subprocess.CompletedProcess(args, -6)

    monkeypatch.setattr(subprocess, "run", run)
    variant, sentence = _mitsuba.working_variant()
    assert variant == "scalar_rgb"
    assert "libllvm19" in sentence


def test_a_working_llvm_is_taken_without_a_word(monkeypatch, fresh_choice):
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: done)
    assert _mitsuba.working_variant() == ("llvm_ad_rgb", "")


def test_missing_extras_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(MissingExtra, match=r"Mitsuba.*depthgauge\[render\]"):
        _mitsuba.mitsuba("scalar_rgb")
    monkeypatch.setitem(sys.modules, "pyoidn", None)
    with pytest.raises(MissingExtra, match=r"pyoidn.*depthgauge\[render\]"):
        _passive.denoised(*(np.zeros((2, 2, 3), np.float32),) * 3)
