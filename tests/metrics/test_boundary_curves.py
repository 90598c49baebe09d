"""Precision-recall curves: by hand, and against loops written out."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.metrics.edges._boundary_curves import (
    average_precision,
    best_point,
    best_threshold,
    rates,
    recall_at_half,
)

EPS = np.finfo(float).eps


@st.composite
def curves(draw):
    """Counts as they may come: matched ones at most as many as there are."""
    k = draw(st.integers(1, 9))
    true = draw(st.integers(0, 40))
    rows = []
    for _ in range(k):
        estimated = draw(st.integers(0, 40))
        rows.append((draw(st.integers(0, true)), true, draw(st.integers(0, estimated)), estimated))
    return np.array(rows)


def test_rates_by_hand_and_nothing_to_divide_by():
    recall, precision, f = rates(np.array([[6, 8, 3, 4], [0, 8, 0, 0], [0, 0, 0, 5]]))
    assert recall.tolist() == [0.75, 0, 0]
    assert precision.tolist() == [0.75, 0, 0]
    assert f.tolist() == pytest.approx([0.75, 0, 0])


def test_the_best_point_lies_between_thresholds():
    """R 1, P 1/2 and R 1/2, P 1: F is 2/3 at both and 3/4 half way, where both are 3/4."""
    point = best_point(np.array([[10, 10, 5, 10], [5, 10, 5, 5]]))
    assert point.f == pytest.approx(0.75, abs=1e-4)
    assert point.threshold == pytest.approx(0.5, abs=0.01)
    assert point.recall == pytest.approx(0.75, abs=0.01)
    one = best_point(np.array([[5, 10, 5, 5]]))
    assert (one.f, one.threshold) == (pytest.approx(2 / 3), 0.5)


@given(curves())
def test_the_best_point_is_that_of_a_plain_loop(counts):
    recall, precision, f = rates(counts)
    best = f.max() if len(counts) == 1 else -1.0
    for j in range(1, len(counts)):
        for share in np.linspace(0, 1, 100):
            r = recall[j] * share + recall[j - 1] * (1 - share)
            p = precision[j] * share + precision[j - 1] * (1 - share)
            best = max(best, 2 * p * r / max(EPS, p + r))
    assert best_point(counts).f == pytest.approx(best, abs=1e-12)
    assert best_point(counts).f >= f.max() - 1e-12


@given(curves())
def test_an_image_chooses_the_first_of_its_best_thresholds(counts):
    f = rates(counts)[2]
    expected = len(counts) - 1 if counts[0, 1] == 0 else f.tolist().index(f.max())
    assert best_threshold(counts) == expected


def test_the_area_by_hand():
    """P = 1 at R = 0.2 and 0.8 at R = 0.4: 21 recalls with a mean of 0.9."""
    counts = np.array([[40, 100, 80, 100], [20, 100, 20, 20]])
    assert average_precision(counts) == pytest.approx(21 * 0.9 / 100)
    assert average_precision(counts[:1]) == 0


def test_a_perfect_curve_has_an_area_of_1_01():
    recalls = np.arange(0, 101)[::-1]
    counts = np.stack([recalls, np.full(101, 100), np.ones(101), np.ones(101)], axis=1)
    assert average_precision(counts) == pytest.approx(1.01)


@given(curves())
def test_the_area_is_that_of_a_plain_loop(counts):
    recall, precision, _ = rates(counts)
    first = {}
    for r, p in zip(recall.tolist(), precision.tolist(), strict=True):
        first.setdefault(r, p)
    known = sorted(first)
    total = 0.0
    for wanted in (i / 100 for i in range(101)):
        for low, high in pairwise(known):
            if low <= wanted <= high:
                share = (wanted - low) / (high - low)
                total += first[low] * (1 - share) + first[high] * share
                break
    assert average_precision(counts) == pytest.approx(total / 100, abs=1e-12)


def test_recall_at_half_by_hand():
    counts = np.array([[80, 100, 25, 100], [60, 100, 75, 100]])  # P 1/4 at R .8, 3/4 at R .6
    assert recall_at_half(counts) == pytest.approx(0.7)
    assert recall_at_half(counts[:1]) == 0  # never half
    assert recall_at_half(counts[1:]) == 0.6  # always more
