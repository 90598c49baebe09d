"""Pictures: the lens, the choice of a variant, missing extras."""

import subprocess
import sys

import numpy as np
import pytest

from depthgauge.errors import MissingExtra
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.synth.library.rooms import desk
from depthgauge.synth.render import mitsuba
from depthgauge.synth.render.denoise import denoise
from depthgauge.synth.sets.capture_session import _rig

# --- the lens -----------------------------------------------------------------------------------


def test_the_ideal_picture_covers_the_lens_and_is_resampled_exactly():
    camera = _rig.cameras(320, desk(0).stand, 0)["L"]
    ideal = mitsuba.wide_pinhole(camera, 1.15)
    width, height = ideal.size_px
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    slopes = slopes_at(np.stack([x, y], -1).astype(np.float64), ideal)
    # A smooth function of the ray; through the lens it must be the same function.
    wave = lambda s: 0.5 + 0.3 * np.sin(9 * s[..., 0]) * np.cos(7 * s[..., 1])  # noqa: E731
    light = np.repeat(wave(slopes)[..., None], 3, axis=2).astype(np.float32)
    seen = mitsuba.through_lens(light, ideal, camera)
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
    mitsuba.working_variant.cache_clear()
    yield
    mitsuba.working_variant.cache_clear()


@pytest.mark.parametrize("outcome", ["abort", "hang", "absent"])
def test_without_llvm_the_slow_variant_is_taken_and_it_is_said(monkeypatch, fresh_choice, outcome):
    def run(*args, **kwargs):
        if outcome == "hang":
            raise subprocess.TimeoutExpired("python", 1)
        if outcome == "absent":
            raise OSError
        return subprocess.CompletedProcess(args, -6)

    monkeypatch.setattr(subprocess, "run", run)
    variant, sentence = mitsuba.working_variant()
    assert variant == "scalar_rgb"
    assert "libllvm19" in sentence


def test_a_working_llvm_is_taken_without_a_word(monkeypatch, fresh_choice):
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: done)
    assert mitsuba.working_variant() == ("llvm_ad_rgb", "")


def test_missing_extras_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(MissingExtra, match=r"Mitsuba.*depthgauge\[render\]"):
        mitsuba.mitsuba("scalar_rgb")
    monkeypatch.setitem(sys.modules, "pyoidn", None)
    with pytest.raises(MissingExtra, match=r"pyoidn.*depthgauge\[render\]"):
        denoise(*(np.zeros((2, 2, 3), np.float32),) * 3)
