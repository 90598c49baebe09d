"""Distances to sets of pixels, against all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry import distance_to, nearest_pixel

MASKS = hnp.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))


def all_pairs(mask):
    """For each pixel the nearest True one: by distance, then leftmost, then uppermost."""
    rows, columns = np.nonzero(mask)
    index = np.full(mask.shape, -1)
    for y, x in np.ndindex(mask.shape):
        if rows.size:
            squared = (rows - y) ** 2 + (columns - x) ** 2
            best = np.lexsort((rows, columns, squared))[0]
            index[y, x] = rows[best] * mask.shape[1] + columns[best]
    return index


@given(MASKS)
def test_the_nearest_is_that_of_all_pairs(mask):
    assert (nearest_pixel(mask) == all_pairs(mask)).all()


@given(MASKS, st.integers(0, 9))
def test_a_limit_only_leaves_out_what_is_farther(mask, limit):
    whole, near = distance_to(mask), distance_to(mask, limit)
    assert (near == np.where(whole <= limit, whole, np.inf)).all()


def test_distances_agree_with_scipy_on_a_large_mask():
    rng = np.random.default_rng(1)
    for share in (0.0005, 0.02, 0.7):
        mask = rng.random((300, 411)) < share
        found = distance_to(mask)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, ndimage.distance_transform_edt(~mask), rtol=1e-6)


def test_without_any_pixel_all_distances_are_infinite():
    assert np.isinf(distance_to(np.zeros((3, 5), bool))).all()
    assert (nearest_pixel(np.zeros((3, 5), bool)) == -1).all()


def test_threads_change_nothing(on_threads):
    mask = np.random.default_rng(2).random((200, 300)) < 0.01
    assert len(set(on_threads(lambda: nearest_pixel(mask).tobytes()))) == 1
    assert len(set(on_threads(lambda: distance_to(mask).tobytes()))) == 1


def test_what_is_no_mask_is_refused():
    with pytest.raises(WrongShape, match=r"found \(0, 3\)"):
        nearest_pixel(np.zeros((0, 3), bool))
    with pytest.raises(WrongShape, match=r"found \(3,\)"):
        distance_to(np.zeros(3, bool))
    with pytest.raises(Misuse, match="limit_px is -1"):
        distance_to(np.zeros((2, 2), bool), -1)
