"""Gaps of the truth: what they are closed with, and the regions beside them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry import close_gaps, find_edges, find_structures
from depthgauge.synth.sets.stereo_scenes import make_scene

NAN = np.nan
Y, X = np.mgrid[0:60, 0:90].astype(np.float64)
BAR = (X >= 50) & (X < 55)


def scene(inside, ahead=10.0, behind=0.0):
    return np.where(inside, ahead, behind).astype(np.float32)


def closed(row, **parameters):
    values = np.array([row], np.float32)
    return close_gaps(values, values, **parameters).truth[0].tolist()


# --- how gaps are closed


def test_a_gap_beside_an_object_is_what_is_behind():
    assert closed([1, 1, NAN, NAN, 9, 9]) == [1, 1, 1, 1, 9, 9]
    assert closed([9, 9, NAN, NAN, 1, 1]) == [9, 9, 1, 1, 1, 1]


def test_a_hole_in_a_slanted_surface_is_no_step():
    plane = 5 + 0.4 * np.arange(20)
    holey = plane.copy()
    holey[6:12] = NAN  # its ends differ by 2.8 px
    assert closed(holey) == pytest.approx(plane.tolist(), abs=1e-5)
    # A surface of less than four px shows no slope.
    assert closed(holey[3:])[3:9] == pytest.approx([plane[5]] * 6)


def test_what_is_open():
    assert closed([NAN, 3, 3, NAN])[1:3] == [3, 3]
    assert np.isnan(closed([NAN, 3, 3, NAN])[0])
    assert np.isnan(closed([NAN, 3, 3, NAN])[3])
    assert np.isnan(closed([1, 1, 1, NAN, 9], gaps="open")[3])


def test_truth_of_a_laser_scanner_is_not_closed():
    sparse = [3, NAN, NAN, 3, NAN, NAN, 9, NAN, NAN, 9]
    assert np.isnan(closed(sparse)).sum() == 6
    assert np.isnan(closed([*sparse[:6], 9, 9, 9, 9])).sum() == 0


def test_depth_is_closed_with_the_larger_value_and_flow_with_the_slower():
    depth = np.array([[7, NAN, 2]], np.float32)
    assert close_gaps(depth, -depth).truth.tolist() == [[7, 7, 2]]
    flow = np.array([[[6, 8], [NAN, 1], [3, 4]]], np.float32)
    found = close_gaps(flow, np.hypot(flow[..., 0], flow[..., 1]))
    assert found.truth.tolist() == [[[6, 8], [3, 4], [3, 4]]]
    assert found.known.tolist() == [[True, False, True]]


def test_a_truth_without_gaps_is_left_as_it_is():
    truth = scene(BAR)
    found = close_gaps(truth, truth)
    assert found.known is None
    assert (found.truth == truth).all()


def test_the_right_view_shows_what_is_between_two_things():
    """Two things at 6 px, with hidden background between them, in front of a wall at 2 px."""
    left = np.array([[2, 2, 2, 2, 2, 2, 6, 6, 6, NAN, NAN, NAN, 6, 6, 6, 2]], np.float32)
    right = np.full_like(left, NAN)
    right[0, :3], right[0, 6:9] = 6, 6
    level = close_gaps(left, left, right_disparity=right).truth
    assert level[0, 9:12].tolist() == [6, 6, 6]  # nothing is known between the two
    right[0, 4] = 2  # between columns 8 - 6 and 12 - 6
    found = close_gaps(left, left, right_disparity=right).truth
    assert found[0, 9:12].tolist() == [2, 2, 2]
    right[0, 4] = 5.5
    assert close_gaps(left, left, right_disparity=right).truth[0, 9:12].tolist() == [6, 6, 6]
    right[0, 9] = 1  # beside the two, not between them
    assert close_gaps(left, left, right_disparity=right).truth[0, 9:12].tolist() == [6, 6, 6]
    with pytest.raises(WrongShape, match="the right disparity is 3x1"):
        close_gaps(left, left, right_disparity=right[:, :3])


def plain_close(row, jump):
    """One row of one channel."""
    filled, known = row.astype(np.float64).copy(), np.isfinite(row)
    at = np.flatnonzero(known)

    def slope(end, sign):
        run = [row[end]]
        while len(run) <= 8:
            there = end + sign * len(run)
            if not 0 <= there < row.size or not abs(row[there] - run[-1]) <= jump:
                break
            run.append(row[there])
        steps = len(run) - 1
        return (float(run[0]) - run[-1]) / steps if steps >= 3 else 0.0

    for left, right in pairwise(at):
        n = right - left
        one, two = float(row[left]), float(row[right])
        if n > 1:
            same = abs(one + slope(left, -1) * n - two) <= jump
            same &= abs(two + slope(right, 1) * n - one) <= jump
            inner = np.linspace(one, two, n + 1)[1:-1]
            filled[left + 1 : right] = inner if same else min(one, two)
    return filled


@given(
    hnp.arrays(np.float32, (3, 24), elements=st.sampled_from([0, 0.5, 1, 4, NAN])),
    st.sampled_from([0.4, 1.0]),
)
def test_agrees_with_a_plain_version(truth, jump):
    found = close_gaps(truth, truth, jump=jump).truth
    expected = np.array([plain_close(row, jump) for row in truth])
    if np.isfinite(expected).sum() > 2 * np.isfinite(truth).sum():
        expected = truth
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_mistakes():
    with pytest.raises(Misuse, match="gaps is 'shut'; it must be background or open"):
        closed([1, NAN], gaps="shut")
    with pytest.raises(WrongShape, match="the order is 2x1, the truth is 3x1"):
        close_gaps(np.zeros((1, 3)), np.zeros((1, 2)))


def test_threads_change_nothing(on_threads):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 9, (60, 80)).astype(np.float32).repeat(4, 0).repeat(4, 1)
    truth[rng.random(truth.shape) < 0.1] = NAN
    one, *more = on_threads(lambda: close_gaps(truth, truth))
    assert all(one.truth.tobytes() == many.truth.tobytes() for many in more)


# --- regions beside gaps


def test_a_missing_column_beside_a_bar_takes_nothing_from_it():
    truth = scene(BAR)
    truth[:, 49] = NAN
    found = find_structures(truth, truth)
    assert (found.mask == BAR).all()
    assert found.mask.sum() == 300
    assert not find_structures(truth, truth, gaps="open").mask.any()


def test_specks_count_only_where_the_truth_is_complete():
    dots = (Y == 30) & ((X == 20) | (X == 60))
    truth = scene(dots)
    assert find_structures(truth, truth).labels.max() == 2
    truth[:, 66] = NAN  # within reach of the second
    found = find_structures(truth, truth)
    assert (found.mask == (dots & (X == 20))).all()
    assert (find_structures(truth, truth, least=1).mask == dots).all()
    assert (find_structures(truth, truth, reach=5).mask == dots).all()


def test_an_edge_beside_hidden_background():
    inside = X >= 40
    truth = scene(inside)
    truth[:, 34:40] = NAN
    found = find_edges(truth, truth, reach=10)
    assert (found.edge == (X == 40)).all()
    assert (found.foreground == ((X >= 40) & (X < 50))).all()
    assert (found.background == ((X >= 30) & (X < 34))).all()
    np.testing.assert_array_equal(found.foreground_map[found.background], 10)
    np.testing.assert_array_equal(found.background_map[found.foreground], 0)
    # 33 is 6.5 px from the boundary, not half a px from the gap.
    assert (found.boundary_px[:, 33] == 6.5).all()


def occluded(disparity, right):
    """Where the other view shows something else that is in front by more than a px."""
    rows, columns = np.indices(disparity.shape)
    there = columns - disparity
    first = np.floor(there).astype(int).clip(0, disparity.shape[1] - 2)
    nearest = np.minimum(right[rows, first], right[rows, first + 1])
    return (there >= 0) & (nearest > disparity + 1)


def iou(one, two, known):
    both, either = (one & two & known).sum(), ((one | two) & known).sum()
    return both / either if either else 1.0


@pytest.mark.parametrize("name", ["clutter", "fence", "spheres", "staircase"])
def test_occlusion_takes_little_from_regions(name):
    """Over the pixels that keep their truth; the evidence `gaps` has more scenes."""
    sample = make_scene(name, (240, 160))
    full = sample.truth["disparity"]
    hidden = occluded(full, sample.truth["right_disparity"])
    truth = np.where(hidden, NAN, full).astype(np.float32)
    assert hidden.mean() > 0.002
    for find, parts in (
        (find_edges, ("edge", "foreground", "background")),
        (find_structures, ("mask", "surrounding")),
    ):
        exact, closed, opened = (
            find(full, full),
            find(truth, truth),
            find(truth, truth, gaps="open"),
        )
        for part in parts:
            wanted = getattr(exact, part)
            shared = iou(wanted, getattr(closed, part), ~hidden)
            assert shared >= 0.98, part
            if wanted.any():
                assert iou(wanted, getattr(opened, part), ~hidden) < shared, part


def test_the_right_view_keeps_two_bars_apart():
    """Background between them is hidden as a whole, but the right camera sees some of it."""
    bars = ((X >= 40) & (X < 44)) | ((X >= 50) & (X < 54))
    truth, right = scene(bars, 30.0, 10.0), np.full(X.shape, 10, np.float32)
    right[np.roll(bars, -30, axis=1)] = 30
    full = find_structures(truth, truth)
    assert (full.mask == bars).all()
    truth[(X >= 20) & (X < 50) & ~bars] = NAN  # what is behind is 20 px away in the right view
    alone = find_structures(truth, truth)
    assert not alone.mask.any()
    both = find_structures(truth, truth, right_disparity=right)
    assert (both.mask == bars).all()
    edges = find_edges(truth, truth, right_disparity=right)
    assert (edges.foreground == bars).all()
    assert not find_edges(truth, truth).edge[:, 43:51].any()


def test_real_truth_has_slats_and_spokes(shared):
    truth = np.load(shared("data/middlebury-motorcycle/motorcycle_disp.npz"))["arr_0"]
    truth[~np.isfinite(truth)] = NAN
    sizes = np.bincount(find_structures(truth, truth).labels.ravel())[1:]
    assert sizes.sum() > 13_000
    assert sizes.min() >= 5
    assert np.median(sizes) > 50
