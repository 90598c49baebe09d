"""Thinning: by hand, against the rules written out, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage

from depthgauge.errors import WrongShape
from depthgauge.geometry.boundary_maps.thinning import thin

sets = arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=14))


def reference(mask):
    """Both sub-iterations over the whole picture until nothing changes, rule by rule."""
    on = np.pad(mask, 1)
    while True:
        before = on.copy()
        for side in (0, 1):
            gone = [
                (y, x)
                for y, x in zip(*np.nonzero(on), strict=True)
                if may_go([bool(on[y + dy, x + dx]) for dy, dx in AROUND], side)
            ]
            for y, x in gone:
                on[y, x] = False
        if (on == before).all():
            return on[1:-1, 1:-1]


AROUND = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]


def may_go(x, side):
    x1, x2, x3, x4, x5, x6, x7, x8 = x
    ring = [*x, x1]
    crossings = sum(not ring[i] and (ring[i + 1] or ring[i + 2]) for i in (0, 2, 4, 6))
    n1 = (x1 or x2) + (x3 or x4) + (x5 or x6) + (x7 or x8)
    n2 = (x2 or x3) + (x4 or x5) + (x6 or x7) + (x8 or x1)
    third = (x2 or x3 or not x8) and x1 if side == 0 else (x6 or x7 or not x4) and x5
    return crossings == 1 and 2 <= min(n1, n2) <= 3 and not third


def test_a_bar_becomes_its_middle_line():
    bar = np.zeros((7, 12), bool)
    bar[2:5, 1:11] = True
    expected = np.zeros_like(bar)
    expected[3, 2:10] = True
    np.testing.assert_array_equal(thin(bar), expected)


def test_a_ring_keeps_its_hole_and_a_line_stays():
    ring = np.zeros((9, 9), bool)
    ring[1:8, 1:8], ring[4, 4] = True, False
    thinned = thin(ring)
    assert ndimage.label(~thinned)[1] == 2
    line = np.eye(6, dtype=bool)
    np.testing.assert_array_equal(thin(line), line)


@given(sets)
def test_it_is_what_the_rules_say(mask):
    np.testing.assert_array_equal(thin(mask), reference(mask))


@given(sets)
def test_it_takes_away_only_and_doing_it_twice_changes_nothing(mask):
    once = thin(mask)
    assert not (once & ~mask).any()
    np.testing.assert_array_equal(thin(once), once)
    eight = np.ones((3, 3))
    assert ndimage.label(once, eight)[1] == ndimage.label(mask, eight)[1]


@given(sets, st.integers(0, 3), st.integers(0, 3))
def test_a_margin_changes_nothing(mask, down, across):
    framed = thin(np.pad(mask, ((down, 1), (across, 2))))
    h, w = mask.shape
    np.testing.assert_array_equal(framed[down : down + h, across : across + w], thin(mask))


def test_it_agrees_with_scikit_image_on_something_large():
    from skimage.morphology import thin as theirs

    rng = np.random.default_rng(3)
    blobs = ndimage.gaussian_filter(rng.random((150, 200)), 3)
    for level in np.quantile(blobs, (0.2, 0.5, 0.8)):
        np.testing.assert_array_equal(thin(blobs > level), theirs(blobs > level))


def test_numbers_are_a_set_and_other_shapes_are_refused():
    np.testing.assert_array_equal(thin(np.array([[0, 3, 0]])), [[False, True, False]])
    with pytest.raises(WrongShape, match="a set to be thinned must be"):
        thin(np.zeros((3, 3, 1), bool))
