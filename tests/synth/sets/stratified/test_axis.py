"""Difficulty axes: how they are written, what they refuse, how they cut an image into bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse
from depthgauge.synth.sets.stratified import Axis


@pytest.mark.parametrize("given_as", ["0:0.2:15", (0, 0.2, 15), [0.0, 0.2, 15], Axis(0, 0.2, 15)])
def test_an_axis_can_be_given_in_several_ways(given_as):
    assert Axis.of(given_as) == Axis(0.0, 0.2, 15)


def test_levels_reach_both_ends_and_middles_do_not():
    axis = Axis(1.0, 3.0, 4)
    np.testing.assert_allclose(axis.levels(), [1, 5 / 3, 7 / 3, 3])
    np.testing.assert_allclose(axis.middles(), [1.25, 1.75, 2.25, 2.75])
    assert str(axis) == "1:3:4"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("0:0.2", "START:END:NUMBER"),
        ("0:0.2:15:3", "START:END:NUMBER"),
        ("a:0.2:15", "START:END:NUMBER"),
        ("0:0.2:1.5", "START:END:NUMBER"),
        (7, "START:END:NUMBER"),
        (None, "START:END:NUMBER"),
        ("0:0.2:0", "1 to 100 bins"),
        ("0:0.2:101", "1 to 100 bins"),
        ("0:inf:3", "from a number to a number"),
        ("nan:1:3", "from a number to a number"),
    ],
)
def test_what_is_no_axis_is_refused_in_one_sentence(wrong, why):
    with pytest.raises(Misuse, match=why) as caught:
        Axis.of(wrong)
    assert "\n" not in str(caught.value)


@given(st.integers(1, 100), st.lists(st.floats(0, 1), min_size=2))
def test_bins_are_counted_from_one_and_never_go_back(count, shares):
    bins = Axis(0, 1, count).bins(np.sort(shares))
    assert bins.min() >= 1
    assert bins.max() <= count
    assert (np.diff(bins.astype(int)) >= 0).all()


@given(st.integers(1, 100))
def test_bins_are_equally_wide(count):
    middles = (np.arange(100 * count) + 0.5) / (100 * count)
    np.testing.assert_array_equal(np.bincount(Axis(0, 1, count).bins(middles)), [0, *[100] * count])
