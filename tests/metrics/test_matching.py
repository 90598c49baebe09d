"""Matching of pixels: by hand, against SciPy's exact matching, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.geometry.boundary_maps.thinning import thin
from depthgauge.metrics._matching import (
    count_curve,
    least_codes,
    match_pixels,
    matched_pairs,
    radius_in_px,
    threshold_values,
)


def exact_size(estimate, truth, radius):
    """The size of a largest matching, by another algorithm."""
    a, b = np.argwhere(estimate), np.argwhere(truth)
    if not len(a) or not len(b):
        return 0
    near = cdist(a, b, "sqeuclidean") <= radius_in_px(estimate.shape, radius) ** 2 + 1e-9
    found = maximum_bipartite_matching(sparse.csr_matrix(near), perm_type="column")
    return int((found >= 0).sum())


def plain_counts(codes, truths, thresholds, radius):
    """Recall's counts and the sizes, from scratch at each threshold."""
    rows = []
    for t in threshold_values(thresholds):
        lines = thin(codes / 255 >= t)
        hits = sum(exact_size(lines, truth, radius) for truth in truths)
        rows.append((hits, sum(int(truth.sum()) for truth in truths), int(lines.sum())))
    return np.array(rows)


@st.composite
def two_sets(draw, most=16):
    shape = draw(st.tuples(st.integers(1, most), st.integers(1, most)))
    return draw(arrays(bool, shape)), draw(arrays(bool, shape))


radii = st.floats(0, 0.1)


def test_each_pixel_has_one_mate_at_most():
    estimate, truth = np.zeros((2, 40, 30), bool)
    estimate[10, 5:25] = True
    truth[11, 5:15] = True  # half as long, 1 px below
    found, hit = match_pixels(estimate, truth, radius=0.02)
    assert found.sum() == hit.sum() == 10
    np.testing.assert_array_equal(hit, truth)


def test_a_radius_of_exactly_3_px_reaches_3_px_and_not_4():
    """320 x 240 has a diagonal of 400 px, so 0.0075 of it is 3 px."""
    truth = np.zeros((320, 240), bool)
    truth[100, 30:200] = True
    for off, expected in ((3, 170), (-3, 170), (4, 0)):
        assert match_pixels(np.roll(truth, off, 0), truth, radius=0.0075)[0].sum() == expected


def test_a_chain_is_matched_from_end_to_end():
    """Nearest pairs leave the last pixel alone; all five fit when everybody moves by one."""
    estimate, truth = np.zeros((2, 1, 60), bool)
    estimate[0, [10, 13, 16, 19, 22]] = True
    truth[0, [12, 15, 18, 21, 24]] = True  # nearest: 1 px to the left, but 10 only reaches 12
    assert match_pixels(estimate, truth, radius=0.035)[0].sum() == 5


def test_the_nearest_of_several_is_the_one_that_counts():
    truth, estimate = np.zeros((2, 30, 30), bool)
    truth[15, 15] = True
    for place in ((15, 17), (16, 15), (13, 15)):
        estimate[place] = True
    found, _ = match_pixels(estimate, truth, radius=0.1)
    np.testing.assert_array_equal(np.argwhere(found), [[16, 15]])


def test_of_two_at_one_distance_the_truth_below_is_taken_then_the_left_one():
    estimate, truth = np.zeros((2, 30, 30), bool)
    estimate[15, 15] = True
    for places, expected in (
        ([(14, 15), (16, 15), (15, 14)], (16, 15)),
        ([(15, 14), (15, 16)], (15, 14)),
    ):
        truth[:] = False
        for place in places:
            truth[place] = True
        _, hit = match_pixels(estimate, truth, radius=0.05)
        np.testing.assert_array_equal(np.argwhere(hit), [expected])


@given(two_sets(), radii)
def test_no_matching_is_larger(sets, radius):
    estimate, truth = sets
    found, hit = match_pixels(estimate, truth, radius=radius)
    assert found.sum() == hit.sum() == exact_size(estimate, truth, radius)
    assert not (found & ~estimate).any()
    assert not (hit & ~truth).any()
    # The pixels that are said to be matched can be matched.
    assert exact_size(found, hit, radius) == found.sum()


@given(two_sets(), radii)
def test_who_is_whose_mate_is_symmetric_in_number(sets, radius):
    one, other = sets
    sizes = [match_pixels(a, b, radius=radius)[0].sum() for a, b in ((one, other), (other, one))]
    assert sizes[0] == sizes[1]


@given(two_sets(), radii)
def test_no_left_over_pixel_is_nearer_to_a_true_one_than_its_mate(sets, radius):
    """Where a true pixel's mate could be swapped for a nearer one that is left, it would be."""
    estimate, truth = sets
    need_nearest(estimate, truth, radius)


def need_nearest(estimate, truth, radius):
    pairs = matched_pairs(estimate, truth, radius=radius)
    found, hit = match_pixels(estimate, truth, radius=radius)
    ends, mates = pairs[:, :2], pairs[:, 2:]
    # Everybody has one mate, in reach, and these are the pixels that are said to have one.
    for mask, places in ((found, ends), (hit, mates)):
        assert sorted(map(tuple, places.tolist())) == list(map(tuple, np.argwhere(mask).tolist()))
    apart = ((ends - mates) ** 2).sum(axis=1)
    assert (apart <= radius_in_px(estimate.shape, radius) ** 2 + 1e-9).all()
    left = np.argwhere(estimate & ~found)
    assert (cdist(left, mates, "sqeuclidean") >= apart).all()


@pytest.mark.parametrize(("estimated", "true", "radius"), [(0.25, 0.3, 0.03), (0.15, 0.2, 0.045)])
def test_a_nearer_pixel_takes_over_after_long_paths(estimated, true, radius):
    """In most of these, nearest pairs and paths alone leave a nearer pixel without a mate."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        need_nearest(rng.random((40, 40)) < estimated, rng.random((40, 40)) < true, radius)


def test_hard_cases_that_need_long_paths():
    """Two dense sets that are shifted, and random ones of equal size: near searches give up."""
    rng = np.random.default_rng(5)
    block = np.zeros((60, 90), bool)
    block[10:40, 5:80] = True
    for estimate, truth in (
        (block, np.roll(block, 2, 0)),
        (rng.random((60, 90)) < 0.3, rng.random((60, 90)) < 0.3),
        (rng.random((60, 90)) < 0.32, rng.random((60, 90)) < 0.2),
    ):
        found, _ = match_pixels(estimate, truth, radius=0.02)
        assert found.sum() == exact_size(estimate, truth, 0.02)


@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 3))
def test_curves_agree_with_a_plain_version(seed, thresholds, people):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (14, 19)).astype(np.uint8) * (rng.random((14, 19)) < 0.6)
    truths = [rng.random((14, 19)) < 0.2 for _ in range(people)]
    counts = count_curve(codes.astype(np.uint8), truths, thresholds=thresholds, radius=0.08)
    expected = plain_counts(codes, truths, thresholds, 0.08)
    np.testing.assert_array_equal(counts[:, [0, 1, 3]], expected)
    # Matched for anybody: at least as many as for one, at most all and at most the sum.
    most = np.minimum(counts[:, 0], counts[:, 3])
    assert (counts[:, 2] <= most).all()
    assert (counts[:, 2] * people >= counts[:, 0]).all()


def test_a_threshold_gives_the_same_whatever_other_thresholds_there_are():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 256, (40, 50)).astype(np.uint8)
    truths = [rng.random((40, 50)) < 0.1 for _ in range(3)]
    fine = count_curve(codes, truths, thresholds=99, radius=0.03)
    coarse = count_curve(codes, truths, thresholds=9, radius=0.03)
    np.testing.assert_array_equal(fine[9::10], coarse)


def test_the_number_of_threads_changes_nothing(on_threads):
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 256, (40, 50)).astype(np.uint8)
    truths = [rng.random((40, 50)) < 0.1 for _ in range(2)]
    one, *more = on_threads(lambda: count_curve(codes, truths, thresholds=19, radius=0.03))
    for many in more:
        np.testing.assert_array_equal(one, many)


def test_an_empty_side_gives_no_match():
    codes, truth = np.zeros((20, 30), np.uint8), np.zeros((20, 30), bool)
    truth[4, 3:9] = True
    np.testing.assert_array_equal(
        count_curve(codes, [truth], thresholds=2, radius=0.05), [[0, 6, 0, 0]] * 2
    )
    codes[4, 3:9] = 255
    np.testing.assert_array_equal(
        count_curve(codes, [truth & False], thresholds=2, radius=0.05), [[0, 0, 0, 6]] * 2
    )


def test_thresholds_are_those_of_matlab_to_the_last_bit():
    """linspace(1/6, 5/6, 5)(2) is above 85/255 in float64: the code 85 does not reach it."""
    assert threshold_values(5)[1] > 85 / 255
    assert least_codes(5)[1] == 86
    np.testing.assert_allclose(threshold_values(99), np.arange(1, 100) / 100, rtol=1e-15)
    assert least_codes(1).tolist() == [128]


def test_what_makes_no_sense_is_refused():
    mask = np.zeros((5, 6), bool)
    with pytest.raises(WrongShape, match="both must be"):
        match_pixels(mask, mask.T, radius=0.01)
    with pytest.raises(BadScoreId, match="a share of the picture's diagonal"):
        match_pixels(mask, mask, radius=0.5)
    with pytest.raises(BadScoreId, match="thresholds is 0"):
        count_curve(mask.astype(np.uint8), [mask], thresholds=0, radius=0.01)
