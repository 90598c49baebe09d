"""The short way of a plain call and the general way give the same bits and the same notes."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.engine.scoring.in_memory import plain_call
from depthgauge.engine.scoring.in_memory.arrays import prepare_maps, score_prepared
from depthgauge.engine.scoring.in_memory.plain_call import score_plain
from depthgauge.metrics.kernels import BLOCK, TILE

METRICS = ("mae", "rms", "badpix:1", "badpix:2", "d1", "bias", "density")


def general(estimate, truth, metrics=METRICS, **options):
    return score_prepared(*prepare_maps(estimate, truth, metrics, **options))


def same(estimate, truth, metrics=METRICS, **options):
    """The scores of the short way, after a look at the other."""
    found = score_plain(estimate, truth, tuple(metrics), options)
    wanted = general(estimate, truth, metrics, **options)
    assert found is not None
    assert found.protocol == wanted.protocol
    assert found.protocol_hash == wanted.protocol_hash
    assert list(found) == list(wanted)
    for name in wanted:
        a, b = found[name], wanted[name]
        assert (a.count, a.missing, a.unit, a.why) == (b.count, b.missing, b.unit, b.why)
        assert np.array_equal([a.value, a.total or 0], [b.value, b.total or 0], equal_nan=True)
        assert a.state == b.state
    assert found.notes == wanted.notes
    return found


def maps(shape, seed=0, holes=0.0, lost=0.0):
    rng = np.random.default_rng(seed)
    truth = (60 * rng.random(shape) + 4).astype(np.float32)
    estimate = truth + rng.standard_normal(shape).astype(np.float32)
    truth[rng.random(shape) < holes] = np.nan
    estimate[rng.random(shape) < lost] = np.nan
    return estimate, truth


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1000),
    height=st.integers(1, 40),
    width=st.integers(1, 90),
    holes=st.sampled_from([0.0, 0.01, 0.3, 0.97, 1.0]),
    lost=st.sampled_from([0.0, 0.2, 1.0]),
    quantity=st.sampled_from([None, "disparity"]),
    missing=st.sampled_from(["bad", "skip"]),
)
def test_both_ways_agree(seed, height, width, holes, lost, quantity, missing):
    estimate, truth = maps((height, width), seed, holes, lost)
    same(estimate, truth, quantity=quantity, missing=missing)


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, TILE - 1, TILE, TILE + 1, 3 * TILE])
@pytest.mark.parametrize("holes", [0.0, 0.005, 0.2])
def test_ends_of_blocks_and_tiles(n, holes):
    same(*maps((1, n), holes=holes, lost=0.1))


def test_runs_of_coherent_holes():
    estimate, truth = maps((70, 1000))
    truth[:, 100:300] = truth[20:40] = np.nan
    truth[:, ::100] = np.nan
    same(estimate, truth)


def test_infinite_values_are_missing():
    estimate, truth = maps((30, 40))
    estimate[:3], truth[5:9], truth[9] = np.inf, -np.inf, np.inf
    found = same(estimate, truth)
    assert found["mae@all"].missing == 3 * 40


def test_depth_is_positive():
    estimate, truth = maps((30, 40))
    estimate[:2], truth[5:9] = -1, 0
    found = same(estimate, truth, ("mae", "rms"), quantity="depth")
    assert (found["mae@all"].count, found["mae@all"].missing) == (24 * 40, 2 * 40)


def test_extreme_values():
    estimate, truth = maps((30, 40))
    largest = np.finfo(np.float32).max
    estimate[0], truth[0], estimate[1], truth[1] = largest, -largest, 1e-40, 1e-42
    same(estimate, truth)


def sign(e, t):
    return -e, t


def codes(e, t):
    return 256 * e, t


def flipped(e, t):
    return np.ascontiguousarray(e[:, ::-1]), t


def zeros(e, t):
    e[5:12] = 0
    return e, t


def metres(e, t):
    far_above = np.linspace(9, 2, t.shape[0], dtype=np.float32)[:, None] + 0 * t
    return far_above + np.float32(0.01), far_above


def noise(e, t):
    return np.ascontiguousarray(e[::-1, ::-1]) * np.float32(0.3) + 11, t


@pytest.mark.parametrize("spoil", [sign, codes, flipped, zeros, metres, noise])
@pytest.mark.parametrize("shape", [(64, 64), (120, 160)])
def test_notes_are_the_same(spoil, shape):
    estimate, truth = spoil(*maps(shape))
    found = same(estimate, truth)
    assert bool(found.notes) == (spoil is not noise)
    assert same(estimate, truth, check=False).notes == ()


@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (("quantile:50",), {}),
        (("badpix:2@all", "mae"), {"regions": {"glass": np.ones((8, 9), bool)}}),
        (("absrel",), {"quantity": "depth"}),
        (("mae",), {"align": "scale"}),
        (("mae",), {"crop": 1}),
        (("mae",), {"mask": np.ones((8, 9), bool)}),
    ],
)
def test_other_calls_go_the_general_way(metrics, options):
    assert score_plain(*maps((8, 9)), metrics, options) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert dg.score(*maps((8, 9)), metrics, **options)


def test_other_arrays_go_the_general_way():
    estimate, truth = maps((8, 9))
    readonly = estimate.copy()
    readonly.flags.writeable = False
    for other in (estimate.astype(float), estimate.T.copy().T, readonly, estimate.tolist()):
        assert score_plain(other, truth, ("mae",), {}) is None
        assert dg.score(other, truth, "mae", check=False)["mae@all"].count == 72


def test_a_changed_protocol_is_not_used_again():
    estimate, truth = maps((8, 9))
    first = dg.score(estimate, truth, ["mae", "bias"], check=False)
    first.protocol.regions["odd"] = "near:3"
    try:
        assert "odd" not in dg.score(estimate, truth, ["mae", "bias"], check=False).protocol.regions
    finally:
        del first.protocol.regions["odd"]


def test_an_unknown_metric_is_named_by_the_general_way():
    estimate, truth = maps((8, 9))
    with pytest.raises(dg.DepthgaugeError, match="maee"):
        dg.score(estimate, truth, "maee")


def test_names_people_know_are_noted():
    estimate, truth = maps((8, 9))
    found = dg.score(estimate, truth, ["EPE", "bad2"], check=False)
    assert [note.text for note in found.notes] == ["EPE is mae here, bad2 is badpix:2."]


def test_plans_do_not_grow():
    assert plain_call._plan.cache_info().maxsize == 64
