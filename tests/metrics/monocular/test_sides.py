"""Sides of a distance: hand numbers, and how the three shares are related."""

import numpy as np
import pytest
from hypothesis import given
from maps import make_pair, seeds

import depthgauge as dg

NAN = np.nan


def shares(estimate, truth, **options):
    names = ["same_side:3", "wrongly_near:3", "wrongly_far:3"]
    found = dg.score(estimate, truth, names, quantity="depth", check=False, **options)
    return [found[f"{name}@all"].value for name in names]


def test_hand_numbers():
    """At the threshold is near; a missing pixel is wrong in each way, unless it is skipped."""
    estimate, truth = [[3.0, 3.1, 2.0, 4.0, NAN]], [[2.0, 3.0, 5.0, 9.0, 1.0]]
    assert shares(estimate, truth) == pytest.approx([40, 40, 40])
    assert shares(estimate, truth, missing="skip") == pytest.approx([50, 25, 25])


@given(seeds)
def test_the_three_shares_add_up(seed):
    estimate, truth = make_pair(seed, quantity="depth")
    assert sum(shares(estimate / 10, truth / 10, missing="skip")) == pytest.approx(100)


@given(seeds)
def test_near_and_far_change_places_with_estimate_and_truth(seed):
    estimate, truth = make_pair(seed, quantity="depth", missing=0, unknown=0)
    same, near, far = shares(estimate / 10, truth / 10)
    assert shares(truth / 10, estimate / 10) == pytest.approx([same, far, near])
