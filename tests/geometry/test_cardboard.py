"""Cardboards: objects without depth that stand on a ground whose depth is known."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.errors import WrongShape
from depthgauge.geometry import edges_from_mask, fill_cardboard

NAN = np.nan
ROWS = np.arange(60.0)


def street():
    """A wall above row 20 and a ground whose disparity grows by 1 a row below."""
    return np.where(ROWS < 20, 5.0, ROWS - 15)[:, np.newaxis].repeat(80, axis=1)


def with_object(inside, truth=None):
    truth = street() if truth is None else truth
    return np.where(inside, NAN, truth)


def box(top, bottom, left, right):
    inside = np.zeros((60, 80), bool)
    inside[top:bottom, left:right] = True
    return inside


def test_an_object_is_as_far_as_the_ground_at_its_feet():
    inside = box(15, 41, 30, 40)
    filled = fill_cardboard(with_object(inside), inside)
    # The five rows below have 26 to 30.
    assert (filled[inside] == 28).all()
    assert (filled[~inside] == np.float32(street())[~inside]).all()
    assert filled.dtype == np.float32


def test_arms_do_not_count():
    body, arm = box(10, 50, 30, 36), box(20, 23, 36, 60)
    inside = body | arm
    filled = fill_cardboard(with_object(inside), inside)
    assert (filled[inside] == 37).all()


def test_legs_of_slightly_different_length_do():
    inside = box(10, 46, 30, 40) | box(44, 50, 30, 33) | box(44, 48, 36, 40)
    filled = fill_cardboard(with_object(inside), inside)
    # Feet end at rows 49 (3 columns) and 47 (4 columns): medians 37 and 35 of their five rows.
    ground = np.concatenate([np.tile(np.arange(35, 40), 3), np.tile(np.arange(33, 38), 4)])
    assert (filled[inside] == np.sort(ground)[(ground.size - 1) // 2]).all()


def test_each_object_has_a_value_of_its_own():
    near, far = box(30, 50, 10, 20), box(10, 30, 50, 60)
    labels = np.where(near, 70_001, 0) + np.where(far, 12, 0)
    filled = fill_cardboard(with_object(near | far), labels)
    assert (filled[near] == 37).all()
    assert (filled[far] == 17).all()


def test_ground_under_another_object_does_not_count():
    behind, before = box(10, 40, 30, 40), box(40, 50, 30, 38)
    labels = np.where(behind, 1, 0) + np.where(before, 2, 0)
    truth = street()
    filled = fill_cardboard(np.where(behind, NAN, truth), labels)
    # Only the columns 38 and 39 see the ground.
    assert (filled[behind] == 27).all()


def test_without_ground_at_the_feet_all_columns_are_asked():
    inside = box(10, 50, 30, 36) | box(20, 23, 36, 60)
    truth = with_object(inside)
    truth[50:55, 28:38] = NAN
    filled = fill_cardboard(truth, inside)
    assert (filled[inside] == 10).all()


def test_without_any_ground_an_object_stays_missing():
    inside = box(10, 50, 30, 40)
    truth = with_object(inside)
    truth[50:] = NAN
    assert np.isnan(fill_cardboard(truth, inside)[inside]).all()


def test_an_object_that_the_border_cuts_off_is_as_far_as_the_ground_beside_it():
    inside = box(10, 60, 30, 36) | box(20, 23, 36, 60)
    filled = fill_cardboard(with_object(inside), inside)
    # Rows 55 to 59 have 40 to 44.
    assert (filled[inside] == 42).all()
    truth = with_object(inside)
    truth[55:, 36:41] = 90  # more ground to the right: the lower of both medians
    assert (fill_cardboard(truth, inside)[inside] == 44).all()


@pytest.mark.parametrize("left", [0, 70])
def test_an_object_in_a_corner_has_ground_on_one_side(left):
    inside = box(10, 60, left, left + 10)
    assert (fill_cardboard(with_object(inside), inside)[inside] == 42).all()


def test_an_object_across_the_whole_border_stays_missing():
    inside = box(50, 60, 0, 80)
    assert np.isnan(fill_cardboard(with_object(inside), inside)[inside]).all()


@pytest.mark.parametrize(("stray", "own"), [(1, False), (39, False), (40, True), (400, True)])
def test_stray_truth_in_an_object_is_not_its_own(stray, own):
    inside = box(10, 50, 30, 40)
    truth = with_object(inside)
    truth.ravel()[np.flatnonzero(inside)[:stray]] = 3
    filled = fill_cardboard(truth, inside)
    if own:
        np.testing.assert_array_equal(filled, np.float32(truth))
    else:
        assert (filled[inside] == 37).all()


def test_missing_truth_outside_of_objects_stays_missing():
    inside = box(10, 50, 30, 40)
    truth = with_object(inside)
    truth[:5] = NAN
    assert np.isnan(fill_cardboard(truth, inside)[:5]).all()


def test_nothing_to_do():
    truth = street()
    np.testing.assert_array_equal(fill_cardboard(truth, np.zeros(truth.shape)), np.float32(truth))
    empty = np.full((4, 5), NAN)
    assert np.isnan(fill_cardboard(empty, np.ones((4, 5), int))).all()


def test_the_given_map_is_left_alone():
    inside = box(10, 50, 30, 40)
    truth = with_object(inside).astype(np.float32)
    fill_cardboard(truth, inside)
    assert np.isnan(truth[inside]).all()


def test_fattening_can_be_seen_beside_a_cardboard():
    inside = box(10, 50, 30, 40)
    filled = fill_cardboard(with_object(inside), inside)
    found = edges_from_mask(inside, filled, filled, jump=2.0)
    beside = found.background & (ROWS < 20)[:, np.newaxis]
    assert beside.sum() > 150
    assert (found.foreground_map[beside] == 37).all()
    # Near its feet the ground is as near as the object: no discontinuity.
    assert not found.edge[49:52, 31:39].any()


def test_sizes_that_differ_are_refused():
    with pytest.raises(WrongShape, match="the label map is 3x2, the truth is 4x4"):
        fill_cardboard(np.zeros((4, 4)), np.zeros((2, 3), int))
    with pytest.raises(WrongShape, match=r"labels must be \(H, W\)"):
        fill_cardboard(np.zeros((4, 4)), np.zeros((4, 4, 1), int))
    with pytest.raises(WrongShape, match=r"the truth must be \(H, W\)"):
        fill_cardboard(np.zeros((4, 4, 2)), np.zeros((4, 4), int))
