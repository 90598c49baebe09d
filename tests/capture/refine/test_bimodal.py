"""The learned engine of `capture refine`: its density, its windows, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.capture.refine.engine import REFINERS, MeasuredMaps, RefineOptions
from depthgauge.capture.refine.engines import bimodal, classical


def modes(share, places, scales):
    one = np.array([share], np.float32)
    return bimodal.Modes(one, np.array([places], np.float32), np.array([scales], np.float32))


def test_the_density_by_hand():
    """0.75 / (2 * 0.5) e^0 + 0.25 / (2 * 1) e^(-2) at the first place."""
    found = modes(0.75, (3, 5), (0.5, 1.0))
    expected = 0.75 + 0.125 * np.exp(-2)
    assert found.density(np.float32([3]))[0] == pytest.approx(expected, rel=1e-6)
    place, scale, part = found.chosen()
    assert (place[0], scale[0]) == (3, 0.5)
    other = 0.125 + 0.75 * np.exp(-4)
    assert part[0] == pytest.approx(expected / (expected + other), rel=1e-6)


def test_a_narrow_mode_with_a_small_share_can_win():
    assert modes(0.3, (3, 5), (0.05, 1.0)).chosen()[0][0] == 3


@given(st.floats(0, 1), st.floats(0.05, 4), st.floats(0.05, 4))
def test_the_density_integrates_to_one(share, first, second):
    at = np.linspace(-120, 120, 240_001, dtype=np.float32)
    found = bimodal.Modes(
        np.full(at.shape, share, np.float32),
        np.tile(np.float32([-1, 2]), (len(at), 1)),
        np.tile(np.float32([first, second]), (len(at), 1)),
    )
    assert np.trapezoid(found.density(at), at) == pytest.approx(1, abs=0.01)


def step_maps(size=(24, 32), edge=16, back=10.0, front=14.0):
    disparity = np.full(size, back, np.float32)
    disparity[:, edge:] = front
    even = np.ones(size, np.float32)
    return MeasuredMaps(disparity, 0.0004 * even, 0.95 * even)


def step_guide(size=(48, 64), edge=32):
    guide = np.full((*size, 3), 0.2, np.float32)
    guide[:, edge:] = 0.8
    return guide + np.random.default_rng(0).normal(0, 0.01, guide.shape).astype(np.float32)


def test_windows_say_where_they_are_and_what_is_unknown():
    maps = step_maps()
    maps.disparity[3, 4] = np.nan
    colours = step_guide()
    seen = bimodal.windows(maps, colours, (np.array([6, 30]), np.array([8, 32])))
    assert seen.inputs.shape == (2, bimodal.INPUTS)
    assert np.isfinite(seen.inputs).all()
    assert not seen.known[0, 12]  # the middle of the first window
    assert seen.known[0].sum() == 24
    assert (seen.lowest[1], seen.spread[1]) == (10, 4)
    assert set(np.unique(seen.values[1])) == {0, 4}


def test_an_edge_is_sharp_and_where_the_guide_has_it():
    found = bimodal.refine(step_maps(), step_guide(), RefineOptions())
    inside = found.disparity[4:-4]
    assert np.abs(inside[:, :30] - 20).max() < 1
    assert np.abs(inside[:, 34:] - 28).max() < 1
    between = (np.abs(inside - 20) > 1) & (np.abs(inside - 28) > 1)
    assert between.mean() < 0.01


def test_away_from_jumps_it_is_the_classical_one():
    maps, guide = step_maps(), step_guide()
    found, plain = (e.refine(maps, guide, RefineOptions()) for e in (bimodal, classical))
    away = np.ones(guide.shape[:2], bool)
    away[:, 20:44] = False
    for name in ("disparity", "variance", "confidence"):
        assert np.array_equal(getattr(found, name)[away], getattr(plain, name)[away])


def test_holes_stay_holes():
    maps = step_maps()
    maps.disparity[8:14, 10:20] = np.nan
    found, plain = (e.refine(maps, step_guide(), RefineOptions()) for e in (bimodal, classical))
    assert np.array_equal(np.isnan(found.disparity), np.isnan(plain.disparity))


def test_it_is_an_engine_with_weights_of_the_package():
    assert REFINERS["bimodal"].refine is bimodal.refine
    layers = bimodal.network()
    assert layers["first.weight"].shape[1] == bimodal.INPUTS
    assert layers["last.weight"].shape[0] == bimodal.OUTPUTS
    assert bimodal.WEIGHTS.stat().st_size < 100_000


@pytest.mark.nets
def test_training_uses_the_same_arithmetic():
    torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from tools.train_refiner import Refiner, fit, surprise

    maps, colours = step_maps(), step_guide()
    here = np.nonzero(bimodal.near_jumps(maps, colours, RefineOptions()))
    seen = bimodal.windows(maps, colours, here)
    torch.manual_seed(0)
    net = Refiner()
    layers = {name: values.detach().numpy() for name, values in net.state_dict().items()}
    ours = bimodal.modes(layers, seen)
    given = (torch.from_numpy(v) for v in (seen.inputs, seen.values, seen.known))
    share, places, scales = net(*given)
    np.testing.assert_allclose(ours.share, share.detach().numpy(), atol=1e-5)
    lowest = seen.lowest[:, None]
    np.testing.assert_allclose(ours.places - lowest, places.detach().numpy(), atol=1e-4)
    np.testing.assert_allclose(ours.scales, scales.detach().numpy(), atol=1e-5)
    truth = torch.zeros(len(share))
    expected = -np.log(ours.density(seen.lowest)).mean()
    assert float(surprise(share, places, scales, truth).detach()) == pytest.approx(
        expected, abs=1e-3
    )
    target = np.zeros(len(seen.lowest), np.float32)
    _, losses = fit((seen.inputs, seen.values, seen.known, target), 40, 0, batch=64)
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
