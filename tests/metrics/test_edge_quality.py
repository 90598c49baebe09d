"""Shape of edges: blind to their place, and to nothing else."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maps import seeds
from scenes import make_scene, score, value
from scipy import ndimage

import depthgauge as dg
from depthgauge.errors import BadScoreId
from depthgauge.geometry.discontinuities.edges import find_edges, front

SIDE = 96
Y, X = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
NEAR, FAR = 30.0, 10.0


def as_map(shape):
    return np.where(shape, NEAR, FAR).astype(np.float32)


def half_plane(degrees, dx=0.0, dy=0.0, wave=0.0, period=12.0):
    """What lies to one side of a line through the middle, which may be moved and wavy."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    across = (X - SIDE / 2 - dx) * c + (Y - SIDE / 2 - dy) * s
    along = (Y - SIDE / 2) * c - (X - SIDE / 2) * s
    return across < wave * np.sin(2 * np.pi * along / period)


def disc(radius, dx=0.0, dy=0.0):
    return np.hypot(X - SIDE / 2 - dx, Y - SIDE / 2 - dy) < radius


def quality(estimate, truth, **params):
    return value("edge_quality", estimate, truth, {"edges": find_edges(truth, truth)}, **params)


# --- place does not matter


@pytest.mark.parametrize("degrees", [0, 10, 30, 45, 63, 90, 135, 200])
@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (3, 1), (0, -4), (-3, 2)])
def test_a_straight_edge_that_is_moved_is_perfect(degrees, dx, dy):
    truth, moved = as_map(half_plane(degrees)), as_map(half_plane(degrees, dx, dy))
    # Where a diagonal meets the corner of the image, one pixel has lost its neighbours.
    assert quality(moved, truth) < 0.05


@pytest.mark.parametrize("grow", [-4, -2, 2, 4])
def test_a_fat_or_thin_disc_is_perfect(grow):
    truth, other = as_map(disc(28)), as_map(disc(28 + grow))
    name = "foreground_fattening" if grow > 0 else "foreground_thinning"
    assert value(name, other, truth, {"edges": find_edges(truth, truth)}) > 15
    assert quality(other, truth) == 0


@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (3, 1), (0, 4)])
def test_a_disc_that_is_moved_is_all_but_perfect(dx, dy):
    """Its normals turn a little; jagged edges are a hundred times worse."""
    assert quality(as_map(disc(28, dx, dy)), as_map(disc(28))) < 0.5


def test_both_sides_of_a_bar_may_move_in_one_direction():
    """One side is fat, the other thin: they are shifted apart from each other."""
    bar = (X >= 36) & (X < 60)
    truth = as_map(bar)
    assert quality(np.roll(truth, 4, axis=1), truth) == 0


def test_moderate_errors_of_the_surfaces_do_not_matter():
    truth = as_map(half_plane(20))
    estimate = truth + np.where(truth == NEAR, 4, -3).astype(np.float32)
    assert quality(estimate, truth) == 0
    assert quality(truth + np.float32(4.9), truth) == 0


# --- shape does


def grows(values, by=1.2):
    """Whether a sequence starts low and grows by a margin."""
    return all(b > by * a for a, b in pairwise(values))


@pytest.mark.parametrize("degrees", [0, 30, 45])
def test_it_grows_with_jaggedness(degrees):
    truth = as_map(half_plane(degrees))
    found = [quality(as_map(half_plane(degrees, wave=a)), truth) for a in (2, 3.5, 5, 6.5)]
    assert found[0] > 1
    assert grows(found)


def test_it_grows_with_blur():
    truth = as_map(disc(28))
    found = [quality(ndimage.gaussian_filter(truth, s), truth) for s in (1.5, 2, 3, 5)]
    assert found[0] > 0.5
    assert grows(found)


def test_one_mixed_pixel_is_not_blur():
    """An anti-aliased edge is as crisp as pixels allow."""
    truth = as_map(half_plane(0))
    mixed = truth.copy()
    mixed[:, SIDE // 2] = (NEAR + FAR) / 2
    assert quality(mixed, truth) == 0


def test_it_grows_with_fragments():
    truth = as_map(disc(28))
    luck = np.random.default_rng(0).random(truth.shape)
    found = [
        quality(np.where(luck < p, NEAR + FAR - truth, truth), truth) for p in (0.02, 0.06, 0.2)
    ]
    assert found[0] > 1
    assert grows(found, 2)


def test_a_lost_edge_is_bad():
    """A constant map has no edge that could be crisp, be it all near or all far."""
    truth = as_map(disc(28))
    for level in (NEAR, FAR, 100.0, 0.0):
        assert quality(np.full_like(truth, level), truth) > 12
    thin = as_map((X >= 46) & (X < 50))
    assert quality(np.full_like(thin, FAR), thin) > 5


def test_a_jagged_edge_is_jagged_wherever_it_is():
    truth = as_map(half_plane(0))
    here, there = (as_map(half_plane(0, dx, wave=3)) for dx in (0, 3))
    assert quality(there, truth) == pytest.approx(quality(here, truth), rel=0.1)


def test_a_shift_beyond_the_limit_begins_to_cost():
    truth = as_map(half_plane(0))
    found = [quality(as_map(half_plane(0, dx)), truth) for dx in (5, 7, 9)]
    assert found[0] == 0
    assert 0 < found[1] < found[2]
    # With a limit of 8 px, half of the 11 px of foreground is still the limit.
    assert quality(as_map(half_plane(0, 7)), truth, shift=8) == pytest.approx(found[1], rel=0.5)


def test_hand_number():
    """Every other row is 6 px fatter: the best shift, 3 px, leaves 2 of 20 px in each row."""
    truth = as_map(half_plane(0))
    jagged = truth.copy()
    jagged[::2, SIDE // 2 : SIDE // 2 + 6] = NEAR
    assert quality(jagged, truth) == pytest.approx(100 * 2 / 20)
    assert quality(jagged, truth, shift=0) == pytest.approx(100 * 2.5 / 20)
    assert quality(jagged, truth, tolerance=2.6) == 0


# --- the rest of the contract


@pytest.mark.parametrize("quantity", ["disparity", "depth", "flow"])
def test_every_quantity_has_the_same_edges(quantity):
    """Levels that keep their order under 1 / d, so that both sides stay where they are."""
    jagged, truth = as_map(half_plane(0, wave=4)), as_map(half_plane(0))

    def convert(values):
        if quantity == "depth":
            return (100 / values).astype(np.float32)
        if quantity == "flow":
            return np.stack([0.6 * values, -0.8 * values], -1).astype(np.float32)
        return values

    true = convert(truth)
    edges = find_edges(true, front(true, quantity))
    found = value("edge_quality", convert(jagged), true, {"edges": edges})
    assert found == pytest.approx(quality(jagged, truth))


@settings(max_examples=15)
@given(seed=seeds, shift=st.sampled_from([0.0, 2.0, 5.0]))
def test_agrees_with_a_reference(seed, shift):
    """Plain loops over pieces and shifts."""
    estimate, truth, items = make_scene(seed)
    edges = items["edges"]
    side = edges.foreground.astype(int) - edges.background.astype(int)
    side[~np.isfinite(truth)] = 0
    low = np.where(edges.foreground, edges.background_map, truth).astype(np.float64)
    high = np.where(edges.foreground, truth, edges.foreground_map).astype(np.float64)
    height = (estimate - low) / (high - low)
    depth = (edges.distance_px + 0.5) * side
    squares = nearest_squares(edges.edge & edges.foreground, side)
    deepest = {}
    for key, d in zip(squares[side != 0], depth[side != 0], strict=True):
        back, front_ = deepest.get(tuple(key), (0, 0))
        deepest[tuple(key)] = (max(back, -d), max(front_, d))

    def limit(key, which):
        around = [(key[0] + i, key[1] + j, key[2]) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return max(deepest.get(k, (0, 0))[which] for k in around) / 2

    bad = n = 0
    for key in deepest:
        inside = (side != 0) & (squares == key).all(-1)
        d, u = depth[inside], height[inside]
        present = np.isfinite(u)
        costs = []
        for c in np.arange(-shift, shift + 0.5, 0.5):
            if -c > limit(key, 0) or c > limit(key, 1):
                continue
            wrong = np.where(d > c, ~(u > 0.75), ~(u < 0.25)) & (np.abs(d - c) > 0.75)
            costs.append((wrong & present).sum())
        bad += min(costs) + (~present).sum()
        n += d.size
    found, state = score("edge_quality", estimate, truth, items, shift=shift)
    assert state.count + state.missing == n
    assert found == pytest.approx(100 * bad / n)


def nearest_squares(edge, side, size=16):
    """Square and turn of the nearest edge pixel; of several the leftmost, then the uppermost."""
    ys, xs = np.nonzero(edge)
    order = np.lexsort((ys, xs))
    ys, xs = ys[order], xs[order]
    padded = np.pad(side, 1)
    found = np.zeros((*side.shape, 3), int)
    for y, x in np.ndindex(side.shape):
        at = np.argmin((ys - y) ** 2 + (xs - x) ** 2)
        v, u = ys[at], xs[at]
        window = padded[v : v + 3, u : u + 3]
        dx = (window * [-1, 0, 1]).sum()
        dy = (window.T * [-1, 0, 1]).sum()
        found[y, x] = v // size, u // size, 2 * dx + dy > 0
    return found


def test_a_piece_must_have_a_length():
    truth = as_map(disc(28))
    with pytest.raises(BadScoreId, match="piece is 0"):
        quality(truth, truth, piece=0)


def test_a_map_without_edges_is_an_empty_region():
    truth = np.full((20, 20), 3, np.float32)
    found, state = score("edge_quality", truth, truth, {"edges": find_edges(truth, truth)})
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)


@pytest.mark.parametrize("width", [3, 8, 30])
@pytest.mark.parametrize("filled", [1.0, 9.0])
def test_an_edge_that_is_not_there_is_as_bad_as_can_be(width, filled):
    truth = np.ones((64, 64), np.float32)
    truth[:, 20 : 20 + width] = 9
    estimate = np.full_like(truth, filled)
    scores = dg.score(estimate, truth, "edge_quality", check=False)
    assert scores["edge_quality@all"].value > 95
