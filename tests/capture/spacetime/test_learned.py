"""The learned engine's accumulation, with a stand-in network of plain NumPy."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.capture.spacetime.engine import Engine, Pairs
from depthgauge.capture.spacetime.engines.learned import (
    Learned,
    accumulated,
    correlation,
    mean_and_variance,
    recurrent,
)
from depthgauge.errors import WrongShape


@dataclass
class StandIn:
    """Features are colours around their mean; each update goes half of the way to the best match.

    Its context is a number, so that the maps of two patterns differ.
    """

    revision: int = 1
    shrinks_by: int = 1
    iterations: int = 24
    margin_rows: int = 0

    def features(self, image):
        colours = image.astype(np.float32)
        colours = colours - colours.mean(axis=1, keepdims=True)
        length = np.linalg.norm(colours, axis=2, keepdims=True)
        return colours / np.maximum(length, 1e-6)

    def context(self, image):
        return float(image.mean()) / 1000

    correlation = staticmethod(correlation)

    def update(self, features, context, disparity, volume):
        width = volume.shape[1]
        best = np.arange(width) - volume.argmax(axis=2)
        before = np.zeros(best.shape) if disparity is None else disparity
        return (before + (best + context - before) / 2).astype(np.float32)


def shifted_pairs(patterns, shift=4, seed=0, height=6, width=40):
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 256, (patterns, height, width + shift, 3), dtype=np.uint8)
    known = np.ones((height, width), bool)
    return Pairs(wide[:, :, :width], wide[:, :, shift:], known, known)


@given(st.integers(0, 2**32 - 1))
def test_correlation_is_the_sum_over_features(seed):
    rng = np.random.default_rng(seed)
    f, g = rng.normal(size=(2, 3, 5, 4)).astype(np.float32)
    plain = np.zeros((3, 5, 5))
    for i in range(3):
        for j in range(5):
            for k in range(5):
                plain[i, j, k] = sum(f[i, j, h] * g[i, k, h] for h in range(4))
    np.testing.assert_allclose(correlation(f, g), plain, rtol=1e-5, atol=1e-5)


def test_correlation_wants_one_size():
    with pytest.raises(WrongShape, match="features of both views"):
        correlation(np.zeros((2, 3, 4), np.float32), np.zeros((2, 5, 4), np.float32))


def test_the_accumulated_volume_is_the_mean_over_patterns():
    volumes = np.random.default_rng(0).normal(size=(7, 2, 3, 3)).astype(np.float32)
    np.testing.assert_allclose(accumulated(iter(volumes)), volumes.mean(axis=0), rtol=1e-5)
    with pytest.raises(WrongShape, match="at least one pattern"):
        accumulated([])
    with pytest.raises(WrongShape, match=r"volumes differ: \(2, 3, 3\) and \(2, 4, 4\)"):
        accumulated([volumes[0], np.zeros((2, 4, 4), np.float32)])


def test_updates_get_the_disparity_before():
    seen = []

    class Counting(StandIn):
        def update(self, features, context, disparity, volume):
            seen.append(disparity)
            return np.full((1, 1), 1.0 if disparity is None else disparity[0, 0] + 1, np.float32)

    network = Counting(iterations=3)
    last = recurrent(network, np.zeros((1, 1, 1), np.float32), 0.0, np.zeros((1, 1, 1), np.float32))
    assert last.tolist() == [[3.0]]
    assert [None if d is None else float(d[0, 0]) for d in seen] == [None, 1.0, 2.0]


def test_mean_and_variance_of_maps():
    maps = [np.array([[1.0, np.nan]], np.float32), np.array([[2.0, 1.0]], np.float32)]
    maps.append(np.array([[6.0, 1.0]], np.float32))
    mean, variance = mean_and_variance(maps)
    assert mean[0, 0] == 3.0
    assert variance[0, 0] == pytest.approx(7.0)  # (4 + 1 + 9) / 2
    assert np.isnan(mean[0, 1])
    assert np.isnan(variance[0, 1])
    assert np.isnan(mean_and_variance(maps[:1])[1]).all()


def test_the_engine_finds_a_shift_and_says_how_its_maps_vary():
    pairs = shifted_pairs(8)
    engine = Learned(StandIn())
    assert isinstance(engine, Engine)
    found = engine.match(pairs, (0, 10))
    inside = found.disparity[:, 4:]
    guidance = [float(image.mean()) / 1000 for image in pairs.left]
    np.testing.assert_allclose(inside, 4 + np.mean(guidance), atol=1e-3)
    expected = np.var(guidance, ddof=1)
    np.testing.assert_allclose(found.variance[:, 4:], expected, rtol=0.02)
    np.testing.assert_allclose(found.confidence[:, 4:], 1, atol=1e-5)


def test_many_patterns_match_where_each_alone_does_not():
    """The point of the shared volume: single patterns are ambiguous, all of them are not."""
    rng = np.random.default_rng(2)
    wide = (rng.integers(0, 2, (16, 20, 64, 1)) * 200).astype(np.uint8).repeat(3, axis=3)
    known = np.ones((20, 60), bool)
    pairs = Pairs(wide[:, :, :60], wide[:, :, 4:], known, known)
    alone = Pairs(pairs.left[:1], pairs.right[:1], known, known)
    engine = Learned(StandIn())
    right = [
        np.mean(np.abs(engine.match(p, (-60, 60)).disparity[:, 4:] - 4) < 0.5)
        for p in (alone, pairs)
    ]
    assert right[0] < 0.3
    assert right[1] > 0.95


def test_what_is_out_of_range_or_unseen_is_no_match():
    pairs = shifted_pairs(4)
    known = pairs.left_known.copy()
    known[0] = False
    pairs = Pairs(pairs.left, pairs.right, known, pairs.right_known)
    found = Learned(StandIn()).match(pairs, (0, 10))
    assert np.isnan(found.disparity[0]).all()
    assert np.isnan(found.variance[0]).all()
    assert np.isnan(found.confidence[0]).all()
    assert np.isnan(Learned(StandIn()).match(pairs, (6, 10)).disparity[:, 4:]).all()


def test_memory_grows_with_the_square_of_the_width():
    engine = Learned(StandIn(shrinks_by=4))
    small = engine.bytes_per_row((10, 100, 400), (0, 10))
    assert 3 < engine.bytes_per_row((10, 100, 800), (0, 10)) / small < 4.1
