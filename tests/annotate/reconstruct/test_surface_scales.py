"""Scales of surfaces: by hand, as a property, interlocked, and in contradiction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotate.drawn import segmentation

from depthgauge.annotate.reconstruct._depth_pairs import binding, groups_of, order_pairs
from depthgauge.annotate.reconstruct.surface_scales import ScaleOptions, surface_scales
from depthgauge.errors import Misuse

LEFT, RIGHT = (-1.0, 0.0), (1.0, 0.0)


def columns(*closer, height=6):
    """Surfaces side by side, four columns each; `closer` says which side of each line is closer.

    The line is the last column of a surface that is closer than the next, or the first of the next.
    """
    count = len(closer) + 1
    smooth = np.repeat(np.arange(1, count + 1), 4)[None].repeat(height, axis=0)
    kind, stroke = np.zeros_like(smooth), np.full_like(smooth, -1)
    toward = np.zeros((*smooth.shape, 2))
    for i, side in enumerate(closer):
        at = 4 * (i + 1) - (1 if side == "left" else 0)
        kind[:, at], stroke[:, at] = 2, i
        toward[:, at] = LEFT if side == "left" else RIGHT
    return segmentation(smooth, kind=kind, stroke=stroke, toward=toward)


def flat(made, *depths):
    return np.array([0.0, *depths], np.float32)[made.continuous]


def names(made):
    return tuple(f"s{i}" for i in range(int(made.stroke.max()) + 1))


def test_two_surfaces_by_hand():
    """1 <= X, X_1 * 3 + 0.01 <= X_2 * 1: the least is 1 and 3.01."""
    made = columns("left")
    found = surface_scales(flat(made, 3.0, 1.0), made, names(made))
    assert found.scales == pytest.approx({1: 1.0, 2: 3.01})
    assert found.violated == ()
    assert found.notes == ()


def test_options_are_used_and_checked():
    made = columns("right")
    options = ScaleOptions(separation=0.5, least_scale=2.0)
    found = surface_scales(flat(made, 1.0, 1.0), made, names(made), options)
    assert found.scales == pytest.approx({1: 2.5, 2: 2.0})
    with pytest.raises(Misuse, match="left_out is 1"):
        ScaleOptions(left_out=1.0)
    for wrong in ({"separation": 0.0}, {"least_scale": -1.0}, {"separation": float("inf")}):
        with pytest.raises(Misuse, match="must be positive"):
            ScaleOptions(**wrong)


def test_long_chains_hold_though_scales_grow():
    """Each surface is twice as deep where it ends as where it begins: 2 ** 25 over 25 lines."""
    made = columns(*["left"] * 25)
    depth = np.tile(np.linspace(1, 2, 4), 26)[None].repeat(6, axis=0).astype(np.float32)
    found = surface_scales(depth, made, names(made))
    assert found.violated == ()
    assert found.scales[26] == pytest.approx(2**25 * 1.01, rel=1e-3)


def test_a_surface_without_an_occlusion_keeps_the_least_scale():
    made = segmentation(np.ones((4, 4)))
    assert surface_scales(np.ones((4, 4), np.float32), made, ()).scales == {1: 1.0}


@given(
    st.lists(st.sampled_from(["left", "right"]), min_size=1, max_size=6),
    st.integers(0, 10**6),
)
def test_orders_that_can_hold_do_hold_and_no_scale_is_larger_than_needed(closer, seed):
    made = columns(*closer)
    depth = np.random.default_rng(seed).uniform(0.5, 2, made.smooth.shape).astype(np.float32)
    found = surface_scales(depth, made, names(made))
    assert found.violated == ()
    scales = np.array([found.scales[s] for s in sorted(found.scales)])
    assert scales.min() == pytest.approx(1.0)
    pairs = order_pairs(made, depth)
    assert set(zip(pairs.near.tolist(), pairs.far.tolist(), strict=True)) == {
        (i + 1, i + 2) if side == "left" else (i + 2, i + 1) for i, side in enumerate(closer)
    }
    margin = scales[pairs.far - 1] * pairs.far_depth - scales[pairs.near - 1] * pairs.near_depth
    assert (margin >= 0.01 - 1e-6).all()
    for s, scale in found.scales.items():
        tight = (pairs.far == s) & (margin < 0.01 + 1e-5)
        assert scale == pytest.approx(1.0) or tight.any()


@given(st.integers(1, 30), st.integers(0, 10**6))
def test_the_binding_pairs_imply_all_others(count, seed):
    rng = np.random.default_rng(seed)
    near, far = np.round(rng.uniform(0.5, 2, (2, count)), 1)
    kept = binding(near, far)
    for a, b in rng.uniform(0.1, 5, (20, 2)):
        worst = (a * near - b * far).max()
        assert (a * near[kept] - b * far[kept]).max() == pytest.approx(worst)


def interlocked(top, bottom, height=12):
    """Two surfaces; one half of their line says that the left is closer, the other the right."""
    made = columns("left", height=height)
    half = height // 2
    kind, stroke, toward = made.kind.copy(), made.stroke.copy(), made.toward.copy()
    for rows, side, index in ((slice(0, half), top, 0), (slice(half, None), bottom, 1)):
        for array, nothing in ((kind, 0), (stroke, -1), (toward, 0)):
            array[rows, 3:5] = nothing
        at = 3 if side == "left" else 4
        kind[rows, at], stroke[rows, at] = 2, index
        toward[rows, at] = LEFT if side == "left" else RIGHT
    return segmentation(made.smooth, kind=kind, stroke=stroke, toward=toward)


def test_surfaces_may_reach_through_each_other():
    made = interlocked("left", "right")
    row = np.linspace(-0.4, 0.4, 12)[:, None]
    depth = np.where(made.smooth == 1, np.exp(row), np.exp(-row)).astype(np.float32)
    found = surface_scales(depth, made, ("up", "low"), ScaleOptions(separation=1e-3))
    assert found.violated == ()
    assert found.notes == ()


def test_contradictory_orders_are_reported_with_their_strokes():
    made = interlocked("left", "right")
    depth = flat(made, 1.0, 1.0)
    found = surface_scales(depth, made, ("up", "low"))
    assert found.violated == ("low",)  # of two equally long ones the later
    assert "cannot all hold at every pixel" in found.notes[0]
    assert "'up'" in found.notes[1]
    assert "'low'" in found.notes[1]
    assert "contradict each other" in found.notes[1]
    assert found.scales == pytest.approx({1: 1.0, 2: 1.01}, abs=1e-6)  # the other one holds


def test_a_cycle_of_three_orders_violates_only_its_shortest_stroke():
    """Three surfaces around a point, each before the next; one of the lines is shorter."""
    smooth = np.ones((18, 24), np.int32)
    smooth[:, 12:] = 2
    smooth[12:] = 3
    kind, stroke = np.zeros_like(smooth), np.full_like(smooth, -1)
    toward = np.zeros((*smooth.shape, 2))
    lines = (
        ((slice(0, 12), 11), 0, LEFT),  # 1 before 2, 12 px
        ((11, slice(12, 24)), 1, (0.0, -1.0)),  # 2 before 3, 12 px
        ((12, slice(4, 12)), 2, (0.0, 1.0)),  # 3 before 1, 8 px
    )
    for where, index, way in lines:
        kind[where], stroke[where], toward[where] = 2, index, way
    made = segmentation(smooth, kind=kind, stroke=stroke, toward=toward)
    found = surface_scales(flat(made, 1.0, 1.0, 1.0), made, ("a", "b", "c"))
    assert found.violated == ("c",)
    assert found.scales == pytest.approx({1: 1.0, 2: 1.01, 3: 1.02}, abs=1e-6)
    assert all(f"'{name}'" in found.notes[-1] for name in "abc")


def test_a_few_pixels_that_cannot_hold_do_not_break_the_rest():
    """One row of forty says that the far side is closer: it is left out, and a note says so."""
    made = interlocked("left", "right", height=40)
    kind, stroke, toward = made.kind.copy(), made.stroke.copy(), made.toward.copy()
    depth = np.where(made.smooth == 1, 1.0, 2.0)
    depth[20:][made.smooth[20:] == 1] = 8.0
    depth[3, 3:5] = 9.0, 0.5
    one = segmentation(made.smooth, kind=kind, stroke=stroke, toward=toward)
    found = surface_scales(depth.astype(np.float32), one, ("up", "low"))
    assert found.violated == ()
    assert len(found.notes) == 1
    assert "10 % of each stroke" in found.notes[0]


def locked(height, wrong, behind):
    """As the one above; in the rows `wrong` the closer side of `up` lies behind so many times."""
    made = interlocked("left", "right", height=height)
    depth = np.where(made.smooth == 1, 1.0, 2.0)
    depth[height // 2 :][made.smooth[height // 2 :] == 1] = 8.0
    depth[wrong, 3] = behind * depth[wrong, 4]
    return made, depth.astype(np.float32)


def test_a_side_that_is_wrong_for_a_few_pixels_is_named():
    """Three of sixty: the tenth that may be left out hides them, but not from the person."""
    made, depth = locked(120, slice(20, 23), 5.0)
    found = surface_scales(depth, made, ("up", "low"))
    assert found.violated == ("up",)
    assert "'up' does not hold at 3 of its" in found.notes[1]
    # The rest is as it was without them.
    assert 2.0 * found.scales[2] > found.scales[1] > 2.0 / 8.0 * found.scales[2]


@pytest.mark.parametrize(("rows", "drift"), [(3, 0.005), (2, 4.0)])
def test_drift_and_single_pixels_are_no_contradiction(rows, drift):
    made, depth = locked(120, slice(20, 20), 1.0)
    settled = surface_scales(depth, made, ("up", "low")).scales
    # Of the settled scene: at these rows the closer side is behind by the drift.
    depth[20 : 20 + rows, 3] = (1 + drift) * settled[2] * depth[20, 4] / settled[1]
    depth[100, 3:5] = 1.0, 9.0  # and one that cannot hold in the other
    found = surface_scales(depth, made, ("up", "low"))
    assert "10 % of each stroke" in found.notes[0]
    assert found.violated == ()
    assert len(found.notes) == 1


def test_pairs_where_lines_meet_do_not_bind():
    """Near the other stroke's end, what lies beyond the line may be on neither of its sides."""
    made, depth = locked(40, slice(20, 20), 1.0)
    depth[18:20, 3] = 90.0
    found = surface_scales(depth, made, ("up", "low"))
    assert found.violated == ()
    assert found.notes == ()
    # Of a stroke that is hardly longer all pairs count.
    short, depth = locked(8, slice(2, 4), 90.0)
    assert surface_scales(depth, short, ("up", "low")).violated


@pytest.mark.parametrize(("behind", "violated"), [(1.015, ()), (1.03, ("s",))])
def test_inside_one_surface_a_little_drift_is_allowed(behind, violated):
    made = columns("left")
    one = segmentation(np.ones((6, 8)), kind=made.kind, stroke=made.stroke, toward=made.toward)
    depth = np.where(np.arange(8) < 4, behind, 1.0)[None].repeat(6, axis=0).astype(np.float32)
    assert surface_scales(depth, one, ("s",)).violated == violated


def test_a_contradiction_elsewhere_leaves_the_other_orders_alone():
    made = interlocked("left", "right")
    wide = columns("left", "left", height=12)
    for name in ("kind", "stroke", "toward"):
        getattr(wide, name)[:, :8] = getattr(made, name)[:, :8]
    wide.stroke[:, 11] = 2
    wide.kind[:, 11], wide.kind[:, 8] = 2, 0
    wide.toward[:, 11] = (-1.0, 0.0)
    smooth = np.repeat([1, 2, 2, 3], [4, 4, 4, 4])[None].repeat(12, axis=0)
    one = segmentation(
        smooth,
        kind=np.pad(wide.kind, ((0, 0), (0, 4))),
        stroke=np.pad(wide.stroke, ((0, 0), (0, 4)), constant_values=-1),
        toward=np.pad(wide.toward, ((0, 0), (0, 4), (0, 0))),
    )
    found = surface_scales(flat(one, 1.0, 1.0, 0.5), one, ("up", "low", "far"))
    assert "far" not in found.violated
    assert found.scales[3] * 0.5 > found.scales[2]


def test_an_order_inside_one_surface_is_checked():
    made = columns("left")
    one = segmentation(np.ones((6, 8)), kind=made.kind, stroke=made.stroke, toward=made.toward)
    near_left = np.where(np.arange(8) < 4, 1.0, 2.0)[None].repeat(6, axis=0).astype(np.float32)
    assert surface_scales(near_left, one, ("s",)).violated == ()
    wrong = surface_scales(near_left[:, ::-1], one, ("s",))
    assert wrong.violated == ("s",)
    assert "both sides are one surface" in wrong.notes[0]


def test_a_pair_or_two_at_a_junction_do_not_count():
    made = columns("left", height=20)
    made.continuous[:1, 4:] = 3
    groups = groups_of(order_pairs(made, flat(made, 1.0, 1.0, 1.0)))
    assert {(g.near, g.far) for g in groups} == {(1, 2)}
