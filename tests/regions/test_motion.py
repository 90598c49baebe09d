"""Regions by speed and by distance to occlusions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import depthgauge as dg
from depthgauge.errors import Misuse
from depthgauge.regions.motion import near_occlusion, speed


def region(truth, text, **items):
    scores = dg.score(
        np.zeros_like(truth), truth, "epe", quantity="flow", regions={"r": text}, items=items
    )
    return scores["epe@r"].count


def test_speeds_by_hand():
    truth = np.float32([[[3, 4], [6, 8], [-30, 0], [0, 40], [np.nan, 0]]])
    assert region(truth, "speed:0,10") == 1
    assert region(truth, "speed:10,40") == 2
    assert region(truth, "speed:40") == 1


@given(hnp.arrays(np.float32, (4, 5, 2), elements=st.floats(-100, 100, width=32)))
def test_the_speeds_of_sintel_divide_the_pixels(truth):
    parts = [speed(truth, low=0, high=10), speed(truth, low=10, high=40)]
    parts.append(speed(truth, low=40))
    assert (np.sum(parts, axis=0) == 1).all()


def test_distances_to_a_boundary_by_hand():
    """The boundary is between the columns 2 and 3: both have distance 0."""
    truth = np.zeros((3, 9, 2), np.float32)
    matched = np.ones((3, 9), bool)
    matched[:, :3] = False
    near = near_occlusion(truth, matched_mask=matched, low=0, high=2)
    assert near[0].tolist() == [False, True, True, True, True, False, False, False, False]
    far = near_occlusion(truth, matched_mask=matched, low=2)
    assert (near ^ far).all()


def test_without_occlusions_everything_is_far():
    truth, matched = np.zeros((3, 4, 2), np.float32), np.ones((3, 4), bool)
    assert not near_occlusion(truth, matched_mask=matched, low=0, high=140).any()
    assert near_occlusion(truth, matched_mask=matched, low=140).all()


def test_limits_in_the_wrong_order_are_refused():
    with pytest.raises(Misuse, match="the first must be smaller"):
        region(np.zeros((3, 4, 2), np.float32), "speed:10,5")
