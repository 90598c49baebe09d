"""Our network as an engine of space-time stereo, alone and held against classical matching."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from depthgauge.capture.spacetime.engine import ENGINES, Engine, Matches, Pairs, engine_named
from depthgauge.capture.spacetime.engines.nets_checked import NetsChecked, combined
from depthgauge.capture.spacetime.engines.nets_stereo import NetsStereo
from depthgauge.errors import MissingExtra

NAN = np.nan


def matches(disparity, variance=0.01, confidence=0.9):
    shape = np.shape([disparity])
    return Matches(
        np.array([disparity], np.float32),
        np.broadcast_to(np.float32(variance), shape),
        np.broadcast_to(np.float32(confidence), shape),
    )


def test_the_rule_by_hand():
    """Agree; differ a little; farther and better; nearer and a little better; alone."""
    net = matches([10.0, 10.0, 10.0, 10.0, 10.0, NAN], 0.04)
    checked = matches([0] * 6, 0.09, [0.5, 0.9, 0.9, 0.9, 0.1, NAN])
    own = matches([10.2, 10.6, 7.0, 14.0, NAN, 8.0], 0.01, [0.9, 0.5, 0.8, 0.7, NAN, 0.2])
    found = combined(net, checked, own)
    expected = [10.1, 10.6, 10.0, 14.0, 10.0, 8.0]
    np.testing.assert_allclose(found.disparity[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found.variance[0], [0.01, 0.01, 0.09, 0.01, 0.09, 0.01])
    np.testing.assert_allclose(found.confidence[0], [0.9, 0.5, 0.9, 0.7, 0.1, 0.2], rtol=1e-6)


def test_a_clear_lead_overrules_what_is_nearer():
    found = combined(matches([10.0]), matches([0], 0.01, 0.9), matches([14.0], 0.01, 0.5))
    assert found.disparity[0, 0] == 10


@pytest.mark.parametrize("name", ["nets-stereo", "nets-checked"])
def test_a_missing_torch_is_named_in_one_sentence(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in [n for n in sys.modules if n.startswith("depthgauge.methods.nets._torch")]:
        monkeypatch.delitem(sys.modules, module)
    assert name in ENGINES
    with pytest.raises(MissingExtra, match=r"needs PyTorch; say: pip install"):
        engine_named(name)


def test_both_are_engines_whose_memory_grows_with_the_width():
    for engine in (NetsStereo(), NetsChecked()):
        assert isinstance(engine, Engine)
        small, large = (engine.bytes_per_row((3, 9, w), (0, 9)) for w in (400, 1600))
        assert 4 < large / small < 16


def shifted_pairs(patterns, shift, size=(64, 160), seed=0):
    """Smoothed noise under a shift, a new one for each pattern."""
    import cv2

    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 256, (patterns, size[0], size[1] + 64, 3), dtype=np.uint8)
    wide = np.stack([cv2.GaussianBlur(p, (0, 0), 1.2) for p in wide])
    known = np.ones(size, bool)
    start = 32
    left = wide[:, :, start : start + size[1]]
    right = wide[:, :, start + shift : start + shift + size[1]]
    return Pairs(left, right, known, known)


@pytest.mark.nets
@pytest.mark.parametrize("shift", [-6, 0, 12])
def test_the_network_finds_shifts_of_either_sign(shift):
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    found = engine_named("nets-stereo").match(shifted_pairs(2, shift), (-8, 20))
    inside = np.abs(found.disparity - shift)[8:-8, 24:-24]
    assert np.median(inside) < 0.3
    assert np.isfinite(found.variance[8:-8, 24:-24]).mean() > 0.9


@pytest.mark.nets
def test_both_together_are_exact_on_a_plane():
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    pairs = shifted_pairs(3, 5)
    found = engine_named("nets-checked").match(pairs, (0, 16))
    assert np.median(np.abs(found.disparity - 5)[8:-8, 24:-24]) < 0.1
    alone = NetsChecked().classical.match(pairs, (0, 16))
    assert np.isfinite(found.disparity).sum() >= np.isfinite(alone.disparity).sum()


@pytest.mark.nets
def test_the_volume_is_the_mean_of_the_patterns():
    """A pair given twice has the maps of the pair alone, and no variance."""
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    one = shifted_pairs(1, 4)
    twice = Pairs(*(np.repeat(s, 2, axis=0) for s in (one.left, one.right)), *[one.left_known] * 2)
    engine = NetsStereo(updates=3, zoom=1)
    alone, both = engine.match(one, (0, 16)), engine.match(twice, (0, 16))
    np.testing.assert_allclose(both.disparity, alone.disparity, atol=1e-3)
    assert np.nanmax(both.variance) < 1e-6
    assert np.isnan(alone.variance).all()
