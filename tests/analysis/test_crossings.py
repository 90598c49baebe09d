"""Where two methods change places, by hand and against a plain search."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.crossings import crossings_over_thresholds
from depthgauge.analysis.curves import correct_curves
from depthgauge.engine.store.record import THRESHOLDS

NAN = math.nan


def test_a_strict_and_a_tolerant_method_swap_once(build):
    """Figure 7.9: `exact` has half of its pixels right at once, `coarse` all of them, but later."""
    run = build.from_errors({"exact": {"s": [0.001, 0.001, 9, 9]}, "coarse": {"s": [1.4] * 4}})
    (found,) = crossings_over_thresholds(run)
    assert (found.stricter, found.looser) == ("exact", "coarse")
    assert (found.below, found.above) == (1.25, 1.5)
    # `coarse` rises from 0 to 100 between these two; `exact` stays at 50.
    assert found.at == pytest.approx(1.375)
    assert found.percent == pytest.approx(50)


def test_a_crossing_between_two_rising_curves(build):
    """From 1 to 1.25: a from 50 to 75, b from 25 to 100; they meet half way."""
    run = build.from_errors({"a": {"s": [0.1, 0.1, 1.1, 9]}, "b": {"s": [0.1, 1.1, 1.1, 1.1]}})
    (found,) = crossings_over_thresholds(run)
    assert found.at == pytest.approx(1 + 0.25 / 2)
    assert found.percent == pytest.approx(62.5)


def test_touching_is_not_crossing(build):
    """a leads, both have one of two pixels right from 0.5 to 2, a leads again."""
    run = build.from_errors({"a": {"s": [0.1, 2.2]}, "b": {"s": [0.45, 3.5]}})
    assert crossings_over_thresholds(run) == ()


def test_equal_stretches_cross_where_they_meet(build):
    """Both have one of two pixels right from 0.5 to 2: a came first, b goes on first."""
    run = build.from_errors({"a": {"s": [0.1, 9]}, "b": {"s": [0.45, 2.2]}})
    (found,) = crossings_over_thresholds(run)
    assert (found.stricter, found.looser) == ("a", "b")
    assert (found.below, found.above) == (0.4, 2.5)
    assert found.at == pytest.approx(0.5)
    assert found.percent == 50


def test_curves_may_cross_more_than_once(build):
    run = build.from_errors({"a": {"s": [0.1, 5, 5.0]}, "b": {"s": [1, 1, 9.0]}})
    found = crossings_over_thresholds(run)
    assert [(c.stricter, c.looser) for c in found] == [("a", "b"), ("b", "a")]
    assert found[0].at < found[1].at


def test_equal_and_incomplete_methods_cross_nobody(build):
    same = {"s": [0.1, 2.0]}
    assert crossings_over_thresholds(build.from_errors({"a": same, "b": same})) == ()
    run = build.from_errors(
        {"a": {"s": [0.1, 9], "t": [NAN]}, "b": {"s": [1.0, 1.0], "t": [1.0]}}, missing="skip"
    )
    assert crossings_over_thresholds(run) == ()
    assert crossings_over_thresholds(build.from_values({"a": {"s": 1.0}})) == ()


@given(errors=st.lists(st.lists(st.floats(0, 20), min_size=6, max_size=6), min_size=2, max_size=4))
def test_crossings_are_those_of_a_plain_walk(build, errors):
    run = build.from_errors({f"m{i}": {"s": e} for i, e in enumerate(errors)})
    curves = {label: curve.percent for label, curve in correct_curves(run).items()}
    expected = set()
    for a, b in itertools.combinations(sorted(curves), 2):
        ahead, since = None, None
        for i, threshold in enumerate(THRESHOLDS):
            if curves[a][i] == curves[b][i]:
                continue
            now = a if curves[a][i] > curves[b][i] else b
            if ahead not in (None, now):
                expected.add((ahead, now, since, threshold))
            ahead, since = now, threshold
    found = crossings_over_thresholds(run)
    assert {(c.stricter, c.looser, c.below, c.above) for c in found} == expected
    assert [c.at for c in found] == sorted(c.at for c in found)
    grid = np.array(THRESHOLDS)
    for c in found:
        assert c.below <= c.at <= c.above
        for label in (c.stricter, c.looser):
            assert np.interp(c.at, grid, curves[label]) == pytest.approx(c.percent)
