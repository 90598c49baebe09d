"""Dots that are missed: both definitions, references, hard cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import seeds
from scenes import score, value

from depthgauge.errors import WrongShape
from depthgauge.metrics import METRICS

NAN = np.nan
BOXES = np.repeat([[1] * 10 + [2] * 10], 2, axis=0)
DOTS = np.array([[1] * 5 + [0] * 5, [2] * 5 + [8] * 5])  # sizes 1, 2 and 8, five px each
DOTS = np.tile(DOTS, (1, 2))
ITEMS = {"boxes_labels": BOXES, "dots_by_size_labels": DOTS}
TRUTH = np.full((2, 20), 3, np.float32)


def spoil(*runs, by=1.0):
    """Errors in (row, first column, count)."""
    estimate = TRUTH.copy()
    for row, first, count in runs:
        estimate[row, first : first + count] += np.float32(by)
    return estimate


THESIS = {}
TOOLKIT = {"share": 50, "sizes": 8, "rule": "more_than"}


@pytest.mark.parametrize(
    ("estimate", "thesis", "toolkit"),
    [
        (TRUTH, 0, 0),
        (spoil((0, 0, 1)), 0, 0),  # exactly 80 % is enough
        (spoil((0, 0, 2)), 25, 0),  # 60 % is for one of the two definitions
        (spoil((0, 0, 3)), 25, 100 / 6),
        (spoil((1, 5, 5)), 0, 100 / 6),  # the eighth size is not in the thesis
        (spoil((0, 0, 5), by=0.39), 0, 0),
        (spoil((0, 0, 5), by=0.41), 25, 100 / 6),
        (spoil((0, 0, 20), (1, 0, 20)), 100, 100),
        (spoil((0, 5, 5)), 0, 0),  # the background does not matter
        (spoil((0, 0, 5), by=NAN), 25, 100 / 6),
    ],
)
def test_both_definitions_by_hand(estimate, thesis, toolkit):
    assert value("missed_dots", estimate, TRUTH, ITEMS, **THESIS) == pytest.approx(thesis)
    assert value("missed_dots", estimate, TRUTH, ITEMS, **TOOLKIT) == pytest.approx(toolkit)


def test_exactly_the_share_is_enough_unless_more_is_asked_for():
    dots = {"boxes_labels": np.ones((1, 4), int), "dots_by_size_labels": np.ones((1, 4), int)}
    truth = np.zeros((1, 4), np.float32)
    half = np.array([[0, 0, 9, 9]], np.float32)
    assert value("missed_dots", half, truth, dots, share=50) == 0
    assert value("missed_dots", half, truth, dots, share=50, rule="more_than") == 100


def test_missing_pixels():
    """Under skip a dot is judged by what there is of it; counts are of dots."""
    estimate = spoil((0, 0, 2), by=NAN)
    estimate[1, :5] = NAN
    found, state = score("missed_dots", estimate, TRUTH, ITEMS)
    assert (state.count, state.missing) == (3, 1)
    assert found == 50
    assert value("missed_dots", estimate, TRUTH, ITEMS, missing="skip") == 0
    assert value("missed_dots", estimate, TRUTH, ITEMS, missing="good") == 0


def test_a_dot_without_truth_is_none():
    truth = TRUTH.copy()
    truth[0, :5] = NAN
    found, state = score("missed_dots", TRUTH, truth, ITEMS)
    assert (found, state.count, state.missing) == (0, 3, 0)
    found, state = score("missed_dots", TRUTH, truth, ITEMS, BOXES == 2)
    assert state.count == 2


def test_without_labels_the_region_is_empty():
    none = {**ITEMS, "dots_by_size_labels": np.zeros_like(DOTS)}
    found, state = score("missed_dots", TRUTH, TRUTH, none)
    assert math.isnan(found)
    assert state.count == 0


@pytest.mark.parametrize("large", [2**31 - 1, 2**40, 2**62])
def test_labels_may_be_large_and_far_apart(large):
    items = {
        "boxes_labels": np.where(BOXES == 2, large, 7),
        "dots_by_size_labels": np.where(DOTS == 2, large, DOTS),
    }
    estimate = spoil((0, 0, 3), (1, 10, 5))
    sizes = {"sizes": 2**62}
    expected, state = score("missed_dots", estimate, TRUTH, ITEMS, sizes=8)
    assert (expected, state.count) == (pytest.approx(100 / 3), 6)
    assert score("missed_dots", estimate, TRUTH, items, **sizes) == (expected, state)
    shown = METRICS["missed_dots"].error_map(estimate, TRUTH, **items, **sizes)
    plain = METRICS["missed_dots"].error_map(estimate, TRUTH, **ITEMS, sizes=8)
    np.testing.assert_array_equal(shown, plain)


def test_labels_of_another_size_are_refused():
    with pytest.raises(WrongShape, match="boxes_labels is 1x20 but the maps are 2x20"):
        value("missed_dots", TRUTH, TRUTH, {**ITEMS, "boxes_labels": BOXES[:1]})


@given(seed=seeds, share=st.sampled_from([10, 50, 80, 100]), sizes=st.integers(1, 4))
def test_agrees_with_a_reference(seed, share, sizes):
    rng = np.random.default_rng(seed)
    boxes, dots = rng.integers(0, 3, (9, 11)), rng.integers(0, 5, (9, 11))
    truth = rng.uniform(0, 1, dots.shape).astype(np.float32)
    estimate = truth + rng.choice([0, 0.9], dots.shape).astype(np.float32)
    estimate[rng.random(dots.shape) < 0.1] = NAN
    missed = []
    for box in range(1, boxes.max() + 1):
        for dot in range(1, sizes + 1):
            here = (boxes == box) & (dots == dot)
            if here.any():
                good = np.abs(estimate - truth)[here] <= np.float32(0.4)
                missed.append(100 * good.sum() < share * here.sum())
    items = {"boxes_labels": boxes, "dots_by_size_labels": dots}
    found = value("missed_dots", estimate, truth, items, share=share, sizes=sizes)
    assert found == pytest.approx(100 * np.mean(missed))


def test_the_map_shows_missed_dots():
    shown = METRICS["missed_dots"].error_map(spoil((0, 0, 3)), TRUTH, **ITEMS)
    assert shown[0, :5].tolist() == [100] * 5
    assert shown[1, :5].tolist() == [0] * 5
    assert np.isnan(shown[0, 5:10]).all()
