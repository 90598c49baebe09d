import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.ranks import (
    average_ranks,
    kendall_tau,
    mean_ranks,
    min_ranks,
    pareto,
    rank_keys,
    rank_values,
    sort_labels,
    spearman_rho,
)
from depthgauge.engine.scoring.pool import rank_key

NAN = math.nan
SMALL = st.integers(0, 5).map(float)
NUMBERS = st.lists(st.one_of(SMALL, st.just(NAN)), min_size=1, max_size=8)


def goodness(value, better):
    """Plain: the sort key of one value, NaN behind everything."""
    if math.isnan(value):
        return (1, 0.0)
    return (0, {"lower": value, "higher": -value, "zero": abs(value)}[better])


@pytest.mark.parametrize(
    ("better", "ranks"),
    [
        ("lower", {"a": 3, "b": 1, "c": 2, "d": 4}),
        ("higher", {"a": 1, "b": 3, "c": 2, "d": 4}),
        ("zero", {"a": 2, "b": 2, "c": 1, "d": 4}),
    ],
)
def test_ranks_by_hand(better, ranks):
    values = {"a": 2.0, "b": -2.0, "c": 0.5, "d": NAN}
    assert rank_values(values, better) == ranks


def test_equal_values_share_the_better_rank():
    assert rank_values({"a": 1.0, "b": 2.0, "c": 1.0, "d": 3.0}, "lower") == {
        "a": 1,
        "b": 3,
        "c": 1,
        "d": 4,
    }


def test_infinite_is_worse_than_any_number_and_better_than_none():
    values = {"a": math.inf, "b": NAN, "c": 1e300, "d": NAN}
    assert rank_values(values, "lower") == {"a": 2, "b": 3, "c": 1, "d": 3}
    assert sort_labels(values, "lower") == ["c", "a", "b", "d"]


@given(NUMBERS, st.sampled_from(["lower", "higher", "zero"]))
def test_ranks_equal_the_plain_reference(values, better):
    keys = [goodness(v, better) for v in values]
    got = rank_keys(values, better)
    assert min_ranks(got).tolist() == [1 + sum(k < mine for k in keys) for mine in keys]
    assert average_ranks(got).tolist() == [
        sum(k < mine for k in keys) + (sum(k == mine for k in keys) + 1) / 2 for mine in keys
    ]


@given(st.floats(-1e6, 1e6), st.sampled_from(["lower", "higher", "zero"]))
def test_keys_are_the_engines(value, better):
    assert rank_keys([value], better)[0] == rank_key(value, better)


def test_mean_ranks_by_hand(build):
    run = build.from_values(
        {
            "a": {"s": 1.0, "t": 5.0, "u": 2.0},
            "b": {"s": 2.0, "t": 5.0, "u": NAN},
            "c": {"s": 3.0, "t": 9.0, "u": 1.0},
        }
    )
    # s: 1 2 3; t: 1.5 1.5 3; u: 2 3 1
    assert mean_ranks(run, "mae@all", "lower") == pytest.approx(
        {"a": 4.5 / 3, "b": 6.5 / 3, "c": 7 / 3}
    )


def test_mean_ranks_leave_out_empty_samples(build):
    errors = {"a": {"s": [1.0], "t": []}, "b": {"s": [2.0], "t": []}}
    run = build.from_errors(errors)
    assert mean_ranks(run, "mae@all", "lower") == {"a": 1.0, "b": 2.0}
    empty = build.from_errors({"a": {"t": []}})
    assert math.isnan(mean_ranks(empty, "mae@all", "lower")["a"])


def plain_tau(x, y):
    """tau-b pair by pair."""
    concordant = discordant = tied_x = tied_y = pairs = 0
    for i in range(len(x)):
        for j in range(i):
            pairs += 1
            product = (x[i] - x[j]) * (y[i] - y[j])
            concordant += product > 0
            discordant += product < 0
            tied_x += x[i] == x[j]
            tied_y += y[i] == y[j]
    below = (pairs - tied_x) * (pairs - tied_y)
    return (concordant - discordant) / math.sqrt(below) if below else NAN


PAIRS = st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=9)


@given(PAIRS)
def test_tau_equals_the_plain_reference_and_scipy(pairs):
    import warnings

    from scipy.stats import kendalltau

    x, y = zip(*pairs, strict=True)
    got = kendall_tau(x, y)
    assert got == pytest.approx(plain_tau(x, y), nan_ok=True)
    if len(x) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = kendalltau(x, y, variant="b").statistic
        assert got == pytest.approx(expected, nan_ok=True)


@given(PAIRS)
def test_spearman_equals_scipy(pairs):
    from scipy.stats import spearmanr

    x, y = zip(*pairs, strict=True)
    got = spearman_rho(x, y)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert math.isnan(got)
    else:
        assert got == pytest.approx(spearmanr(x, y).statistic)


def test_tau_of_orders_by_hand():
    assert kendall_tau([1, 2, 3], [1, 2, 3]) == 1.0
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == -1.0
    assert kendall_tau([1, 2, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(2 * 3))
    assert math.isnan(kendall_tau([1, 1], [1, 2]))
    assert math.isnan(kendall_tau([1], [1]))
    # Two incomplete methods have the same, infinite key.
    assert kendall_tau([1, math.inf, math.inf], [1, math.inf, math.inf]) == 1.0


def test_pareto_by_hand():
    rows = {
        "fast": {"time": 1.0, "good": 50.0},
        "exact": {"time": 9.0, "good": 90.0},
        "slow": {"time": 9.0, "good": 80.0},
        "poor": {"time": 9.5, "good": 40.0},
        "twin": {"time": 1.0, "good": 50.0},
    }
    got = pareto(rows, {"time": "lower", "good": "higher"})
    assert got == {
        "fast": (),
        "twin": (),
        "exact": (),
        "slow": ("exact",),
        "poor": ("exact", "fast", "slow", "twin"),
    }


def test_what_is_incomplete_dominates_nobody_and_is_dominated():
    rows = {
        "whole": {"x": 2.0, "y": 2.0},
        "half": {"x": 2.0, "y": NAN},
        "star": {"x": 1.0, "y": NAN},
        "bad": {"x": 3.0, "y": NAN},
    }
    got = pareto(rows, {"x": "lower", "y": "lower"})
    assert got == {"whole": (), "half": ("whole",), "star": (), "bad": ("whole",)}


def plain_pareto(rows, better):
    out = {}
    for b, row in rows.items():
        beaten_by = []
        for a, other in rows.items():
            if any(math.isnan(other[c]) for c in better):
                continue
            pairs = [(goodness(other[c], w), goodness(row[c], w)) for c, w in better.items()]
            if all(x <= y for x, y in pairs) and any(x < y for x, y in pairs):
                beaten_by.append(a)
        out[b] = tuple(sorted(beaten_by))
    return out


@given(
    st.lists(
        st.tuples(st.one_of(SMALL, st.just(NAN)), SMALL, st.integers(-3, 3).map(float)),
        min_size=1,
        max_size=6,
    ),
    st.randoms(),
)
def test_pareto_equals_the_plain_reference_in_any_order(cells, random):
    better = {"x": "lower", "y": "higher", "z": "zero"}
    rows = {f"m{i}": dict(zip("xyz", row, strict=True)) for i, row in enumerate(cells)}
    expected = plain_pareto(rows, better)
    labels = list(rows)
    random.shuffle(labels)
    assert pareto({x: rows[x] for x in labels}, better) == expected


def test_pareto_of_nothing():
    assert pareto({}, {"x": "lower"}) == {}
    assert pareto({"a": {}}, {}) == {"a": ()}


def test_matrices_are_ranked_row_by_row():
    keys = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 2.0]])
    assert min_ranks(keys).tolist() == [[1, 2, 2], [3, 1, 2]]
    assert average_ranks(keys).tolist() == [[1, 2.5, 2.5], [3, 1, 2]]
