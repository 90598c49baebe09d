"""Gaps of whole maps: hand numbers, references, what is no truth's business."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import make_pair, seeds
from scenes import score, value
from scipy import ndimage

import depthgauge as dg
from depthgauge.errors import BadScoreId

NAN = np.nan


def row(*values):
    return np.array([values], np.float32)


@pytest.mark.parametrize(
    ("estimate", "distances"),
    [
        (row(5, 5, 5, 5), [0, 0, 0, 0]),
        (row(5, NAN, NAN, 5), [0, 1, 1, 0]),
        (row(NAN, NAN, NAN, 5), [3, 2, 1, 0]),
        (row(NAN, NAN, NAN, NAN), [1000] * 4),
    ],
)
def test_spatial_sparsity_by_hand(estimate, distances):
    for truth in (None, np.full_like(estimate, NAN), np.zeros_like(estimate)):
        found = value("spatial_sparsity", estimate, truth, {})
        assert found == pytest.approx(100 * np.mean(np.log1p(distances)), rel=1e-6)
        linear = value("spatial_sparsity", estimate, truth, {}, scale="linear")
        assert linear == pytest.approx(100 * np.mean(distances), rel=1e-6)


@pytest.mark.parametrize(
    ("estimate", "distances"),
    [
        (row(5, 5, 6, 5), [0, 0, 0, 0]),  # an error of exactly 1 px is not bad
        (row(5, 9, NAN, 5), [0, 1, 1, 0]),
        (row(1, 9, NAN, 5), [3, 2, 1, 0]),
        (row(9, 9, 9, NAN), [1000] * 4),
    ],
)
def test_spatial_badpix_by_hand(estimate, distances):
    truth = np.full_like(estimate, 5)
    found = value("spatial_badpix", estimate, truth, {})
    assert found == pytest.approx(100 * np.mean(np.log1p(distances)), rel=1e-6)


def test_a_hole_costs_more_than_as_many_scattered_gaps():
    """Section 5.1.1: the point of both."""
    hole, scattered = np.ones((2, 12, 12), np.float32)
    hole[3:9, 3:9] = NAN
    scattered[::2, ::2] = NAN
    assert np.isnan(hole).sum() == np.isnan(scattered).sum() == 36
    costs = [value("spatial_sparsity", e, None, {}) for e in (scattered, hole)]
    assert costs[0] < 0.8 * costs[1]
    truth = np.ones_like(hole)
    bad = [np.where(np.isnan(e), 9, e).astype(np.float32) for e in (scattered, hole)]
    assert value("badpix", bad[0], truth, {}) == value("badpix", bad[1], truth, {})
    costs = [value("spatial_badpix", e, truth, {}) for e in bad]
    assert costs[0] < 0.8 * costs[1]


def distances(good):
    return ndimage.distance_transform_edt(~good) if good.any() else np.full(good.shape, 1000.0)


@pytest.mark.parametrize("quantity", ["disparity", "flow"])
@given(seed=seeds, threshold=st.sampled_from([0.1, 1.0]), share=st.sampled_from([0.2, 0.9]))
def test_agrees_with_a_reference(quantity, seed, threshold, share):
    estimate, truth = make_pair(seed, missing=share, quantity=quantity)
    shape = truth.shape[:2]
    region = np.random.default_rng(seed).random(shape) < 0.8
    here = np.isfinite(estimate.reshape(*shape, -1)).all(-1)
    known = np.isfinite(truth.reshape(*shape, -1)).all(-1)
    away = distances(here & region)
    expected = 100 * np.log1p(away[region]).mean()
    found = value("spatial_sparsity", estimate, truth, {}, region)
    assert found == pytest.approx(expected, rel=1e-5)
    error = np.linalg.norm((estimate - truth).reshape(*shape, -1), axis=-1)
    away = distances((error <= np.float32(threshold)) & region)
    for missing, used in (("bad", region & known), ("skip", region & known & here)):
        expected = 100 * np.log1p(away[used]).mean()
        found = value("spatial_badpix", estimate, truth, {}, region, missing, threshold=threshold)
        assert found == pytest.approx(expected, rel=1e-5)


def test_what_missing_pixels_cost_is_no_matter_of_the_protocol():
    estimate = row(5, NAN, NAN, 5)
    found = {value("spatial_sparsity", estimate, None, {}, missing=m) for m in ("bad", "skip")}
    assert len(found) == 1
    _, state = score("spatial_sparsity", estimate, None, {})
    assert (state.count, state.missing) == (2, 2)


def test_no_truth_is_needed():
    s = dg.score([[5, NAN, NAN, 5]], None, ["spatial_sparsity", "weak_bumpiness"])
    assert s["spatial_sparsity@all"].value == pytest.approx(50 * math.log(2))


def test_what_ends_a_gap_lies_in_the_region():
    """Equation 5.1: M_v and M_k are subsets of M."""
    estimate, truth = row(5, NAN, NAN, NAN, 9, 5), row(5, 5, 5, 5, 5, 5)
    region = np.array([[False, True, True, True, True, True]])
    found = value("spatial_sparsity", estimate, None, {}, region, scale="linear")
    assert found == pytest.approx(100 * np.mean([3, 2, 1, 0, 0]))
    found = value("spatial_badpix", estimate, truth, {}, region, scale="linear")
    assert found == pytest.approx(100 * np.mean([4, 3, 2, 1, 0]))


def test_the_disparity_range_says_what_an_estimate_is():
    """Equation 5.1: a(x) lies in [d_min, d_max]."""
    maps = [[5, NAN, 90, -3, 5]], [[5, 5, 90, 5, 5]]
    ids = ["spatial_sparsity:linear", "spatial_badpix:1,linear"]
    free = dg.score(*maps, ids, check=False)
    assert [s.value for s in free.values()] == [20, 40]
    within = dg.score(*maps, ids, range=(0, 64), check=False)
    assert [s.value for s in within.values()] == [80, 80]
    assert [s.missing for s in within.values()] == [3, 3]
    alone = dg.score(maps[0], None, ids[0], range=(0, 64))
    assert alone["spatial_sparsity:linear@all"].value == 80
    assert within.protocol.estimate.range == (0, 64)
    assert within.protocol.hash != free.protocol.hash
    same = dg.score(*maps, ids, protocol={"estimate": {"range": [0, 64]}}, check=False)
    assert same.protocol.hash == within.protocol.hash
    with pytest.raises(BadScoreId, match="says the range twice"):
        dg.score(*maps, ids, range=(0, 9), protocol={"estimate": {"range": [0, 64]}})
    with pytest.raises(BadScoreId, match="range"):
        dg.score(*maps, ids, range=(9, 0))
