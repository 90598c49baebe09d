"""Porosity, detail fattening and fragmentation: hand numbers, references, hard cases."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import seeds
from scenes import make_scene, score, value
from scipy import ndimage

from depthgauge.errors import WrongShape
from depthgauge.metrics import METRICS
from depthgauge.metrics.fine_structures import fragments

NAN = np.nan
EIGHT = np.ones((3, 3))


def bars(labels, surrounding=None, foreground_map=None):
    labels = np.asarray(labels, np.int32)
    return {
        "structures": SimpleNamespace(
            mask=labels > 0,
            labels=labels,
            surrounding=labels == 0 if surrounding is None else surrounding,
            foreground_map=foreground_map,
        )
    }


def row(*values):
    return np.array([values], np.float32)


TRUTH = np.full((1, 8), 9, np.float32)
ONE = bars(np.ones((1, 8)))


# --- porosity


@pytest.mark.parametrize(
    ("estimate", "distances"),
    [
        (row(9, 9, 9, 9, 9, 9, 9, 9), [0] * 8),
        (row(9, 1, 1, 1, 9, 9, 9, 9), [0, 1, 2, 1, 0, 0, 0, 0]),
        (row(1, 1, 1, 1, 9, 9, 9, 9), [4, 3, 2, 1, 0, 0, 0, 0]),
        (row(9, 1, 9, 1, 9, 1, 9, 1), [0, 1, 0, 1, 0, 1, 0, 1]),
        (row(1, 1, 1, 1, 1, 1, 1, 1), [50] * 8),
        (row(9, NAN, NAN, 1, 9, 9, 9, 9), [0, 1, 2, 1, 0, 0, 0, 0]),
    ],
)
def test_porosity_by_hand(estimate, distances):
    found = value("porosity", estimate, TRUTH, ONE, cap_px=50)
    assert found == pytest.approx(100 * np.mean(np.log1p(distances)), rel=1e-6)
    linear = value("porosity", estimate, TRUTH, ONE, scale="linear", cap_px=50)
    assert linear == pytest.approx(100 * np.mean(distances), rel=1e-6)


def test_an_error_of_exactly_the_threshold_is_found():
    for error, expected in ((0.5, 0.0), (0.51, 100 * math.log(1001))):
        found = value("porosity", TRUTH + np.float32(error), TRUTH, ONE, threshold=0.5)
        assert found == pytest.approx(expected, rel=1e-6)


def test_no_distance_is_above_the_cap():
    """So that losing the last found pixel never helps."""
    estimate = row(9, 1, 1, 1, 1, 1, 1, 1)
    capped = value("porosity", estimate, TRUTH, ONE, scale="linear", cap_px=3)
    assert capped == pytest.approx(100 * (1 + 2 + 3 * 5) / 8)
    lost = value("porosity", np.ones_like(TRUTH), TRUTH, ONE, scale="linear", cap_px=3)
    assert lost == 300


def test_many_small_holes_cost_less_than_a_large_one():
    """Figure 4.11a: as many pixels are found, but they are spread."""
    spread, half = row(9, 1, 9, 1, 9, 1, 9, 1), row(9, 9, 9, 9, 1, 1, 1, 1)
    costs = [value("porosity", e, TRUTH, ONE) for e in (spread, half)]
    assert costs[0] < 0.6 * costs[1]


def test_the_region_limits_the_mean_and_not_the_distances():
    estimate = row(9, 9, 1, 1, 1, 1, 1, 1)
    right = np.arange(8) >= 6
    found, state = score("porosity", estimate, TRUTH, ONE, right[None], scale="linear")
    assert found == pytest.approx(100 * (5 + 6) / 2)
    assert state.count == 2


def test_missing_pixels_are_not_found_and_may_be_left_out():
    estimate = row(9, NAN, NAN, 1, 9, 9, 9, 9)
    skipped = value("porosity", estimate, TRUTH, ONE, missing="skip", scale="linear")
    assert skipped == pytest.approx(100 * 1 / 6)


@pytest.mark.parametrize("quantity", ["disparity", "depth", "flow"])
@given(seed=seeds, threshold=st.sampled_from([0.15, 0.5, 2.0]))
def test_porosity_agrees_with_a_reference(quantity, seed, threshold):
    estimate, truth, items = make_scene(seed, quantity)
    mask = items["structures"].mask
    error = np.linalg.norm((estimate - truth).reshape(*mask.shape, -1), axis=-1)
    found = mask & (error <= threshold)
    away = np.full(mask.shape, 1000.0)
    if found.any():
        away = ndimage.distance_transform_edt(~found)
    expected = 100 * np.log1p(away[mask]).mean()
    measured = value("porosity", estimate, truth, items, threshold=threshold)
    assert measured == pytest.approx(expected, rel=1e-5)


# --- detail fattening


def test_detail_fattening_by_hand():
    truth = row(1, 1, 9, 1, 1)
    items = bars(truth > 5, foreground_map=np.full((1, 5), 9, np.float32))
    for estimate, expected in (
        (row(1, 1, 9, 1, 1), 0),
        (row(1, 1, 1, 1, 1), 0),
        (row(1, 6, 9, 5, 20), 50),
        (row(1, NAN, 9, 1, 1), 25),
    ):
        assert value("detail_fattening", estimate, truth, items) == expected
    assert value("detail_fattening", row(9, NAN, 9, 1, 1), truth, items, missing="skip") == (
        pytest.approx(100 / 3)
    )


@pytest.mark.parametrize("quantity", ["disparity", "depth", "flow"])
@given(seed=seeds)
def test_detail_fattening_agrees_with_a_reference(quantity, seed):
    estimate, truth, items = make_scene(seed, quantity)
    structures = items["structures"]
    shape = truth.shape[:2]
    a, r, f = (m.reshape(*shape, -1) for m in (estimate, truth, structures.foreground_map))
    judged = structures.surrounding & np.isfinite(r + f).all(-1)
    fat = np.linalg.norm(a - f, axis=-1) < np.linalg.norm(a - r, axis=-1)
    fat |= np.isnan(a).any(-1)
    found = value("detail_fattening", estimate, truth, items)
    assert found == pytest.approx(100 * fat[judged].mean())


# --- fragmentation

LABELS = np.array([[1, 1, 1, 1, 1, 0, 2, 2], [0, 0, 0, 0, 0, 0, 2, 2], [0, 3, 3, 3, 0, 0, 0, 0]])
NINE = np.full(LABELS.shape, 9, np.float32)


def without(*pixels, value=1.0):
    estimate = NINE.copy()
    for pixel in pixels:
        estimate[pixel] = value
    return estimate


@pytest.mark.parametrize(
    ("estimate", "summands"),
    [
        (NINE, [0, 0, 0]),
        (without((0, 2)), [1 / 2, 0, 0]),
        (without((0, 1), (0, 3)), [2 / 3, 0, 0]),
        (without((0, 6), (1, 7)), [0, 0, 0]),  # corners that touch are connected
        (without((2, 1), (2, 2), (2, 3)), [0, 0, 1]),
        (without((0, 2), (2, 2), value=NAN), [1 / 2, 0, 1 / 2]),
    ],
)
def test_fragmentation_by_hand(estimate, summands):
    found, state = score("fragmentation", estimate, NINE, bars(LABELS))
    assert found == pytest.approx(100 * np.mean(summands))
    assert (state.count, state.missing) == (3, 0)


def test_a_structure_without_any_estimate_is_missing():
    estimate = without((2, 1), (2, 2), (2, 3), value=NAN)
    found, state = score("fragmentation", estimate, NINE, bars(LABELS))
    assert (state.count, state.missing) == (2, 1)
    assert found == pytest.approx(100 / 3)
    assert value("fragmentation", estimate, NINE, bars(LABELS), missing="skip") == 0


def test_fragments_that_are_too_small_do_not_count():
    estimate = without((0, 1))  # leaves 1 px and 3 px
    found = [value("fragmentation", estimate, NINE, bars(LABELS), smallest=n) for n in (1, 2, 4)]
    # Of the three structures, with 5, 4 and 3 px, the first loses a fragment, then both.
    assert found == pytest.approx([100 * 0.5 / 3, 0, 100 * 2 / 3])


def test_structures_that_touch_stay_apart():
    labels = np.array([[1, 1, 2, 2]])
    truth = np.full((1, 4), 9, np.float32)
    numbers = fragments(truth, truth, bars(labels)["structures"])
    assert numbers.tolist() == [[1, 1, 2, 2]]
    assert value("fragmentation", truth, truth, bars(labels)) == 0


def test_the_region_chooses_structures_as_a_whole():
    estimate = without((0, 2))
    first = np.zeros(LABELS.shape, bool)
    first[0, 0] = True
    found, state = score("fragmentation", estimate, NINE, bars(LABELS), first)
    assert found == 50
    assert state.count == 1


@given(seed=seeds, smallest=st.integers(1, 4))
def test_fragmentation_agrees_with_a_reference(seed, smallest):
    rng = np.random.default_rng(seed)
    labels = ndimage.label(rng.random((14, 17)) < 0.45, EIGHT)[0].astype(np.int32)
    truth = rng.uniform(1, 9, labels.shape).astype(np.float32)
    estimate = truth + np.float32(5) * (rng.random(labels.shape) < 0.4)
    estimate[rng.random(labels.shape) < 0.1] = NAN
    summands = []
    for label in range(1, labels.max() + 1):
        found = (labels == label) & (np.abs(estimate - truth) <= 1)
        parts, n = ndimage.label(found, EIGHT)
        sizes = ndimage.sum_labels(found, parts, range(1, n + 1)) if n else np.zeros(0)
        kept = int((sizes >= smallest).sum())
        summands.append(1 - 1 / kept if kept else 1.0)
    measured = value("fragmentation", estimate, truth, bars(labels), smallest=smallest)
    assert measured == pytest.approx(100 * np.mean(summands))


@given(seed=seeds)
def test_fragments_are_the_connected_components(seed):
    rng = np.random.default_rng(seed)
    labels = (rng.random((12, 15)) < 0.6).astype(np.int32)
    truth = np.ones(labels.shape, np.float32)
    estimate = np.where(rng.random(labels.shape) < 0.7, truth, 9).astype(np.float32)
    numbers = fragments(estimate, truth, bars(labels)["structures"])
    expected, n = ndimage.label((labels > 0) & (estimate == 1), EIGHT)
    assert numbers.max() == n
    pairs = {(int(a), int(b)) for a, b in zip(numbers.ravel(), expected.ravel(), strict=True)}
    assert len(pairs) == n + (0 in numbers)


def test_a_map_without_structures_is_an_empty_region():
    truth = np.full((4, 5), 3, np.float32)
    items = bars(np.zeros((4, 5)), np.zeros((4, 5), bool), truth)
    for name in ("porosity", "detail_fattening", "fragmentation"):
        found, state = score(name, truth, truth, items)
        assert math.isnan(found)
        assert (state.count, state.missing) == (0, 0)


def test_structures_of_another_size_are_refused():
    with pytest.raises(WrongShape, match="the structures' mask is 1x8 but the maps are 3x8"):
        value("porosity", NINE, NINE, ONE)


def test_maps_show_distances_fattened_pixels_and_summands():
    estimate = row(9, 1, 1, 9, 9, 9, 9, 9)
    shown = METRICS["porosity"].error_map(estimate, TRUTH, **ONE, scale="linear")
    assert shown.tolist() == [[0, 100, 100, 0, 0, 0, 0, 0]]
    shown = METRICS["fragmentation"].error_map(without((0, 2)), NINE, **bars(LABELS))
    assert shown[0, :5].tolist() == [50] * 5
    assert shown[1, 6] == 0
    assert np.isnan(shown[1, 0])
