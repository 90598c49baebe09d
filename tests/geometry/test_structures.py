"""Fine structures on scenes whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry import Structures, find_structures, front, structures_from_masks

NAN = np.nan
Y, X = np.mgrid[0:100, 0:120].astype(np.float64)


def structures_of(truth, **parameters) -> Structures:
    truth = np.asarray(truth, np.float32)
    return find_structures(truth, truth, **parameters)


def scene(inside, ahead=10.0, behind=0.0):
    return np.where(inside, ahead, behind).astype(np.float32)


def bar(width, degrees, length=70.0):
    """A bar of that width around the middle, and how far its pixels are from its ends."""
    angle = np.deg2rad(degrees)
    across = (X - 60.25) * np.cos(angle) + (Y - 50.25) * np.sin(angle)
    along = (Y - 50.25) * np.cos(angle) - (X - 60.25) * np.sin(angle)
    return (abs(across) < width / 2) & (abs(along) < length / 2)


def disc(radius):
    return np.hypot(X - 60, Y - 50) <= radius


def box(half, degrees=0.0):
    angle = np.deg2rad(degrees)
    u = (X - 60) * np.cos(angle) + (Y - 50) * np.sin(angle)
    v = (Y - 50) * np.cos(angle) - (X - 60) * np.sin(angle)
    return (abs(u) < half) & (abs(v) < half)


# --- what is fine


@pytest.mark.parametrize("width", range(1, 16))
@pytest.mark.parametrize("upright", [True, False])
def test_bars_up_to_the_limit_are_fine_and_wider_ones_are_not(width, upright):
    position, length = (X, Y) if upright else (Y, X)
    inside = (position >= 40) & (position < 40 + width) & (length > 10) & (length < 90)
    found = structures_of(scene(inside)).mask
    assert (found == (inside if width <= 10 else np.zeros_like(inside))).all()


@pytest.mark.parametrize("degrees", [10, 22.5, 30, 45, 60, 80, 112.5, 135, 170])
def test_bars_of_every_direction(degrees):
    for width in (1.5, 4, 7, 9):
        inside = bar(width, degrees)
        assert (structures_of(scene(inside)).mask == inside).all()
    for width in (11, 13, 17):
        assert not structures_of(scene(bar(width, degrees))).mask.any()


@pytest.mark.parametrize("width", [3, 6, 12])
def test_the_limit_is_the_width(width):
    fine, wide = (X >= 50) & (50 + width > X), (X >= 50) & (50 + width >= X)
    assert (structures_of(scene(fine), width=width).mask == fine).all()
    assert not structures_of(scene(wide), width=width).mask.any()


def test_diagonal_steps_are_longer():
    # Seven diagonal steps are 9.9 px, eight are 11.3; along rows the bar is far too wide.
    for pixels, fine in ((7, True), (8, False)):
        inside = (X + Y >= 100) & (100 + 2 * pixels > X + Y)
        found = structures_of(scene(inside)).mask
        inner = inside & (abs(X - Y) < 60)
        assert found[inner].all() if fine else not found.any()


@pytest.mark.parametrize("radius", [0.5, 1, 2, 3, 4])
def test_dots_are_fine(radius):
    assert (structures_of(scene(disc(radius))).mask == disc(radius)).all()


@pytest.mark.parametrize("radius", [6, 7, 8, 10, 13, 20, 35])
def test_larger_discs_are_not(radius):
    assert not structures_of(scene(disc(radius))).mask.any()


@pytest.mark.parametrize("degrees", [0, 10, 22.5, 30, 45])
@pytest.mark.parametrize("half", [7, 8, 10, 13, 20, 30])
def test_right_angled_corners_are_not_fine(half, degrees):
    assert not structures_of(scene(box(half, degrees))).mask.any()


def test_sharp_tips_are_fine_as_far_as_they_are_narrow():
    half = (Y - 10) * np.tan(np.deg2rad(10))
    inside = (Y > 10) & (Y < 90) & (abs(X - 60) < half)
    found = structures_of(scene(inside)).mask
    widths = inside.sum(axis=1)
    # The two corners of its base are of 80 degrees and are not.
    assert (found == inside & (widths <= 10)[:, np.newaxis]).all()


def test_rings():
    distance = np.hypot(X - 60, Y - 50)
    thin, thick = abs(distance - 30) < 3, abs(distance - 30) < 9
    found = structures_of(scene(thin))
    assert (found.mask == thin).all()
    assert found.labels.max() == 1
    assert not structures_of(scene(thick)).mask.any()


def test_a_grid_is_one_structure():
    inside = ((X % 20 < 3) | (Y % 20 < 3)) & (X > 5) & (X < 110) & (Y > 5) & (Y < 95)
    found = structures_of(scene(inside))
    assert (found.mask == inside).all()
    assert found.labels.max() == 1


def test_a_bar_is_fine_up_to_the_body_that_it_is_fixed_to():
    body = (X > 70) & (X < 110) & (Y > 20) & (Y < 80)
    rod = (abs(Y - 50) < 3) & (X > 20) & (X <= 70)
    assert (structures_of(scene(body | rod)).mask == rod).all()


def test_a_short_stub_is_no_structure():
    body = (X > 70) & (X < 110) & (Y > 20) & (Y < 80)
    stub = (abs(Y - 50) < 3) & (X > 64) & (X <= 70)
    assert not structures_of(scene(body | stub)).mask.any()


def test_a_ragged_outline_is_no_structure():
    rng = np.random.default_rng(3)
    ragged = 60 + rng.integers(0, 4, (100, 1)) < X
    assert not structures_of(scene(ragged)).mask.any()


def test_a_narrow_gap_is_no_structure():
    assert not structures_of(scene(~((X >= 50) & (X < 55)))).mask.any()


# --- surfaces, borders and holes


@pytest.mark.parametrize("slope", [0.3, 0.9, -0.9])
def test_a_slanted_structure_before_a_slanted_wall(slope):
    for inside in (bar(6, 0), bar(6, 45), bar(6, 100)):
        truth = np.where(inside, 300 + slope * X + slope * Y, 20 - 0.4 * X + 0.3 * Y)
        assert (structures_of(truth).mask == inside).all()


def test_a_steep_surface_without_jumps_has_no_structures():
    # A roof: along diagonals neighbours differ by 1.8, but no 4-neighbours by more than 1.
    assert not structures_of(50 - 0.9 * abs(X - 60) - 0.9 * abs(Y - 50)).mask.any()


def test_mixed_borders_belong_to_the_structure():
    row = np.array([0, 0, 5, 9, 9, 9, 4, 0, 0, 0, 0, 0, 0, 0], np.float32)
    found = structures_of(row[np.newaxis].repeat(5, axis=0))
    assert (found.mask == (row > 0)).all()
    wide = np.concatenate([[0, 0, 5], np.full(20, 9), [4, 0, 0]])
    assert not structures_of(wide[np.newaxis].repeat(5, axis=0)).mask.any()


def test_something_smaller_in_front_does_not_hide_a_structure():
    row = np.array([0] * 12 + [6] * 3 + [15] * 2 + [6] * 3 + [0] * 12, np.float32)
    found = structures_of(row[np.newaxis].repeat(9, axis=0))
    assert (found.mask == (row > 0)).all()


def test_background_between_structures_is_none_even_on_a_ridge():
    wall = 30 - 0.5 * abs(X - 60)
    grid = (X % 12 < 3) & (X > 20) & (X < 100)
    assert (structures_of(np.where(grid, 80, wall)).mask == grid).all()


@pytest.mark.parametrize("edge", ["left", "right", "top", "bottom"])
def test_what_lies_along_the_border_has_one_edge_only(edge):
    inside = {"left": X < 4, "right": X >= 116, "top": Y < 4, "bottom": Y >= 96}[edge]
    assert not structures_of(scene(inside)).mask.any()


def test_what_crosses_the_whole_image_has_two():
    inside = (X >= 50) & (X < 55)
    assert (structures_of(scene(inside)).mask == inside).all()


def test_an_open_gap_beside_a_structure_is_no_edge():
    truth = scene((X >= 50) & (X < 55))
    truth[:50, 49] = NAN
    found = structures_of(truth, gaps="open").mask
    assert not found[:45].any()
    assert found[:, 50:55][56:].all()


def test_a_flood_of_missing_truth():
    rng = np.random.default_rng(0)
    truth = scene(bar(5, 30))
    truth[rng.random(truth.shape) < 0.3] = NAN
    found = structures_of(truth)
    assert not (found.mask & ~(truth > 0)).any()
    assert not (found.surrounding & ~(truth == 0)).any()
    assert (np.isfinite(found.foreground_map) == found.mask | found.surrounding).all()


@pytest.mark.parametrize("truth", [np.full((5, 6), NAN), np.ones((5, 6)), np.ones((1, 1))])
def test_nothing_to_find(truth):
    found = structures_of(truth)
    assert not found.mask.any()
    assert not found.surrounding.any()
    assert found.labels.max() == 0
    assert np.isnan(found.foreground_map).all()


def test_one_row():
    row = np.array([[0, 0, 9, 9, 0, 0, 9, 0, 0]], np.float32)
    found = structures_of(row)
    assert found.labels.tolist() == [[0, 0, 1, 1, 0, 0, 2, 0, 0]]
    assert found.surrounding.tolist() == (row == 0).tolist()


@given(
    hnp.arrays(np.float32, (9, 11), elements=st.sampled_from([0, 1, 4, 9, NAN])),
    st.sampled_from([0, 3]),
    st.sampled_from(["background", "open"]),
)
def test_what_always_holds(truth, least, gaps):
    found = structures_of(truth, width=3, reach=3, least=least, gaps=gaps)
    known = np.isfinite(truth)
    assert not ((found.mask | found.surrounding) & ~known).any()
    assert not (found.mask & found.surrounding).any()
    assert (np.isfinite(found.foreground_map) == found.mask | found.surrounding).all()
    ahead = (found.foreground_map - truth)[found.surrounding]
    assert (ahead >= 1 - 1e-5).all()
    # Rows are those of a stereo pair: closed gaps make them special.
    for turned in (np.fliplr, np.flipud, *([np.transpose] if gaps == "open" else [])):
        again = structures_of(turned(truth), width=3, reach=3, least=least, gaps=gaps)
        assert (turned(again.mask) == found.mask).all()


# --- around structures


def test_the_surrounding_is_behind_and_near():
    truth = scene((X >= 50) & (X < 53))
    truth[:, 58:] = 9.5  # a wall beside it, as near as the structure
    found = structures_of(truth, reach=6)
    expected = (X >= 44) & (X < 58) & ~found.mask
    assert (found.surrounding == expected).all()


@pytest.mark.parametrize("degrees", [0, 45, 90])
def test_the_structure_is_continued_along_its_slope(degrees):
    inside = bar(6, degrees)
    plane = 60 + 0.2 * X - 0.3 * Y
    found = structures_of(np.where(inside, plane, 0))
    assert found.surrounding.sum() > 500
    np.testing.assert_allclose(
        found.foreground_map[found.surrounding], plane[found.surrounding], atol=1e-3
    )
    np.testing.assert_array_equal(found.foreground_map[inside], np.float32(plane)[inside])


def test_components_are_8_connected():
    inside = (X == Y) & (X > 20) & (X < 60) & (X != 40)
    found = structures_of(scene(inside))
    assert found.labels.max() == 2
    assert found.labels.dtype == np.int32
    expected, _ = ndimage.label(inside, np.ones((3, 3)))
    assert (found.labels == expected).all()


def test_depth_has_the_smaller_values_in_front():
    inside = bar(5, 20)
    depth = scene(inside, 2.0, 7.0)
    found = find_structures(depth, front(depth, "depth"))
    assert (found.mask == inside).all()
    assert (found.foreground_map[found.surrounding] == 2).all()


def test_flow_is_in_front_where_it_is_faster():
    inside = bar(5, 20)
    flow = np.where(inside[..., np.newaxis], [6.0, 8.0], [1.0, 0.0]).astype(np.float32)
    found = find_structures(flow, front(flow, "flow"))
    assert (found.mask == inside).all()
    np.testing.assert_allclose(
        found.foreground_map[found.surrounding], [[6, 8]] * found.surrounding.sum()
    )


# --- structures of masks


def test_masks_are_taken_as_they_are():
    mask, around = disc(20), disc(30) & ~disc(22)
    truth = scene(mask, 2.0, 1.9)
    truth[50, 60] = truth[50, 35] = NAN
    found = structures_from_masks(mask, around, truth, truth)
    assert (found.mask == (mask & np.isfinite(truth))).all()
    assert (found.surrounding == (around & np.isfinite(truth))).all()
    np.testing.assert_allclose(found.foreground_map[found.surrounding], 2.0)


@pytest.mark.parametrize("jump", [0.0, 1.0])
@pytest.mark.parametrize("given_around", [True, False])
def test_a_tilted_structure_is_continued_along_its_slope(jump, given_around):
    """Half a px per px is more than a jump of 0, yet within the mask it is one surface."""
    inside = bar(6, 20)
    plane = 100 + 0.5 * X - 0.5 * Y
    truth = np.where(inside, plane, 3.0).astype(np.float32)
    around = (ndimage.distance_transform_edt(~inside) <= 10) & ~inside
    found = structures_from_masks(inside, around if given_around else None, truth, truth, jump=jump)
    assert (found.surrounding == around).all()
    np.testing.assert_allclose(found.foreground_map[around], plane[around], atol=1e-3)


def test_without_a_surrounding_it_is_what_lies_behind():
    truth = scene(disc(3), 2.0, 1.5)
    truth[:, 70:] = 3.0
    found = structures_from_masks(disc(3), None, truth, truth, reach=12)
    assert (
        found.surrounding == ((np.hypot(X - 60, Y - 50) <= 15) & ~disc(3) & (X < 70))
    ).mean() > 0.99
    assert not found.surrounding[:, 70:].any()


def test_an_empty_mask_leaves_nothing_to_continue():
    truth = scene(disc(3))
    found = structures_from_masks(np.zeros(truth.shape, bool), disc(9), truth, truth)
    assert found.surrounding.sum() == disc(9).sum()
    assert np.isnan(found.foreground_map).all()


# --- how it behaves


def test_threads_change_nothing(on_threads):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 9, (60, 80)).astype(np.float32).repeat(4, 0).repeat(4, 1)
    truth[rng.random(truth.shape) < 0.005] = NAN
    one, *more = on_threads(lambda: structures_of(truth))
    for many in more:
        for name in Structures.__slots__:
            assert getattr(one, name).tobytes() == getattr(many, name).tobytes()


@pytest.mark.parametrize("name", ["jump", "width", "reach", "least"])
def test_negative_parameters_are_refused(name):
    with pytest.raises(Misuse, match=f"{name} is -1"):
        structures_of(np.zeros((3, 3)), **{name: -1})


def test_sizes_that_differ_are_refused():
    truth = np.zeros((3, 4), np.float32)
    with pytest.raises(WrongShape, match="the mask is 2x3"):
        structures_from_masks(np.zeros((3, 2), bool), None, truth, truth)
    with pytest.raises(WrongShape, match="the surrounding is 2x3"):
        structures_from_masks(np.zeros((3, 4), bool), np.zeros((3, 2), bool), truth, truth)
