"""Depth orders that contradict each other, and the fewest of them to give up.

An order says that one surface is closer than another: the scale of the far one is at least a factor
times that of the near one. Around a cycle the factors multiply; where the product is 1 or more, no
scales satisfy all orders of the cycle, and one of them must be given up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SLACK = 1e-9
"""Around a cycle, logarithms of factors that add up to this much less than 0 still count as 0."""
_EXACT = 40
"""So many cycles are met by the best choice of orders; further ones lose their cheapest order."""
_WORK = 200_000_000
"""Orders that are looked at before the search stops. Hundreds of scribbles need more than this."""
_ROUNDS = 8
"""Rounds between two looks for a closed chain."""

Cycle = tuple[int, ...]
"""Positions of orders, each of which begins where the one before it ends."""


@dataclass(frozen=True)
class Orders:
    """Orders between surfaces, one entry each."""

    near: NDArray[np.int64]
    far: NDArray[np.int64]
    """Numbers of the surfaces, from 0."""
    log_ratio: NDArray[np.float64]
    """ln of the least factor between the scales of the far and the near surface."""
    cost: NDArray[np.float64]
    """What giving up an order costs: its length."""


@dataclass(frozen=True)
class GivenUp:
    """Orders without which the others can hold."""

    orders: frozenset[int]
    cycles: tuple[Cycle, ...]
    """The contradictions that were found."""
    complete: bool
    """False if the search was stopped: others may still contradict each other."""

    def cycle_of(self, order: int) -> Cycle:
        """The shortest contradiction found that contains an order; only itself if there is none."""
        return min((c for c in self.cycles if order in c), key=len, default=(order,))


def cheapest_to_give_up(orders: Orders, late: Callable[[], bool] | None = None) -> GivenUp:
    """The orders with the least total cost without which no contradiction remains.

    Contradictions are found one by one. The cheapest orders that meet all of them are given up, and
    the search begins again, until there is none. The result depends on the orders only, unless
    time is short: `late` is asked before each search, and none begins when it says yes.

    >>> ring = Orders(np.array([0, 1, 2]), np.array([1, 2, 0]), np.zeros(3), np.array([9, 2, 5.0]))
    >>> sorted(cheapest_to_give_up(ring).orders)
    [1]
    """
    cycles: list[Cycle] = []
    given_up: set[int] = set()
    search = _Search(orders)
    hurry = False
    while not hurry and (cycle := search.cycle(given_up)) is not None:
        hurry = late is not None and late()
        cycles.append(cycle)
        if len(cycles) <= _EXACT:
            given_up = _cheapest_hits(cycles, orders.cost)
        else:
            given_up.add(min(cycle, key=lambda order: (orders.cost[order], order)))
    return GivenUp(frozenset(given_up), tuple(cycles), search.work > 0 and not hurry)


class _Search:
    """Bellman and Ford's search for a cycle whose factors multiply to 1 or more."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.work = _WORK
        """How many orders may still be looked at."""

    def cycle(self, without: set[int]) -> Cycle | None:
        """A contradiction among the orders that were not given up; None if there is none."""
        kept = np.ones(len(self.orders.near), np.bool_)
        kept[list(without)] = False
        used = np.flatnonzero(kept)
        near, far = self.orders.near[used], self.orders.far[used]
        ratio = self.orders.log_ratio[used] + _SLACK
        nodes = int(max(near.max(initial=-1), far.max(initial=-1))) + 1
        reached, by = np.zeros(nodes), np.full(nodes, -1)
        for turn in range(nodes + 1):
            self.work -= len(used)
            if self.work <= 0:
                return None
            through = reached[near] + ratio
            best = reached.copy()
            np.maximum.at(best, far, through)
            improved = np.flatnonzero((through == best[far]) & (best[far] > reached[far]))
            if not improved.size:
                return None
            by[far[improved]] = improved
            reached = best
            if turn % _ROUNDS == _ROUNDS - 1 or turn == nodes:
                found = _closed_chain(by, near)
                if found is not None:
                    return tuple(int(used[order]) for order in found)
        return None


def _closed_chain(by: NDArray[np.int64], near: NDArray[np.int64]) -> list[int] | None:
    """Orders of a chain that returns to its beginning; `by` is the order that reached each node."""
    state = np.zeros(len(by), np.int8)  # 1: on the present chain, 2: done
    for start in range(len(by)):
        chain, node = [], start
        while state[node] == 0 and by[node] >= 0:
            state[node] = 1
            chain.append(node)
            node = int(near[by[node]])
        if state[node] == 1:
            ring = chain[chain.index(node) :]
            return [int(by[n]) for n in reversed(ring)]
        state[chain] = 2
        state[node] = 2
    return None


def _cheapest_hits(cycles: list[Cycle], cost: NDArray[np.float64]) -> set[int]:
    """The orders of least total cost of which every cycle contains one."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    names = sorted({order for cycle in cycles for order in cycle})
    column = {order: i for i, order in enumerate(names)}
    rows = np.repeat(np.arange(len(cycles)), [len(cycle) for cycle in cycles])
    columns = [column[order] for cycle in cycles for order in cycle]
    hits = sparse.csr_array((np.ones(len(rows)), (rows, columns)), (len(cycles), len(names)))
    chosen = milp(
        # Among equal costs the later orders are given up, whatever the solver prefers.
        cost[names] - 1e-6 * np.arange(len(names)) / len(names),
        integrality=np.ones(len(names)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(hits, lb=1),
    )
    if chosen.x is None:
        return {min(cycle, key=lambda order: float(cost[order])) for cycle in cycles}
    return {names[i] for i in np.flatnonzero(chosen.x > 0.5)}
