"""LPIPS: published numbers, the network against plain loops, weights that are missing or wrong."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import measured, smooth, value

import depthgauge as dg
from depthgauge.errors import BadFile, Unavailable
from depthgauge.io import read_map
from depthgauge.metrics.views import _alexnet
from depthgauge.metrics.views._alexnet import AlexNet, layers_of
from depthgauge.metrics.views.perception import perceptual_distance

DATA = Path(__file__).parents[4] / "shared/data"
needs_weights = pytest.mark.skipif(
    not (DATA / "net-lpips/alexnet.npz").is_file(), reason="the weights of LPIPS are not here"
)


@pytest.fixture(scope="module")
def network():
    """The same shape with other weights."""
    rng = np.random.default_rng(0)
    sides = [(k * k * i, o) for k, i, o in _alexnet._SHAPES]
    return AlexNet(
        tuple((rng.standard_normal(s) / s[0] ** 0.5).astype(np.float32) for s in sides),
        tuple(rng.standard_normal(s[1]).astype(np.float32) / 9 for s in sides),
        tuple(rng.random(s[1]).astype(np.float32) for s in sides),
    )


@needs_weights
@pytest.mark.parametrize(("name", "expected"), [("ex_p0", 0.721881), ("ex_p1", 0.137566)])
def test_the_numbers_of_the_original(name, expected, monkeypatch):
    """The original's example pictures, lpips 0.1 with AlexNet."""
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(DATA / "net-lpips"))
    truth = read_map(DATA / "lpips-vectors/ex_ref.png", "view")
    estimate = read_map(DATA / f"lpips-vectors/{name}.png", "view")
    scores = dg.score(estimate, truth, "lpips", quantity="view")
    assert scores["lpips@all"].value == pytest.approx(expected, abs=1e-6)
    assert value("lpips", truth, truth) == 0
    nothing = np.full_like(truth, np.nan)
    found, state = measured("lpips", nothing, truth)
    assert math.isnan(found)
    assert state.missing == 64 * 64
    gaps = truth.copy()
    gaps[:8] = np.nan
    assert 0 < value("lpips", gaps, truth) < 1
    small = truth[:20, :20]
    assert math.isnan(value("lpips", small, small))


def plain_layer(values, kernel, bias, stride, pad):
    """A convolution, pixel by pixel, in float64."""
    side = kernel.shape[0]
    wide = np.pad(values.astype(float), ((pad, pad), (pad, pad), (0, 0)))
    height, width = ((n - side) // stride + 1 for n in wide.shape[:2])
    out = np.zeros((height, width, kernel.shape[3]))
    for y in range(height):
        for x in range(width):
            window = wide[y * stride : y * stride + side, x * stride : x * stride + side]
            out[y, x] = np.einsum("abc,abcd->d", window, kernel) + bias
    return np.maximum(out, 0)


def plain_pool(values):
    height, width = ((n - 3) // 2 + 1 for n in values.shape[:2])
    return np.array(
        [
            [values[2 * y : 2 * y + 3, 2 * x : 2 * x + 3].max(axis=(0, 1)) for x in range(width)]
            for y in range(height)
        ]
    )


def test_layers_are_those_of_plain_loops(network):
    picture = smooth(np.random.default_rng(1), 41, 47)
    values = (2 * picture.astype(float) - 1 - [-0.030, -0.088, -0.188]) / [0.458, 0.448, 0.450]
    for i, found in enumerate(layers_of(picture, network)):
        side, before, after = _alexnet._SHAPES[i]
        if i in (1, 2):
            values = plain_pool(values)
        kernel = network.kernels[i].reshape(side, side, before, after)
        pad = (2, 2, 1, 1, 1)[i]
        values = plain_layer(values, kernel, network.biases[i], 4 if i == 0 else 1, pad)
        np.testing.assert_allclose(found, values, atol=1e-4)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_symmetric_and_zero_for_the_same(network, seed):
    rng = np.random.default_rng(seed)
    first, second = (smooth(rng, 36, 40) for _ in range(2))
    found = perceptual_distance(first, second, network)
    assert found > 0
    assert perceptual_distance(second, first, network) == pytest.approx(found, rel=1e-6)
    assert perceptual_distance(first, first, network) == 0


def test_missing_and_wrong_weights_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))
    truth = np.full((40, 40, 3), 0.5, np.float32)
    with pytest.raises(Unavailable, match=r"alexnet\.npz is not there; .* DEPTHGAUGE_WEIGHTS"):
        dg.score(truth, truth, "lpips", quantity="view")
    np.savez(tmp_path / "alexnet.npz", a=np.zeros(3))
    with pytest.raises(BadFile, match=r"is not AlexNet with the heads"):
        value("lpips", truth, truth)
    shapes = {f"AlexNet_0/Conv_{i}/kernel": (k, k, a, b) for i, (k, a, b) in enumerate(_SHAPES)}
    shapes |= {f"AlexNet_0/Conv_{i}/bias": (b,) for i, (_, _, b) in enumerate(_SHAPES)}
    shapes |= {f"NetLinLayer_{i}/Conv_0/kernel": (1, 1, b, 1) for i, (*_, b) in enumerate(_SHAPES)}
    zeros = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    np.savez_compressed(tmp_path / "alexnet.npz", **zeros)
    with pytest.raises(BadFile, match=r"not those of LPIPS v0\.1"):
        value("lpips", truth, truth)


_SHAPES = _alexnet._SHAPES
