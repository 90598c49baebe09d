import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.warping import (
    left_right_consistent,
    left_right_unknown,
    warp_backward,
    warp_forward,
)

NAN = np.nan


def noise(shape=(6, 9), seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def slow_forward(values, disparity):
    """Plain loops: the nearest pixel of each target, the first of equals."""
    height, width = disparity.shape
    out, best = np.full(values.shape, NAN, np.float32), np.full(disparity.shape, -np.inf)
    for y in range(height):
        for x in range(width):
            if np.isfinite(disparity[y, x]):
                to = int(np.floor(x - float(disparity[y, x]) + 0.5))
                if 0 <= to < width and disparity[y, x] > best[y, to]:
                    best[y, to], out[y, to] = disparity[y, x], values[y, x]
    return out


@given(st.integers(0, 8))
def test_a_wall_moves_as_one(shift):
    values = noise()
    moved = warp_forward(values, np.full(values.shape, float(shift)))
    np.testing.assert_array_equal(moved[:, : 9 - shift], values[:, shift:])
    assert np.isnan(moved[:, 9 - shift :]).all()
    back = warp_backward(moved, np.full(values.shape, float(shift)))
    np.testing.assert_array_equal(back[:, shift:], values[:, shift:])
    assert np.isnan(back[:, :shift]).all()


@pytest.mark.parametrize("seed", range(5))
def test_forward_agrees_with_plain_loops(seed):
    rng = np.random.default_rng(seed)
    disparity = rng.integers(-4, 20, (7, 15)).astype(np.float32) / 2
    disparity[rng.random((7, 15)) < 0.2] = NAN
    values = noise((7, 15), seed)
    np.testing.assert_array_equal(warp_forward(values, disparity), slow_forward(values, disparity))
    colours = noise((7, 15, 3), seed)
    np.testing.assert_array_equal(
        warp_forward(colours, disparity), slow_forward(colours, disparity)
    )


def test_the_nearer_surface_wins_whichever_comes_first():
    values = np.array([[1.0, 2.0]])
    np.testing.assert_array_equal(warp_forward(values, np.array([[0.0, 1.0]])), [[2.0, NAN]])
    to_left = warp_forward(values, np.array([[1.0, 0.0]]), towards="left")
    np.testing.assert_array_equal(to_left, [[NAN, 1.0]])


def test_depth_decides_for_flow_and_equals_go_to_the_first():
    values = np.array([[1.0, 2.0, 3.0]])
    flow = np.zeros((1, 3, 2))
    flow[0, :, 0] = 1.0, 0.0, -1.0
    near = warp_forward(values, flow, depth=np.array([[5.0, 4.0, 3.0]]))
    np.testing.assert_array_equal(near, [[NAN, 3.0, NAN]])
    tied = warp_forward(values, flow, depth=np.array([[5.0, 5.0, 5.0]]))
    assert tied[0, 1] == 1.0
    unknown_depth = warp_forward(values, flow, depth=np.array([[5.0, 6.0, NAN]]))
    assert unknown_depth[0, 1] == 1.0


def test_flow_moves_in_both_directions():
    values = noise()
    flow = np.zeros((6, 9, 2))
    flow[..., 0], flow[..., 1] = 2.0, -1.0
    moved = warp_forward(values, flow, depth=np.ones((6, 9)))
    np.testing.assert_array_equal(moved[:5, 2:], values[1:, :7])
    assert np.isnan(moved[5]).all()
    np.testing.assert_array_equal(warp_backward(moved, flow)[1:, :7], values[1:, :7])


def test_a_missing_value_hides_what_is_behind_it():
    moved = warp_forward(np.array([[1.0, NAN]]), np.array([[0.0, 1.0]]))
    assert np.isnan(moved[0, 0])


def test_backward_is_linear_between_pixels():
    y, x = np.mgrid[0:6, 0:9].astype(np.float64)
    plane = 2 * x - 3 * y + 1
    flow = np.random.default_rng(1).uniform(-1, 1, (6, 9, 2)).astype(np.float32)
    expected = 2 * (x + flow[..., 0]) - 3 * (y + flow[..., 1]) + 1
    found = warp_backward(plane, flow)
    np.testing.assert_allclose(found[1:-1, 1:-1], expected[1:-1, 1:-1], atol=1e-5)
    inside = (x + flow[..., 0] >= 0) & (x + flow[..., 0] <= 8)
    inside &= (y + flow[..., 1] >= 0) & (y + flow[..., 1] <= 5)
    np.testing.assert_array_equal(np.isfinite(found), inside)


def test_backward_needs_only_the_neighbours_that_count():
    values = np.array([[NAN, 10.0, 20.0]])
    found = warp_backward(values, np.array([[0.0, 0.0, 1.5]]))
    np.testing.assert_array_equal(found, [[NAN, 10.0, NAN]])
    assert warp_backward(values, np.array([[NAN, 0.0, 0.5]]))[0, 2] == 15.0
    both = np.array([[[1.0, NAN], [2.0, 3.0]]])
    np.testing.assert_array_equal(warp_backward(both, np.zeros((1, 2))), both)


def test_consistency_of_an_occluded_scene():
    # A square of disparity 3 before a wall of 1: two columns left of it are hidden from the right.
    left = np.full((1, 12), 1.0)
    left[0, 6:9] = 3.0
    right = np.full((1, 12), 1.0)
    right[0, 3:6] = 3.0
    visible = left_right_consistent(left, right)
    expected = np.ones(12, bool)
    expected[0] = False  # leaves the view
    expected[4:6] = False  # behind the square: x - 1 is covered by it
    np.testing.assert_array_equal(visible[0], expected)
    assert not left_right_unknown(left, right).any()


def test_the_threshold_is_inclusive():
    left, right = np.array([[NAN, 1.0]]), np.array([[2.0, 5.0]])
    assert left_right_consistent(left, right)[0, 1]
    assert not left_right_consistent(left, right, 0.5)[0, 1]


def test_unknown_is_neither_visible_nor_silent():
    left, right = np.array([[7.0, 1.0, NAN, 1.0]]), np.array([[NAN, 9.0, 1.0, 9.0]])
    np.testing.assert_array_equal(left_right_consistent(left, right), [[0, 0, 0, 1]])
    np.testing.assert_array_equal(left_right_unknown(left, right), [[0, 1, 1, 0]])


def test_errors():
    values = np.ones((2, 3))
    with pytest.raises(WrongShape, match="the map is 3x2, the displacement is 2x2"):
        warp_forward(values, np.ones((2, 2)))
    with pytest.raises(WrongShape, match=r"a disparity \(H, W\) or a flow \(H, W, 2\)"):
        warp_backward(values, np.ones((2, 3, 3)))
    with pytest.raises(Misuse, match="a flow does not say what is in front; give depth"):
        warp_forward(values, np.ones((2, 3, 2)))
    with pytest.raises(Misuse, match="towards must be 'right' or 'left'"):
        warp_backward(values, values, towards="up")
    with pytest.raises(WrongShape, match="the right disparity is 2x2"):
        left_right_consistent(values, np.ones((2, 2)))
    with pytest.raises(Misuse, match="threshold_px must be positive"):
        left_right_consistent(values, values, 0.0)
