"""Pairs of points: what they must satisfy, and that a seed means one set of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import WrongShape
from depthgauge.geometry.pairs import (
    NEITHER,
    ORTHOGONAL,
    PARALLEL,
    clear_depth_pairs,
    ends_inside,
    keyed_normal_pairs,
    sample_depth_pairs,
    sample_normal_pairs,
)

seeds = st.integers(0, 2**32 - 1)


def make_depth(seed, shape=(17, 23), unknown=0.3):
    rng = np.random.default_rng(seed)
    depth = rng.integers(1, 5, shape).astype(np.float32)
    depth[rng.random(shape) < unknown] = np.nan
    return depth


@given(seed=seeds, count=st.integers(0, 301))
def test_depth_pairs_say_which_is_deeper_and_half_of_them_lie_on_one_row(seed, count):
    depth = make_depth(seed)
    pairs = sample_depth_pairs(depth, count, seed)
    assert pairs.shape == (count, 5)
    assert pairs.dtype == np.int32
    x_a, y_a, x_b, y_b, order = pairs.T
    difference = depth[y_a, x_a] - depth[y_b, x_b]
    assert np.array_equal(np.sign(difference), order)  # never a tie, never where nothing is known
    assert (y_a == y_b)[count - count // 2 :].all()


def test_random_pairs_are_anywhere_and_each_row_has_its_share():
    depth = np.arange(40 * 50, dtype=np.float32).reshape(40, 50)
    pairs = sample_depth_pairs(depth, 20000, 3)
    anywhere, on_rows = pairs[:10000], pairs[10000:]
    assert (anywhere[:, 1] == anywhere[:, 3]).mean() == pytest.approx(1 / 40, abs=0.01)
    rows = np.bincount(on_rows[:, 1], minlength=40)
    assert rows.min() > 150
    assert rows.max() < 350
    assert anywhere[:, 0].mean() == pytest.approx(24.5, abs=1)


def test_a_seed_is_one_set_of_pairs():
    depth = make_depth(1)
    assert np.array_equal(sample_depth_pairs(depth, 50, 7), sample_depth_pairs(depth, 50, 7))
    assert not np.array_equal(sample_depth_pairs(depth, 50, 7), sample_depth_pairs(depth, 50, 8))


@pytest.mark.parametrize("depth", [np.ones((4, 5)), np.full((4, 5), np.nan), np.ones((4, 0))])
def test_a_map_without_two_depths_has_no_pairs(depth):
    assert sample_depth_pairs(depth.astype(np.float32), 10, 0).shape == (0, 5)


def test_a_map_whose_rows_are_level_has_only_pairs_anywhere():
    depth = np.repeat(np.arange(1.0, 6.0)[:, None], 7, axis=1).astype(np.float32)
    assert len(sample_depth_pairs(depth, 40, 0)) == 20


def test_depth_has_one_channel():
    with pytest.raises(WrongShape, match=r"depth is \(height, width\)"):
        sample_depth_pairs(np.ones((3, 3, 2), np.float32), 4, 0)


PLANES = np.array([[1, 1, 2, 0], [3, 3, 2, np.nan], [3, 4, 4, 4]], np.float32)
RELATIONS = np.array([[1, 2, 2], [1, 3, 1], [2, 3, 2], [1, 4, 0], [9, 1, 1], [3, 9, 0]])


@given(seed=seeds, count=st.integers(1, 40))
def test_normal_pairs_lie_on_planes_of_that_relation(seed, count):
    pairs = sample_normal_pairs(PLANES, RELATIONS, count, seed)
    assert pairs.shape == (3 * count, 6)
    x_a, y_a, x_b, y_b = pairs[:, :4].T.astype(int)
    known = {(a, b): relation for a, b, relation in RELATIONS.tolist()}
    ids = zip(PLANES[y_a, x_a], PLANES[y_b, x_b], strict=True)
    assert [known[int(a), int(b)] for a, b in ids] == pairs[:, 4].astype(int).tolist()
    for relation in (NEITHER, PARALLEL, ORTHOGONAL):
        assert (pairs[:, 4] == relation).sum() == count
    assert ((pairs[:, 5] >= 0) & (pairs[:, 5] < 1)).all()
    assert np.array_equal(pairs, sample_normal_pairs(PLANES, RELATIONS, count, seed))


def test_relations_that_no_plane_has_give_no_pairs():
    assert sample_normal_pairs(PLANES, np.zeros((0, 3)), 5, 0).shape == (0, 6)
    assert sample_normal_pairs(PLANES, np.array([[7, 8, 1]]), 5, 0).shape == (0, 6)
    only = sample_normal_pairs(PLANES, RELATIONS[:1], 5, 0)
    assert set(only[:, 4]) == {ORTHOGONAL}


def test_keys_differ_from_sample_to_sample_and_from_seed_to_seed():
    """Else a dataset's equal numbers would be the first pairs of every sample."""
    pairs = np.array([[0, 0, 1, 1, 0], [2, 0, 1, 1, 1]])
    keyed = keyed_normal_pairs(pairs, 0)
    assert np.array_equal(keyed[:, :5], pairs)
    assert np.array_equal(keyed, keyed_normal_pairs(pairs, 0))
    assert not np.array_equal(keyed[:, 5], keyed_normal_pairs(pairs, 1)[:, 5])
    assert not np.array_equal(keyed[:, 5], keyed_normal_pairs(pairs + 1, 0)[:, 5])


def test_ends_outside_a_region_leave_a_pair_out_and_unknown_truth_does_not():
    truth = np.array([[1, 1, 1, np.nan]], np.float32)
    region = np.array([[1, 1, 0, 0]], bool)
    pairs = np.array([[0, 0, 1, 0, 1], [0, 0, 2, 0, 1], [0, 0, 3, 0, 1]])
    assert ends_inside(pairs, region, truth).tolist() == [True, False, True]
    assert ends_inside(pairs, None, truth).all()
    normals = np.repeat(truth[..., None], 3, axis=2)
    assert ends_inside(pairs, region, normals).tolist() == [True, False, True]


@pytest.mark.parametrize("pair", [(4, 0, 0, 0, 1), (0, 1, 0, 0, 1), (0, 0, -1, 0, 1)])
def test_ends_outside_the_map_are_refused(pair):
    with pytest.raises(WrongShape, match="lies outside the map, which is 4 wide and 1 high"):
        ends_inside(np.array([pair]), None, np.ones((1, 4), np.float32))


@pytest.mark.parametrize("margin", [0.0, 0.5, 3.0])
def test_pairs_differ_by_at_least_the_margin(margin):
    rng = np.random.default_rng(4)
    depth = rng.uniform(1.0, 1.1, (20, 30)).astype(np.float32)
    x_a, y_a, x_b, y_b, order = sample_depth_pairs(depth, 400, 2, margin).T
    first, second = depth[y_a, x_a].astype(float), depth[y_b, x_b].astype(float)
    assert len(order) == 400
    assert (abs(first - second) >= margin / 100 * np.minimum(first, second)).all()
    assert (np.sign(first - second) == order).all()
    assert np.count_nonzero(y_a[200:] == y_b[200:]) == 200
    # Without the margin, some pairs are closer to each other.
    free = sample_depth_pairs(depth, 400, 2)
    kept = clear_depth_pairs(free, depth, margin)
    assert (len(kept) < 400) == (margin > 0)
    assert len(clear_depth_pairs(kept, depth, margin)) == len(kept)


def test_pairs_without_true_depth_are_kept():
    depth = np.array([[1.0, np.nan, 1.001]], np.float32)
    pairs = np.array([[0, 0, 1, 0, 1], [0, 0, 2, 0, -1]], np.int32)
    assert clear_depth_pairs(pairs, depth, 1.0).tolist() == [[0, 0, 1, 0, 1]]
