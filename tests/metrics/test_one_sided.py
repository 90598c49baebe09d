"""Too near or too far by a threshold: hand numbers, references, signs of disparity and depth."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import seeds
from scenes import make_scene, value

NAN = np.nan
SIDES = {
    "fattening_simple": ("edges", "background"),
    "thinning_simple": ("edges", "foreground"),
    "detail_fattening_simple": ("structures", "surrounding"),
    "fine_thinning": ("structures", "mask"),
}
TOO_NEAR = ("fattening_simple", "detail_fattening_simple")


def judge(name, estimate, truth, quantity="disparity", side=None, **more):
    estimate, truth = (np.asarray(m, np.float32) for m in (estimate, truth))
    thing, attribute = SIDES[name]
    side = np.ones(truth.shape, bool) if side is None else np.asarray(side, bool)
    items = {thing: SimpleNamespace(**{attribute: side}), "quantity": quantity}
    return value(name, estimate, truth, items, **more)


@pytest.mark.parametrize("name", SIDES)
def test_hand_numbers(name):
    """Six px is not more than six; the other way does not count; a missing pixel does."""
    sign = 1 if name in TOO_NEAR else -1
    truth = np.full((1, 5), 20)
    estimate = truth + sign * np.array([[0, 6, 6.5, -15, NAN]])
    assert judge(name, estimate, truth) == 40
    assert judge(name, estimate, truth, missing="skip") == 25
    assert judge(name, estimate, truth, missing="good") == 20
    assert judge(name, estimate, truth, threshold=5.9) == 60
    assert judge(name, estimate, truth, side=[[1, 1, 1, 0, 0]]) == pytest.approx(100 / 3)


@pytest.mark.parametrize("name", SIDES)
def test_nearer_is_a_smaller_depth(name):
    nearer, farther = [[1.0]], [[3.0]]
    expected = 100 if name in TOO_NEAR else 0
    assert judge(name, nearer, [[2.0]], "depth", threshold=0.5) == expected
    assert judge(name, farther, [[2.0]], "depth", threshold=0.5) == 100 - expected


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("quantity", ["disparity", "depth"])
@given(seed=seeds, threshold=st.sampled_from([0.0, 0.15, 1.0, 6.0]))
def test_agrees_with_a_reference(name, quantity, seed, threshold):
    estimate, truth, items = make_scene(seed, quantity)
    thing, attribute = SIDES[name]
    side = getattr(items[thing], attribute) & np.isfinite(truth)
    nearer = (truth - estimate if quantity == "depth" else estimate - truth)[side]
    signed = nearer if name in TOO_NEAR else -nearer
    failed = np.isnan(signed) | (signed > np.float32(threshold))
    found = value(name, estimate, truth, items, threshold=threshold)
    assert found == pytest.approx(100 * failed.mean())


def test_with_both_signs_they_are_bad_pixels():
    """Section 4.2.2: where all errors are of one sign, FFS is BadPix on M_b."""
    _, truth, items = make_scene(0)
    estimate = truth + np.float32(7) * (np.random.default_rng(0).random(truth.shape) < 0.3)
    found = value("fattening_simple", estimate, truth, items)
    bad = value("badpix", estimate, truth, {}, items["edges"].background, threshold=6)
    assert found == pytest.approx(bad)
    assert value("thinning_simple", estimate, truth, items) == 0
