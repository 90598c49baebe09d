"""The fused pass: any number of regions, any number of threads, the same sums to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import make_masks, make_pair, seeds

from depthgauge.metrics import METRICS, Order
from depthgauge.metrics.moments import measure_moments, single_region
from depthgauge.metrics.order import select, sorted_errors
from depthgauge.metrics.terms import ABS, LOG, RELATIVE, SIGNED, SQUARE, beyond, over, over_both
from depthgauge.regions import pack

TERMS = (ABS, SQUARE, SIGNED, over(1), over(2), over_both(3, 0.05), RELATIVE, LOG, beyond(1.2))
FLOW_TERMS = (ABS, SQUARE, over(1.0), over_both(3.0, 0.05))


def per_region(estimate, truth, masks, terms, **limits):
    plane = pack(masks, truth)
    moments = measure_moments(estimate, truth, plane, terms, **limits)
    return {name: moments.state(name, terms) for name in masks}


@given(seed=seeds, count=st.integers(1, 20), flow=st.booleans())
def test_many_regions_at_once_equal_each_alone(seed, count, flow):
    estimate, truth = make_pair(seed, (31, 90), quantity="flow" if flow else "depth")
    terms = FLOW_TERMS if flow else TERMS
    masks = make_masks(seed, count, (31, 90))
    together = per_region(estimate, truth, masks, terms)
    for name, mask in masks.items():
        alone = measure_moments(estimate, truth, single_region(mask, truth), terms)
        state = alone.state("region", terms)
        assert (state.count, state.missing) == (together[name].count, together[name].missing)
        assert together[name].sums == pytest.approx(state.sums, rel=1e-12, abs=1e-12)


def big_pair(kind):
    shape = (413, 517)
    estimate, truth = make_pair(1, shape, quantity="flow" if kind == "flow" else "depth")
    masks = make_masks(2, 6, shape)
    masks["checks"] = np.indices(shape).sum(axis=0) % 2 == 0
    masks["blocks"] = np.indices(shape)[1] // 100 % 2 == 0
    return estimate, truth, masks


@pytest.mark.parametrize("kind", ["numbers", "flow"])
def test_threads_do_not_change_a_bit(kind, on_threads):
    estimate, truth, masks = big_pair(kind)
    terms = FLOW_TERMS if kind == "flow" else TERMS
    plane = pack(masks, truth)
    wanted = [(name, Order(q)) for name in masks for q in (50.0, 90.0, 99.0)]
    one, *more = on_threads(lambda: measure_moments(estimate, truth, plane, terms))
    for many in more:
        assert np.array_equal(one.sums, many.sums)
        assert np.array_equal(one.counts, many.counts)
    one, *more = on_threads(lambda: select(estimate, truth, plane, wanted))
    assert all(many == one for many in more)


def test_the_order_of_regions_does_not_change_a_bit():
    estimate, truth, masks = big_pair("numbers")
    there = per_region(estimate, truth, masks, TERMS)
    back = per_region(estimate, truth, dict(reversed(masks.items())), TERMS)
    assert all(there[name] == back[name] for name in masks)


def test_estimates_outside_the_range_are_missing():
    estimate = np.array([[-1, 0, 5, 10, 11, np.inf, -np.inf, np.nan]], np.float32)
    truth = np.zeros_like(estimate)
    found = per_region(estimate, truth, {"all": np.ones((1, 8), bool)}, (ABS,), low=0, high=10)
    assert (found["all"].count, found["all"].missing, found["all"].sums[0]) == (3, 5, 15)


def test_infinite_estimates_are_missing_by_default():
    estimate = np.array([[np.inf, -np.inf, 1]], np.float32)
    state = METRICS["mae"].measure(estimate, np.zeros_like(estimate))
    assert (state.count, state.missing, state.sums[0]) == (1, 2, 1)


def test_a_pixel_without_truth_is_in_no_region():
    truth = np.array([[np.nan, np.inf, 1.0]], np.float32)
    found = per_region(np.ones_like(truth), truth, {"all": np.ones((1, 3), bool)}, (ABS,))
    assert (found["all"].count, found["all"].missing) == (1, 0)


@given(
    seed=seeds,
    percent=st.sampled_from([0.0, 1.0, 25.0, 50.0, 90.0, 99.0, 100.0]),
    rule=st.sampled_from(["linear", "floor", "floor_float32"]),
    flow=st.booleans(),
)
def test_selected_quantiles_equal_sorted_ones(seed, percent, rule, flow):
    estimate, truth = make_pair(seed, quantity="flow" if flow else "depth")
    masks = make_masks(seed, 5)
    plane = pack(masks, truth)
    order = Order(percent, rule)
    found = select(estimate, truth, plane, [(name, order) for name in masks])
    for name in masks:
        state = sorted_errors(estimate, truth, plane, name)
        value, count, missing = found[name, order]
        assert (count, missing) == (state.count, state.missing)
        expected = METRICS["quantile"].finish(state, percent=percent, rule=rule)
        assert value == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_quantiles_of_many_atoms_need_no_histograms():
    estimate, truth = make_pair(4, (60, 80))
    masks = {f"r{i}": np.random.default_rng(i).random((60, 80)) < 0.5 for i in range(10)}
    plane = pack(masks, truth)
    assert plane.atoms.size > 500
    order = Order(90.0)
    found = select(estimate, truth, plane, [(name, order) for name in masks])
    for name in masks:
        state = sorted_errors(estimate, truth, plane, name)
        assert found[name, order] == (
            METRICS["quantile"].finish(state, percent=90.0, rule="linear"),
            state.count,
            state.missing,
        )


def test_infinite_sums_of_both_signs_are_no_crash():
    truth = np.array([[1.0, 1.0]], np.float32)
    huge = np.array([[3e38, -3e38]], np.float32)
    masks = {"a": np.array([[True, False]]), "b": np.array([[False, True]]), "c": truth > 0}
    moments = measure_moments(huge, truth, pack(masks, truth), (SIGNED,))
    moments.sums[:] = np.where(moments.sums > 0, np.inf, -np.inf)
    assert np.isnan(moments.state("c", (SIGNED,)).sums[0])


@pytest.mark.parametrize("constant", [0.0, 1.0, 1e30])
def test_quantiles_of_equal_errors(constant):
    truth = np.zeros((40, 50), np.float32)
    plane = pack({"all": np.ones(truth.shape, bool)}, truth)
    found = select(truth + np.float32(constant), truth, plane, [("all", Order(90.0))])
    assert found["all", Order(90.0)] == (np.float32(constant), 2000, 0)
