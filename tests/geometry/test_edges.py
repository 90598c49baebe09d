"""Discontinuities on scenes whose answer is known, and against a plain version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry import Edges, edges_from_mask, find_edges, front

NAN = np.nan
Y, X = np.mgrid[0:70, 0:90].astype(np.float64)
FRONT = 30 + 0.2 * X - 0.15 * Y
BACK = 5 - 0.1 * X + 0.05 * Y
SHAPES = {
    "straight": X > 41,
    "level": Y > 33,
    "diagonal": X + Y > 80,
    "oblique": X + 0.3 * Y > 50,
    "circle": (X - 45) ** 2 + (Y - 35) ** 2 < 24**2,
    "square": (abs(X - 45) < 20) & (abs(Y - 35) < 20),
    "ring": abs(np.hypot(X - 45, Y - 35) - 22) < 6,
}


def edges_of(truth, **parameters) -> Edges:
    truth = np.asarray(truth, np.float32)
    return find_edges(truth, truth, **parameters)


def picture(mask):
    return ["".join("#" if pixel else "." for pixel in row) for row in mask]


# --- front


def test_in_front_is_the_larger_disparity_the_smaller_depth_and_the_faster_flow():
    assert front(np.array([[1.0, NAN]]), "disparity")[0, 0] == 1
    assert front(np.array([[1.0, NAN]]), "depth")[0, 0] == -1
    flow = front(np.array([[[3.0, 4.0], [NAN, 1.0]]]), "flow")
    assert flow[0, 0] == 5
    assert np.isnan(flow[0, 1])


@pytest.mark.parametrize(
    ("shape", "quantity"), [((2, 2), "normals"), ((2, 2), "flow"), ((2, 2, 2), "depth")]
)
def test_what_has_no_front_is_refused(shape, quantity):
    with pytest.raises(Misuse, match=f"not of {quantity}"):
        front(np.zeros(shape), quantity)


# --- the edges and their sides


def test_both_pixels_of_a_jump_are_edges_and_each_is_on_its_side():
    found = edges_of([[1, 1, 1, 5, 5, 5]], reach=2)
    assert picture(found.edge) == ["..##.."]
    assert picture(found.foreground) == ["...##."]
    assert picture(found.background) == [".##..."]
    assert found.distance_px.tolist() == [[2, 1, 0, 0, 1, 2]]


@pytest.mark.parametrize("reach", [0, 1, 2, 10])
@pytest.mark.parametrize("turned", [False, True])
def test_both_sides_of_a_straight_edge_are_as_wide_as_the_reach(reach, turned):
    truth = np.where(X < 45, 9.0, 1.0)
    found = edges_of(truth.T if turned else truth, reach=reach)
    across = int(turned)
    assert (found.foreground.sum(axis=1 - across) == reach).all()
    assert (found.background.sum(axis=1 - across) == reach).all()
    assert found.boundary_px[found.background].max(initial=0) == max(0, reach - 0.5)


def test_a_difference_of_just_the_jump_is_none():
    assert not edges_of([[1, 2, 3]]).edge.any()
    assert edges_of([[1, 2.001, 3]]).edge.tolist() == [[True, True, False]]


def test_reach_is_euclidean():
    truth = np.zeros((13, 13))
    truth[6, 6] = 9
    found = edges_of(truth, reach=3)
    assert picture(found.foreground[5:8]) == ["." * 13, "......#......", "." * 13]
    rows, columns = np.mgrid[-6:7, -6:7]
    beside = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    nearest = np.min([np.hypot(rows - y, columns - x) for y, x in beside], axis=0)
    centre = (rows == 0) & (columns == 0)
    # Diagonal neighbours are as near to the dot's own pixel as to no other of a jump.
    assert (found.background == ((nearest + 0.5 <= 3) & ~centre)).all()


def test_what_is_as_near_to_both_sides_belongs_to_neither():
    # Column 3 is two away from the background's pixel 1 and from the foreground's pixel 5.
    found = edges_of([[9, 0, 0.9, 1.8, 2.7, 3.6, 0]])
    assert picture(found.edge) == ["##...##"]
    assert picture(found.background) == [".##...#"]
    assert picture(found.foreground) == ["#...##."]


def test_a_pixel_that_is_both_belongs_to_neither():
    found = edges_of([[0, 0, 5, 9, 9]])
    assert picture(found.edge) == [".###."]
    assert picture(found.background) == ["##..."]
    assert picture(found.foreground) == ["...##"]


def test_across_mixed_pixels_lies_the_surface_behind_them():
    found = edges_of([[0, 0, 5, 9, 9, 9, 9]])
    np.testing.assert_array_equal(found.foreground_map[0, :2], 9)
    np.testing.assert_array_equal(found.background_map[0, 3:], 0)


def test_an_open_gap_is_never_an_edge():
    found = edges_of([[1, 1, NAN, 9, 9], [1, 1, np.inf, 9, 9]], gaps="open")
    assert not found.edge.any()
    assert not found.foreground.any()
    assert np.isinf(found.distance_px).all()
    assert np.isnan(found.foreground_map).all()


def test_nobody_knows_the_side_of_what_lies_beyond_missing_truth():
    # Without its hole, columns 0 to 2 would be the bar's foreground.
    truth = np.array([[0, 0, 0, NAN, NAN, NAN, 9, 9, 9, 0, 0]], np.float32)
    found = edges_of(truth, gaps="open")
    assert picture(found.foreground) == ["......###.."]
    assert picture(found.background) == [".........##"]


@pytest.mark.parametrize(
    "truth", [np.full((6, 7), NAN), np.full((6, 7), 3.0), np.full((1, 1), 3.0)]
)
def test_nothing_to_find(truth):
    found = edges_of(truth)
    assert not (found.edge | found.foreground | found.background).any()
    assert np.isnan(found.foreground_map).all()
    assert np.isnan(found.background_map).all()


@pytest.mark.parametrize("turned", [False, True])
def test_one_row_and_one_column(turned):
    row = np.array([[0, 0, 0, 8, 8, 8]], np.float32)
    found = edges_of(row.T if turned else row, reach=3)
    background = found.background.T if turned else found.background
    assert picture(background) == ["###..."]


def plain_sides(truth, jump, reach):
    """M_d, M_f and M_b by all pairs, for maps without holes."""
    ahead, behind = np.zeros(truth.shape, bool), np.zeros(truth.shape, bool)
    for down, right in ((0, 1), (1, 0)):
        here = truth[: truth.shape[0] - down, : truth.shape[1] - right]
        there = truth[down:, right:]
        rise, fall = there - here > jump, here - there > jump
        ahead[: here.shape[0], : here.shape[1]] |= fall
        behind[: here.shape[0], : here.shape[1]] |= rise
        ahead[down:, right:] |= rise
        behind[down:, right:] |= fall
    grid = np.stack(np.meshgrid(*map(np.arange, truth.shape), indexing="ij"), -1)

    def distance(mask):
        if not mask.any():
            return np.full(mask.shape, np.inf)
        apart = grid[:, :, np.newaxis] - np.argwhere(mask)
        return np.sqrt((apart**2).sum(-1)).min(-1)

    to_front, to_back = distance(ahead), distance(behind)
    foreground = (to_front + 0.5 <= reach) & (to_front < to_back)
    background = (to_back + 0.5 <= reach) & (to_back < to_front)
    return ahead | behind, foreground, background


@given(
    hnp.arrays(
        np.float32, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 4)
    ),
    st.integers(0, 5),
)
def test_sides_are_those_of_all_pairs(truth, reach):
    found = edges_of(truth, reach=reach)
    edge, foreground, background = plain_sides(truth.astype(float), 1.0, reach)
    assert (found.edge == edge).all()
    assert (found.foreground == foreground).all()
    assert (found.background == background).all()


@given(
    hnp.arrays(np.float32, (8, 9), elements=st.sampled_from([0, 1, 3, 7, NAN])),
    st.sampled_from([0.5, 2.5]),
    st.sampled_from(["background", "open"]),
)
def test_what_always_holds(truth, jump, gaps):
    found = edges_of(truth, jump=jump, reach=3, gaps=gaps)
    known = np.isfinite(truth)
    assert not (found.foreground & found.background).any()
    assert not ((found.edge | found.foreground | found.background) & ~known).any()
    near = found.foreground | found.background
    for surface in (found.foreground_map, found.background_map):
        assert (np.isfinite(surface) == near).all()
    # Beyond a jump the other surface is a jump away, and on the right side.
    ahead = (found.foreground_map - truth)[found.background]
    behind = (truth - found.background_map)[found.foreground]
    assert (np.append(ahead, behind) >= jump * (1 - 1e-5)).all()


# --- the surfaces continued


@pytest.mark.parametrize("name", SHAPES)
def test_planes_are_continued_exactly(name):
    inside = SHAPES[name]
    found = edges_of(np.where(inside, FRONT, BACK))
    assert found.foreground.sum() > 300
    assert found.background.sum() > 300
    assert not (found.foreground & ~inside).any()
    assert not (found.background & inside).any()
    np.testing.assert_allclose(
        found.foreground_map[found.background], FRONT[found.background], atol=1e-3
    )
    np.testing.assert_allclose(
        found.background_map[found.foreground], BACK[found.foreground], atol=1e-3
    )
    on_front, on_back = found.foreground, found.background
    np.testing.assert_array_equal(found.foreground_map[on_front], np.float32(FRONT)[on_front])
    np.testing.assert_array_equal(found.background_map[on_back], np.float32(BACK)[on_back])


@pytest.mark.parametrize("name", SHAPES)
def test_depth_has_the_smaller_values_in_front(name):
    disparity = np.where(SHAPES[name], FRONT, BACK).astype(np.float32)
    depth = 100 - disparity
    found, expected = find_edges(depth, front(depth, "depth")), edges_of(disparity)
    assert (found.foreground == expected.foreground).all()
    assert (found.background == expected.background).all()
    np.testing.assert_allclose(100 - found.foreground_map, expected.foreground_map, atol=1e-3)


def test_flow_is_continued_in_both_channels():
    inside = SHAPES["circle"][..., np.newaxis]
    fast = np.stack([20 + 0.1 * X, 0.05 * Y], -1)
    slow = np.stack([1 + 0.02 * X, -0.04 * Y], -1)
    flow = np.where(inside, fast, slow).astype(np.float32)
    found = find_edges(flow, front(flow, "flow"))
    assert found.foreground_map.shape == flow.shape
    np.testing.assert_allclose(
        found.foreground_map[found.background], fast[found.background], atol=1e-3
    )
    np.testing.assert_allclose(
        found.background_map[found.foreground], slow[found.foreground], atol=1e-3
    )


def test_flows_of_one_speed_have_an_edge_but_no_front():
    flow = np.zeros((1, 6, 2), np.float32)
    flow[0, :3], flow[0, 3:] = (3, 4), (-5, 0)
    found = find_edges(flow, front(flow, "flow"), jump=1.0)
    assert picture(found.edge) == ["..##.."]
    assert not (found.foreground | found.background).any()


def test_a_thin_bar_is_continued_level_across_and_slanted_along():
    truth = np.zeros((30, 30))
    rows = np.arange(30)
    truth[:, 14:16] = 20 + 0.3 * rows[:, np.newaxis]
    found = edges_of(truth)
    expected = np.broadcast_to((20 + 0.3 * rows)[:, np.newaxis], truth.shape)
    np.testing.assert_allclose(
        found.foreground_map[found.background], expected[found.background], atol=1e-3
    )


def test_surfaces_that_would_meet_are_kept_a_jump_apart():
    # The foreground falls by 0.9 a pixel and would be behind the background after seven.
    columns = np.arange(30)
    truth = np.where(columns < 15, 20 - 0.9 * columns, 1.0)[np.newaxis].repeat(9, axis=0)
    found = edges_of(truth)
    ahead = (found.foreground_map - truth)[4, 15:24]
    np.testing.assert_allclose(ahead[:4], 20 - 0.9 * columns[15:19] - 1, atol=1e-3)
    np.testing.assert_allclose(ahead[5:], 1.0, atol=1e-3)


def test_one_pixel_has_no_slope():
    truth = np.zeros((11, 11))
    truth[5, 5] = 7
    found = edges_of(truth, reach=4)
    assert found.background.any()
    assert (found.foreground_map[found.background] == 7).all()


def test_a_window_of_one_pixel_continues_its_value():
    found = edges_of(np.where(SHAPES["straight"], FRONT, BACK), window=1)
    rows, columns = np.nonzero(found.background & (Y == 30))
    assert (found.foreground_map[rows, columns] == np.float32(FRONT[30, 42])).all()


# --- edges of masks


def test_the_outline_of_a_mask_is_the_edge():
    inside = SHAPES["circle"]
    truth = np.where(inside, 3.0, 2.5).astype(np.float32)
    assert not edges_of(truth).edge.any()
    found = edges_from_mask(inside, truth, truth)
    expected = edges_of(np.where(inside, 9.0, 1.0))
    assert (found.edge == expected.edge).all()
    assert (found.foreground == expected.foreground).all()
    np.testing.assert_allclose(found.foreground_map[found.background], 3.0)


def test_jumps_off_the_outline_are_none():
    truth = np.zeros((6, 12), np.float32)
    truth[:, 6:] = 9
    mask = np.zeros((6, 12), bool)
    mask[:, 8:] = True
    assert not edges_from_mask(mask, truth, truth).edge.any()


def test_an_object_may_be_behind_what_hides_it():
    truth = np.array([[4, 4, 4, 9, 9]], np.float32)
    mask = np.array([[1, 1, 1, 0, 0]])
    found = edges_from_mask(mask, truth, truth)
    assert picture(found.foreground) == ["...##"]


def test_two_objects_that_touch_have_an_edge_between_them():
    truth = np.array([[4, 4, 6, 6, 6]], np.float32)
    assert not edges_from_mask(truth > 0, truth, truth).edge.any()
    assert edges_from_mask(np.array([[1, 1, 2, 2, 2]]), truth, truth).edge.sum() == 2


def test_feet_on_the_ground_are_no_edge_with_a_jump():
    truth = np.array([[5.0, 5.0, 5.1, 5.1]], np.float32)
    mask = np.array([[1, 1, 0, 0]])
    assert edges_from_mask(mask, truth, truth).edge.any()
    assert not edges_from_mask(mask, truth, truth, jump=0.5).edge.any()


@pytest.mark.parametrize("large", [2**31, 2**32, 2**62, -(2**40)])
def test_labels_of_any_size_are_objects(large):
    labels = np.where(SHAPES["circle"], large, 0)
    expected = edges_from_mask(SHAPES["circle"], BACK - 9 * SHAPES["circle"], BACK)
    found = edges_from_mask(labels, BACK - 9 * SHAPES["circle"], BACK)
    assert expected.edge.any()
    assert (found.edge == expected.edge).all()


# --- how it behaves


@pytest.mark.filterwarnings("error")
def test_values_beyond_the_square_root_of_float32():
    """Two channels of 1e30 have a direction, though its squared length is no float32."""
    far = np.where(SHAPES["straight"][..., np.newaxis], [3e30, 4e30], 0).astype(np.float32)
    found = find_edges(far, front(far, "flow"), jump=1e30, reach=2)
    continued = found.foreground_map[found.background]
    assert continued.size > 0
    np.testing.assert_allclose(continued, [[3e30, 4e30]] * len(continued), rtol=1e-6)
    # Continued, this one would fall behind; it is kept a jump away along the direction.
    steep = far + np.where(SHAPES["straight"], (X - 42) * 2e30, 0)[..., np.newaxis] * [0.6, 0.8]
    steep = steep.astype(np.float32)
    found = find_edges(steep, front(steep, "flow"), jump=4e30, reach=2)
    ahead = found.foreground_map[found.background]
    np.testing.assert_allclose(np.hypot(*(ahead / 1e30).T), 4, rtol=1e-5)


def test_the_boundary_is_half_a_pixel_from_the_edge():
    found = edges_of([[1, 1, 1, 9, 9]])
    assert found.boundary_px.tolist() == [[2.5, 1.5, 0.5, 0.5, 1.5]]
    assert found.boundary_px.dtype == np.float32


def test_threads_change_nothing(on_threads):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 9, (90, 120)).astype(np.float32).repeat(3, 0).repeat(3, 1)
    truth[rng.random(truth.shape) < 0.01] = NAN
    one, *more = on_threads(lambda: edges_of(truth))
    for many in more:
        for name in Edges.__slots__:
            assert getattr(one, name).tobytes() == getattr(many, name).tobytes()


def test_the_truth_is_left_alone():
    truth = np.where(SHAPES["circle"], FRONT, BACK).astype(np.float32)
    kept = truth.copy()
    edges_of(truth)
    assert (truth == kept).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jump": -1.0}, "jump is -1"),
        ({"jump": NAN}, "jump is nan"),
        ({"reach": -1}, "reach is -1"),
        ({"window": 4}, "window is 4"),
        ({"window": 0}, "window is 0"),
        ({"gaps": "closed"}, "gaps is 'closed'; it must be background or open"),
        ({"window": 100_001}, "window is 100001; a window's width is odd, from 1 to 99"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters, message):
    with pytest.raises(Misuse, match=message):
        edges_of(np.zeros((3, 3)), **parameters)


def test_sizes_that_differ_are_refused():
    truth = np.zeros((3, 4), np.float32)
    with pytest.raises(WrongShape, match="the order is 3x3, the truth is 4x3"):
        find_edges(truth, truth[:, :3])
    with pytest.raises(WrongShape, match="the mask is 2x3, the truth is 4x3"):
        edges_from_mask(np.zeros((3, 2)), truth, truth)
    with pytest.raises(WrongShape, match=r"found \(4,\)"):
        find_edges(truth[0], truth[0])
