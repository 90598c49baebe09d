"""Parallel and orthogonal planes: hand numbers, references, what a missing normal costs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.geometry.angles import angles_between
from depthgauge.geometry.pairs import keyed_normal_pairs
from depthgauge.metrics import METRICS
from depthgauge.metrics.relations import equal_numbers

NAN = np.nan
NAMES = ("ap_parallel", "ap_orthogonal")
seeds = st.integers(0, 2**32 - 1)


def turned(*degrees):
    a = np.radians(degrees)
    return np.stack([np.sin(a), 0 * a, -np.cos(a)], axis=-1)[None].astype(np.float32)


def score(name, estimate, pairs, missing="bad", region=None, truth=None, **params):
    m = METRICS[name]
    bound = m.bind(params)
    truth = np.ones_like(estimate) if truth is None else truth
    state = m.measure(estimate, truth, region, normal_pairs=np.asarray(pairs, float), **bound)
    return m.finish(state, missing, **bound), state


def value(*arguments, **named):
    return score(*arguments, **named)[0]


def pairs_of(*relations):
    """Pixel 0 with pixels 1, 2, 3 ..., which have these relations to it."""
    keys = np.linspace(0, 0.9, len(relations))
    return [
        [0, 0, k + 1, 0, r, key] for k, (r, key) in enumerate(zip(relations, keys, strict=True))
    ]


def test_by_hand():
    """Errors 5, 6, 40 and 80; the first and the third are parallel: 1/2 * 1 + 1/2 * 2/3."""
    normals = turned(0, 5, 174, 40, 80)
    assert value("ap_parallel", normals, pairs_of(1, 0, 1, 0)) == pytest.approx(5 / 6)


def test_orthogonal_by_hand():
    """Errors 85, 84, 50 and 10; the second and the last are orthogonal: 1/2 * 1 + 1/2 * 2/3."""
    normals = turned(0, 5, 174, 40, 80)
    assert value("ap_orthogonal", normals, pairs_of(0, 2, 0, 2)) == pytest.approx(5 / 6)


def test_both_other_relations_may_be_negative():
    normals = turned(0, 5, 50, 88)
    pairs = pairs_of(0, 1, 2)  # the neither pair looks parallel
    assert value("ap_parallel", normals, pairs) == 0.5
    assert value("ap_parallel", normals, pairs, negatives="both") == 0.5
    assert value("ap_orthogonal", normals, pairs) == 1
    pairs = pairs_of(2, 1, 0)  # the orthogonal pair looks parallel
    assert value("ap_parallel", normals, pairs) == 1
    assert value("ap_parallel", normals, pairs, negatives="both") == 0.5
    with pytest.raises(BadScoreId, match="negatives is 'all' but must be one of neither, both"):
        METRICS["ap_parallel"].bind({"negatives": "all"})


@given(seed=seeds, counts=st.tuples(*[st.integers(1, 12)] * 3))
def test_normals_that_are_all_alike_give_the_share_of_positives(seed, counts):
    """The published 0.5 of Front_Facing, whatever the numbers of pairs are."""
    rng = np.random.default_rng(seed)
    relations = np.repeat([0, 1, 2], counts)
    points = rng.integers(0, 6, (relations.size, 4))
    pairs = keyed_normal_pairs(np.column_stack([points, relations]), seed)
    front = np.tile(np.array([0, 0, -1], np.float32), (6, 6, 1))
    for name in NAMES:
        assert value(name, front, pairs) == pytest.approx(0.5)
        assert value(name, front, pairs, negatives="both") == pytest.approx(1 / 3)


def reference(rows, relation, negatives, wrong_by):
    """Equal numbers by hand, then threshold by threshold."""
    least = min(sum(r[0] == k for r in rows) for k in {r[0] for r in rows})
    kept = [r for k in (0, 1, 2) for r in sorted(r for r in rows if r[0] == k)[:least]]
    kept = [r for r in kept if r[0] in (relation, 0) or negatives == "both"]
    errors = sorted({wrong_by(r[2]) for r in kept})
    n = sum(r[0] == relation for r in kept)
    area = before = 0.0
    for limit in errors:
        found = [r for r in kept if wrong_by(r[2]) <= limit]
        right = sum(r[0] == relation for r in found)
        area += (right - before) / n * right / len(found)
        before = right
    return area


@given(seed=seeds, negatives=st.sampled_from(["neither", "both"]))
def test_agrees_with_the_reference(seed, negatives):
    rng = np.random.default_rng(seed)
    estimate = rng.normal(size=(7, 8, 3)).astype(np.float32)
    counts = rng.integers(1, 15, 3)
    xy = rng.integers(0, 7, (counts.sum(), 4))
    pairs = keyed_normal_pairs(np.column_stack([xy, np.repeat([0, 1, 2], counts)]), seed)
    ends = [[estimate[int(p[k + 1]), int(p[k])] for p in pairs] for k in (0, 2)]
    angles = angles_between(np.array(ends[0]), np.array(ends[1]))
    rows = [(int(p[4]), p[5], a) for p, a in zip(pairs, angles.tolist(), strict=True)]
    expected = reference(rows, 1, negatives, lambda a: min(a, 180.0 - a) / 180)
    assert value("ap_parallel", estimate, pairs, negatives=negatives) == pytest.approx(expected)
    expected = reference(rows, 2, negatives, lambda a: abs(a - 90.0) / 180)
    assert value("ap_orthogonal", estimate, pairs, negatives=negatives) == pytest.approx(expected)
    # Neither the length nor the sign of all normals matters.
    flipped = -estimate * rng.uniform(0.5, 2, (7, 8, 1)).astype(np.float32)
    again = value("ap_parallel", flipped, pairs, negatives=negatives)
    assert again == pytest.approx(value("ap_parallel", estimate, pairs, negatives=negatives))


def test_equal_numbers_are_those_with_the_smallest_keys():
    rows = np.array([[0, 0.9, 1], [0, 0.1, 2], [0, 0.5, 3], [2, 0.7, 4], [2, 0.2, 5]])
    assert equal_numbers(rows)[:, 2].tolist() == [2, 3, 5, 4]
    assert equal_numbers(np.zeros((0, 3))).shape == (0, 3)


@given(seed=seeds)
def test_the_order_of_samples_does_not_matter_and_all_count(seed):
    rng = np.random.default_rng(seed)
    states = []
    for k in range(3):
        normals = rng.normal(size=(5, 5, 3)).astype(np.float32)
        xy = rng.integers(0, 5, (12, 4))
        pairs = keyed_normal_pairs(np.column_stack([xy, rng.integers(0, 3, 12)]), k)
        states.append(score("ap_parallel", normals, pairs)[1])
    m, (a, b, c) = METRICS["ap_parallel"], states
    assert a + b + c == c + b + a
    assert len((a + b + c).rows) == 36
    assert m.finish(a + b + c, negatives="neither") == m.finish(c + a + b, negatives="neither")


# --- missing ----------------------------------------------------------------------------------


def test_a_missing_positive_is_never_found_and_a_missing_negative_comes_first():
    normals, pairs = turned(0, 5, 10, 60, 70), pairs_of(1, 1, 0, 0)
    assert value("ap_parallel", normals, pairs) == 1
    lost = normals.copy()
    lost[0, 1] = NAN
    found, state = score("ap_parallel", lost, pairs)
    assert (state.count, state.missing) == (3, 1)
    assert found == 0.5
    assert value("ap_parallel", lost, pairs, missing="skip") == 1
    lost = normals.copy()
    lost[0, 3] = 0
    assert value("ap_parallel", lost, pairs) == pytest.approx(0.5 * 1 / 2 + 0.5 * 2 / 3)
    assert value("ap_parallel", lost, pairs, missing="skip") == 1


def test_nothing_estimated_is_the_worst():
    nothing, pairs = np.full((1, 4, 3), NAN, np.float32), pairs_of(0, 1, 2)
    for name in NAMES:
        assert value(name, nothing, pairs) == 0
        assert math.isnan(value(name, nothing, pairs, missing="skip"))


@given(seed=seeds, negatives=st.sampled_from(["neither", "both"]))
def test_removing_normals_never_helps(seed, negatives):
    rng = np.random.default_rng(seed)
    estimate = rng.normal(size=(6, 6, 3)).astype(np.float32)
    xy = rng.integers(0, 6, (30, 4))
    pairs = keyed_normal_pairs(np.column_stack([xy, np.arange(30) % 3]), seed)
    fewer = estimate.copy()
    fewer[rng.random((6, 6)) < 0.3] = NAN
    for name in NAMES:
        before = value(name, estimate, pairs, negatives=negatives)
        assert value(name, fewer, pairs, negatives=negatives) <= before + 1e-12


def test_without_positives_or_negatives_there_is_no_score():
    normals = turned(0, 5, 10)
    assert math.isnan(value("ap_parallel", normals, pairs_of(0, 0)))
    assert math.isnan(value("ap_parallel", normals, pairs_of(1, 1)))
    assert math.isnan(value("ap_parallel", normals, np.zeros((0, 6))))


def test_pairs_are_judged_where_there_are_no_true_normals():
    normals, pairs = turned(0, 5, 60), pairs_of(1, 0)
    truth = np.full_like(normals, NAN)
    found, state = score("ap_parallel", normals, pairs, region=np.zeros((1, 3), bool), truth=truth)
    assert (found, state.count) == (1, 2)


def test_ends_outside_the_map_are_refused():
    with pytest.raises(WrongShape, match="lies outside the map"):
        value("ap_parallel", turned(0, 5), pairs_of(1, 1))


@pytest.mark.parametrize("name", NAMES)
def test_the_declaration(name):
    m = METRICS[name]
    assert (m.level, m.pools, m.better, m.bounds) == ("dataset", ("pixel",), "higher", (0, 1))
    assert all((m.cite, m.formula, ">>>" in m.doc))
    assert METRICS["ap_parallel"].measure_with is METRICS["ap_orthogonal"].measure_with
