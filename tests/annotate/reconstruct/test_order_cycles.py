"""Contradicting depth orders: by hand, against all subsets, and far too many of them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.reconstruct import _order_cycles
from depthgauge.annotate.reconstruct._order_cycles import Orders, cheapest_to_give_up


def orders(*rows):
    """From rows of near, far, ln of the factor, cost."""
    near, far, ratio, cost = np.array(rows, np.float64).reshape(-1, 4).T
    return Orders(near.astype(np.int64), far.astype(np.int64), ratio, cost)


def can_hold(made, kept):
    """Whether no cycle has a product of 1 or more: longest ways between all pairs."""
    count = int(max(made.near.max(initial=0), made.far.max(initial=0))) + 1
    best = np.full((count, count), -np.inf)
    for i in kept:
        best[made.near[i], made.far[i]] = max(
            best[made.near[i], made.far[i]], made.log_ratio[i] + 1e-9
        )
    for k in range(count):
        best = np.maximum(best, best[:, k : k + 1] + best[k])
    return bool((np.diag(best) <= 0).all())


def test_nothing_is_given_up_where_all_can_hold():
    found = cheapest_to_give_up(orders((0, 1, 0.5, 3), (1, 2, -0.2, 3), (2, 0, -0.5, 3)))
    assert (found.orders, found.cycles, found.complete) == (frozenset(), (), True)
    assert cheapest_to_give_up(orders()).orders == frozenset()


def test_one_order_that_closes_two_rings_goes_although_it_is_longer():
    made = orders((0, 1, 0, 5), (1, 2, 0, 4), (2, 0, 0, 4), (1, 3, 0, 4), (3, 0, 0, 4))
    found = cheapest_to_give_up(made)
    assert found.orders == {0}
    assert set(found.cycle_of(0)) in ({0, 1, 2}, {0, 3, 4})
    assert found.cycle_of(4) in ((4,), found.cycles[-1], found.cycles[0])


@given(st.integers(2, 5), st.integers(0, 9), st.integers(0, 10**6))
def test_the_cheapest_of_all_subsets_is_given_up(surfaces, count, seed):
    rng = np.random.default_rng(seed)
    near = rng.integers(0, surfaces, count)
    far = (near + rng.integers(1, surfaces, count)) % surfaces
    made = Orders(near, far, rng.normal(0, 0.3, count), rng.integers(1, 9, count).astype(float))
    found = cheapest_to_give_up(made)
    assert can_hold(made, set(range(count)) - found.orders)
    least = min(
        sum(made.cost[list(left)])
        for size in range(count + 1)
        for left in combinations(range(count), size)
        if can_hold(made, set(range(count)) - set(left))
    )
    assert sum(made.cost[list(found.orders)]) == pytest.approx(least)


def test_thousands_of_contradictions_end_and_leave_orders_that_hold():
    rng = np.random.default_rng(5)
    near = rng.integers(0, 120, 900)
    far = (near + rng.integers(1, 120, 900)) % 120
    made = Orders(near, far, np.zeros(900), rng.integers(1, 50, 900).astype(float))
    found = cheapest_to_give_up(made)
    assert found.complete
    assert can_hold(made, set(range(900)) - found.orders)
    assert 0 < len(found.orders) < 700


def test_a_search_that_is_too_long_says_so(monkeypatch):
    monkeypatch.setattr(_order_cycles, "_WORK", 10)
    found = cheapest_to_give_up(orders(*[(i, (i + 1) % 9, 0, 1) for i in range(9)]))
    assert not found.complete
