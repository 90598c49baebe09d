"""Curves of precision and recall: hand numbers, plain loops, ties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.metrics.average_precision import (
    average_precision,
    interpolated_precision,
    precision_recall,
)

seeds = st.integers(0, 2**32 - 1)


def ranked(*right, scores=None):
    n = len(right)
    return np.arange(n, 0, -1.0) if scores is None else np.array(scores), np.array(right, bool)


def test_by_hand():
    """Right, wrong, right of two: 1/2 * 1 + 1/2 * 2/3."""
    assert average_precision(*ranked(1, 0, 1), 2) == pytest.approx(5 / 6)
    assert average_precision(*ranked(1, 0, 1), 4) == pytest.approx(5 / 12)  # two never ranked
    # Recalls up to 0.5 have precision 1 (51 of them), the others 2/3.
    assert interpolated_precision(*ranked(1, 0, 1), 2) == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert interpolated_precision(*ranked(1, 0, 1), 4) == pytest.approx((26 + 25 * 2 / 3) / 101)


def test_nothing_ranked_and_nothing_to_be_found():
    empty = (np.zeros(0), np.zeros(0, bool))
    assert average_precision(*empty, 3) == 0
    assert interpolated_precision(*empty, 3) == 0
    assert math.isnan(average_precision(*ranked(0, 0), 0))
    assert math.isnan(interpolated_precision(*empty, 0))


def test_equal_scores_are_one_point():
    scores, right = ranked(1, 0, 1, 0, scores=[1, 1, 1, 1])
    precision, recall = precision_recall(scores, right, 2)
    assert (precision.tolist(), recall.tolist()) == ([0.5], [1.0])
    assert average_precision(scores, right, 2) == 0.5
    assert interpolated_precision(scores, right, 2) == pytest.approx(0.5)
    one_by_one, _ = precision_recall(scores, right, 2, ties="given")
    assert one_by_one.tolist() == pytest.approx([1, 1 / 2, 2 / 3, 1 / 2])


def thresholds_one_by_one(scores, right, positives):
    """sklearn's definition, threshold by threshold."""
    area = before = 0.0
    for threshold in sorted(set(scores.tolist()), reverse=True):
        kept = scores >= threshold
        recall = np.sum(right[kept]) / positives
        area += (recall - before) * np.sum(right[kept]) / np.sum(kept)
        before = recall
    return area


def recalls_one_by_one(scores, right, positives):
    """COCO's definition, recall by recall."""
    points = []
    for threshold in set(scores.tolist()):
        kept = scores >= threshold
        points.append((np.sum(right[kept]) / positives, np.sum(right[kept]) / np.sum(kept)))
    best = [
        max((p for r, p in points if r >= recall), default=0.0) for recall in np.linspace(0, 1, 101)
    ]
    return np.mean(best)


@given(seed=seeds, n=st.integers(1, 40), lost=st.integers(0, 5))
def test_agree_with_plain_loops_whatever_the_order(seed, n, lost):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 12, n) / 7.0  # with ties
    right = rng.random(n) < 0.5
    positives = int(right.sum()) + lost
    if not positives:
        return
    area = average_precision(scores, right, positives)
    assert area == pytest.approx(thresholds_one_by_one(scores, right, positives))
    best = interpolated_precision(scores, right, positives)
    assert best == pytest.approx(recalls_one_by_one(scores, right, positives))
    mixed = rng.permutation(n)
    assert average_precision(scores[mixed], right[mixed], positives) == pytest.approx(area)
    assert interpolated_precision(scores[mixed], right[mixed], positives) == pytest.approx(best)
    assert 0 <= area <= 1
    assert average_precision(np.exp(scores), right, positives) == pytest.approx(area)
