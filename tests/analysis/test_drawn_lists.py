import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.bootstrap._drawn_lists import DrawnValues, finish_lists, value_at
from depthgauge.types import State, merge_states


def plainly(finish, states, counts):
    """Every resample merged for itself."""
    found = []
    for times in counts.astype(int):
        drawn = [state for state, n in zip(states, times, strict=True) for _ in range(n)]
        found.append(finish(merge_states(drawn)) if drawn else math.nan)
    return found


def hash_of_rows(state):
    """A number that knows every row, its place, the counts and the sums."""
    weights = 1.0 + np.arange(state.rows.size)
    held = float(np.sum(state.rows.ravel() * weights))
    return held + 7 * state.count + 11 * state.missing + float(state.sums.sum())


def random_states(rng, kind, samples=5):
    states = []
    for _ in range(samples):
        n = int(rng.integers(0, 6))
        lists = {"values": np.sort(rng.integers(0, 4, n)).astype(np.float32)}
        if kind == "rows":
            rows = rng.integers(0, 3, (n, 2)).astype(float)
            lists = {"rows": rows[np.lexsort(rows.T[::-1])]}
        states.append(State(n, int(rng.integers(0, 3)), rng.uniform(size=2), **lists))
    return states


@given(st.integers(0, 10_000))
def test_rows_are_merged_as_adding_states_merges_them(seed):
    rng = np.random.default_rng(seed)
    states = random_states(rng, "rows")
    counts = rng.integers(0, 3, (6, 5)).astype(float)
    counts[0] = 0
    found = finish_lists(hash_of_rows, states, counts)
    assert found == pytest.approx(plainly(hash_of_rows, states, counts), nan_ok=True)
    assert math.isnan(found[0])


def middle(state):
    n = len(state.values)
    return float(state.values[(n - 1) // 2]) + state.missing if n else math.nan


def branching(state):
    """Reads another place when it sees what stands at the first."""
    n = state.values.size
    if not n:
        return math.nan
    return float(state.values[-1]) if state.values[0] > 1 else float(state.values[n // 2])


def all_of_them(state):
    return float(np.sum(np.asarray(state.values, np.float64) * np.arange(len(state.values))))


@given(st.integers(0, 10_000), st.sampled_from([middle, branching, all_of_them]), st.booleans())
def test_values_are_looked_up_as_if_they_were_merged(seed, finish, negative):
    rng = np.random.default_rng(seed)
    states = random_states(rng, "values")
    if negative:
        states = [State(s.count, s.missing, s.sums, s.values - 2) for s in states]
    counts = rng.integers(0, 3, (6, 5)).astype(float)
    found = finish_lists(finish, states, counts)
    assert found == pytest.approx(plainly(finish, states, counts), nan_ok=True)


def test_values_that_are_asked_for_are_not_all_put_together():
    def never():
        raise AssertionError("the whole list was made")

    values = DrawnValues(3, {2: 5.0}, never)
    assert values[2] == values[-1] == 5.0
    assert len(values) == 3
    assert values.asked == [2, 2]
    with pytest.raises(IndexError):
        values[3]
    with pytest.raises(AssertionError, match="whole list"):
        values[1]
    assert DrawnValues(3, None, never)[1] == 0
    assert DrawnValues(2, {}, lambda: np.array([1.0, 4.0]))[:2].tolist() == [1.0, 4.0]


def test_the_value_at_a_place_is_that_of_the_sorted_list():
    rng = np.random.default_rng(3)
    parts = [np.sort(rng.exponential(size=n).astype(np.float32)) for n in (4, 1, 9)]
    counts = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    places = np.array([7, 0])
    whole = [
        np.sort(np.concatenate([np.repeat(p, int(n)) for p, n in zip(parts, row, strict=True)]))
        for row in counts
    ]
    assert value_at(parts, counts, places).tolist() == [whole[0][7], whole[1][0]]
