"""The region splits along what was drawn: exactly, completely, and forgiving small gaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.segmentation import FOLD, SHARP, SMOOTH, pixel_of, segment
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    Picture,
    Stroke,
    SurfaceMark,
)
from depthgauge.errors import Misuse

WIDTH, HEIGHT = 60, 50


def drawn(*strokes, region=(), surfaces=None, width=WIDTH, height=HEIGHT):
    return Annotation(
        Picture("test", width, height),
        Focal(500.0),
        region_px=tuple(region),
        strokes={f"s{i}": stroke for i, stroke in enumerate(strokes)},
        surfaces=surfaces or {},
    )


def occlusion(*points, closer="right", smooth=False):
    return Stroke("occlusion", tuple(points), closer, smooth)


def fold(*points):
    return Stroke("fold", tuple(points))


def circle(x, y, radius, part=1.0, corners=80):
    turn = np.linspace(0.0, 2 * np.pi * part, corners)
    return tuple(
        zip((x + radius * np.cos(turn)).tolist(), (y + radius * np.sin(turn)).tolist(), strict=True)
    )


def neighbours_of(labels):
    """All pairs of 4-neighbours, as two arrays."""
    flat = [(labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])]
    return (np.concatenate([pair[k].ravel() for pair in flat]) for k in (0, 1))


def check(found):
    """What holds of every segmentation."""
    assert ((found.continuous > 0) == found.region).all()
    assert ((found.smooth > 0) == found.region).all()
    for labels in (found.continuous, found.smooth):
        numbers = np.unique(labels[found.region])
        assert numbers.tolist() == list(range(1, len(numbers) + 1))
    # Each smooth surface lies in one continuous surface.
    for number in range(1, found.smooth.max() + 1):
        assert len(np.unique(found.continuous[found.smooth == number])) == 1
    assert set(found.shapes) == set(range(1, found.smooth.max() + 1))
    # Lines: consistent, in the region, with a side.
    lines = found.kind > 0
    assert (found.stroke >= 0)[lines].all()
    assert (found.stroke[~lines] == -1).all()
    assert not lines[~found.region].any()
    np.testing.assert_allclose(np.linalg.norm(found.toward[lines], axis=1), 1.0, atol=1e-5)
    assert not found.toward[~lines].any()
    # No free pixel touches another surface's free pixel.
    free = found.region & ~lines
    for labels, passable in ((found.smooth, free), (found.continuous, found.kind <= FOLD)):
        a, b = neighbours_of(np.where(passable & found.region, labels, 0))
        slivers = found.notes and any("joined" in note for note in found.notes)
        if not slivers:
            assert (a[(a > 0) & (b > 0)] == b[(a > 0) & (b > 0)]).all()


def is_connected(mask):
    return ndimage.label(mask)[1] == 1


def test_nothing_drawn_is_one_surface():
    found = segment(drawn())
    check(found)
    assert found.region.all()
    assert found.continuous.max() == found.smooth.max() == 1
    assert found.shapes == {1: "curved"}
    assert found.notes == ()


def test_a_vertical_occlusion_belongs_to_its_closer_side():
    # Upwards: the right side is at larger x.
    for closer, owner in (("right", 31), ("left", 29)):
        found = segment(drawn(occlusion((30, 49), (30, 0), closer=closer)))
        check(found)
        assert (found.kind[:, 30] == SHARP).all()
        assert np.count_nonzero(found.kind) == HEIGHT
        assert found.continuous.max() == 2
        assert (found.continuous[:, 30] == found.continuous[:, owner]).all()
        assert (found.toward[:, 30] == (1.0 if closer == "right" else -1.0, 0.0)).all()


def test_a_fold_splits_smooth_surfaces_only_and_the_seed_chooses_its_side():
    sides = set()
    for seed in range(8):
        found = segment(drawn(fold((0, 20), (59, 20))), seed=seed)
        check(found)
        assert found.continuous.max() == 1
        assert found.smooth.max() == 2
        owner = found.smooth[20, 0]
        assert (found.smooth[20] == owner).all()
        sides.add(int(owner))
        again = segment(drawn(fold((0, 20), (59, 20))), seed=seed)
        assert (again.smooth == found.smooth).all()
    assert sides == {1, 2}


@pytest.mark.parametrize("closer", ["left", "right"])
@pytest.mark.parametrize("corners", [4, 7, 20, 300])
def test_a_closed_curve_is_owned_by_the_side_that_was_said(corners, closer):
    points = circle(30, 25, 15, corners=corners + 1)[:-1]
    found = segment(drawn(occlusion(*points, points[0], closer=closer, smooth=True)))
    check(found)
    assert found.continuous.max() == 2
    # Clockwise on the screen: the inside is to the right.
    owner = found.continuous[25, 30] if closer == "right" else found.continuous[0, 0]
    assert (found.continuous[found.kind == SMOOTH] == owner).all()
    assert is_connected(found.kind > 0)
    assert all(is_connected(found.continuous == number) for number in (1, 2))


def test_other_strokes_may_come_and_go_without_turning_a_fold():
    names = [f"f{i}" for i in range(12)]
    strokes = {name: fold((0, 3 + 3 * i), (59, 3 + 3 * i)) for i, name in enumerate(names)}
    whole = segment(replace(drawn(), strokes=strokes))
    sides = {name: whole.toward[3 + 3 * i, 30, 1] for i, name in enumerate(names)}
    assert set(sides.values()) == {-1.0, 1.0}
    for gone in names[:4]:
        rest = {name: stroke for name, stroke in strokes.items() if name != gone}
        found = segment(replace(drawn(), strokes=rest))
        for i, name in enumerate(names):
            assert name == gone or found.toward[3 + 3 * i, 30, 1] == sides[name]


def test_lines_are_thin_and_4_connected():
    found = segment(drawn(fold((3.3, 4.1), (50.2, 40.7))), gap_px=0)
    ys, xs = np.nonzero(found.kind)
    assert is_connected(found.kind > 0)
    # As few pixels as a walk over 4-neighbours needs.
    assert len(xs) == (50 - 3) + (41 - 4) + 1
    away = np.abs((xs - 3.3) * (40.7 - 4.1) - (ys - 4.1) * (50.2 - 3.3)) / np.hypot(46.9, 36.6)
    assert away.max() < 0.71


def test_toward_is_orthogonal_to_the_line():
    found = segment(drawn(occlusion((5, 10), (55, 30), closer="left")), gap_px=0)
    lines = found.kind > 0
    way = np.array([50, 20]) / np.hypot(50, 20)
    np.testing.assert_allclose(found.toward[lines] @ way, 0.0, atol=1e-6)
    assert (found.toward[lines][:, 1] < 0).all()  # left of somebody who goes right is above


def test_a_thin_spike_keeps_its_inside():
    spike = ((10, 49), (30, 5), (36, 49))
    found = segment(drawn(occlusion(*spike, closer="right")))
    check(found)
    inside = found.continuous[45, 25]
    assert (found.continuous[found.kind > 0] == inside).all()
    assert is_connected(found.continuous == inside)


@pytest.mark.parametrize("gap", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("where", ["edge", "line", "fold", "itself"])
def test_gaps_up_to_the_limit_split_as_closed_lines_do(gap, where):
    wall = {"line": occlusion((40, 0), (40, 49)), "fold": fold((40, 0), (40, 49))}
    if where == "edge":
        strokes = [occlusion((0, 25), (59 - gap, 25))]
        places = (0, 10), (49, 10)
    elif where == "itself":
        square = ((20, 10), (40, 10), (40, 40), (20, 40), (20, 10 + gap + 1))
        strokes = [occlusion(*square)]
        places = (25, 30), (0, 0)
    else:
        strokes = [wall[where], occlusion((0, 25), (39 - gap, 25))]
        places = (0, 10), (49, 10)
    found = segment(drawn(*strokes))
    check(found)
    labels = found.smooth if where == "fold" else found.continuous
    split = labels[places[0]] != labels[places[1]]
    assert split == (gap <= 4)
    assert any("1 gap(s)" in note for note in found.notes) == (gap <= 4)
    if split:
        assert f"{gap}.0 px at" in found.notes[0]
        assert np.count_nonzero(found.stroke == len(strokes) - 1) > 0
    closed = segment(drawn(*strokes), gap_px=8)
    assert closed.smooth[places[0]] != closed.smooth[places[1]]


def test_no_gap_is_closed_where_none_may_be():
    found = segment(drawn(occlusion((0, 25), (57, 25))), gap_px=0)
    assert found.continuous.max() == 1
    (note,) = found.notes
    assert "1 end(s) of lines are open: 's0' at (57, 25)" in note


def test_an_occlusion_that_goes_on_as_a_fold_is_not_extended():
    """A box on a table: its outline meets the table from one corner on, next to another line."""
    outline, bottom = occlusion((30, -1), (30, 25)), fold((30, 25), (30, 50))
    found = segment(drawn(outline, bottom, occlusion((33, -1), (33, 50))))
    check(found)
    assert found.continuous[10, 10] == found.continuous[40, 10] == found.continuous[10, 31]
    assert not any("gap" in note or "open" in note for note in found.notes)


@pytest.mark.parametrize("gap", [3.0, 6.4, 15.0, 19.0, 23.0, 40.0])
def test_preview_and_final_have_the_same_surfaces(gap):
    """In 1600 x 1200 gaps up to 20 px are closed, at any size; others are noted."""
    large = Annotation(
        Picture("p", 1600, 1200),
        Focal(1500.0),
        strokes={
            "wall": occlusion((800, -1), (800, 1200)),
            "shelf": occlusion((-1, 600), (799 - gap, 600)),
        },
    )
    whole, preview = reconstruct(large, max_side_px=640), reconstruct(large, max_side_px=300)
    counts = {int(made.segmentation.continuous.max()) for made in (whole, preview)}
    assert counts == {3 if gap <= 20 else 2}
    closed, open_ = [any(word in n for n in whole.notes) for word in ("gap(s)", "are open")]
    assert (closed, open_) == (gap <= 20, gap > 20)
    assert whole.notes[0] == preview.notes[0]


def test_a_closed_gap_is_owned_like_its_stroke():
    points = circle(30, 25, 15, part=0.965)
    found = segment(drawn(occlusion(*points, closer="right")))
    check(found)
    inside = found.continuous[25, 30]
    assert inside != found.continuous[0, 0]
    assert (found.continuous[found.kind > 0] == inside).all()


def test_an_end_drawn_too_far_is_not_joined_once_more():
    found = segment(drawn(occlusion((40, 0), (40, 49)), occlusion((0, 25), (43, 25))))
    check(found)
    assert found.continuous.max() == 3
    assert found.notes == ()
    overlapping = circle(30, 25, 15, part=1.03)
    found = segment(drawn(fold(*overlapping)))
    assert found.smooth.max() == 2
    assert not any("gap" in note for note in found.notes)


def test_an_end_that_meets_a_line_does_not_look_further():
    """Two folds end on a wall 3 px apart: there is no gap between them."""
    strokes = (fold((30, 0), (30, 49)), fold((0, 20), (30, 20)), fold((0, 24), (30, 24)))
    found = segment(drawn(*strokes))
    assert not any("gap" in note for note in found.notes)


def test_two_ends_that_face_each_other_are_joined_once():
    found = segment(drawn(fold((0, 25), (28, 25)), fold((32, 25), (59, 25))))
    check(found)
    assert found.smooth.max() == 2
    assert "1 gap(s)" in found.notes[0]
    assert "'s0' to 's1'" in found.notes[0]


def test_an_occlusion_looks_past_a_fold_for_what_closes_it():
    """A fold ends the smooth surface, not the continuous one."""
    strokes = (fold((30, 0), (30, 49)), occlusion((32, 0), (32, 49)), occlusion((0, 25), (28, 25)))
    found = segment(drawn(*strokes))
    check(found)
    assert found.continuous[0, 10] != found.continuous[49, 10]


def test_a_fold_never_breaks_an_occlusion():
    """Whichever was drawn first, where they cross it is the occlusion that separates."""
    cross = [occlusion((30, 0), (30, 49)), fold((0, 25), (59, 25))]
    for strokes in (cross, cross[::-1]):
        found = segment(drawn(*strokes))
        check(found)
        assert found.kind[25, 30] == SHARP
        assert found.continuous.max() == 2
        assert found.smooth.max() == 4


def test_a_line_drawn_twice_is_one_line():
    line = occlusion(*circle(30, 25, 15))
    once, twice = segment(drawn(line)), segment(drawn(line, line))
    assert (once.continuous == twice.continuous).all()
    back = Stroke("occlusion", line.points_px[::-1], "left")
    found = segment(drawn(line, back))
    check(found)
    assert found.continuous[25, 30] != found.continuous[0, 0]


def test_slivers_join_the_neighbour_with_the_longest_border():
    """A bump of a second line encloses 2 px."""
    strokes = (fold((0, 25), (59, 25)), fold((20, 25), (20, 27), (23, 27), (23, 25)))
    found = segment(drawn(*strokes))
    check(found)
    assert found.smooth.max() == 2
    assert any("1 piece(s)" in note for note in found.notes)


def test_strokes_along_the_border_leave_everything_labelled():
    frame = ((0, 0), (59, 0), (59, 49), (0, 49), (0, 0))
    for closer in ("left", "right"):
        found = segment(drawn(occlusion(*frame, closer=closer)))
        check(found)
        assert found.continuous.max() == 1


def test_strokes_outside_or_without_length_are_left_out_and_named():
    strokes = (
        fold((100, 100), (200, 200)),
        fold((5, 5), (5, 5)),
        Stroke("fold", ()),
        Stroke("fold", ((4, 4),)),
        fold((float("nan"), 1), (3, float("inf"))),
        fold((-1e300, 25), (1e300, 25)),
        Stroke("occlusion", ((0, 10), (59, 10))),
    )
    found = segment(drawn(*strokes))
    check(found)
    text = " ".join(found.notes)
    assert "Stroke 's0' lies outside" in text
    assert all(f"Stroke 's{i}' has no length" in text for i in (1, 2, 3, 4))
    assert "'s5'" not in text
    assert "Occlusion 's6' does not say which side" in text
    assert found.smooth.max() == 3


def test_strokes_are_cut_at_the_region():
    region = ((10, 10), (50, 10), (50, 40), (10, 40))
    found = segment(drawn(occlusion((0, 25), (59, 25)), region=region))
    check(found)
    assert found.region.sum() == 41 * 31
    assert found.continuous.max() == 2
    assert "Cut at the region's edge: stroke(s) 's0'." in found.notes
    # Led over the edge by a few pixels, or out of the image, it is as it should be.
    over = segment(drawn(occlusion((7, 25), (53, 25)), region=region))
    assert over.continuous.max() == 2
    assert over.notes == ()
    assert segment(drawn(occlusion((-40, 25), (99, 25)))).notes == ()
    all_of_it = ((-9, -9), (70, -9), (70, 60), (-9, 60))
    assert segment(drawn(occlusion((-40, 25), (99, 25)), region=all_of_it)).notes == ()


@pytest.mark.parametrize(
    "region",
    [
        ((1, 1), (2, 2)),
        ((float("nan"), 0), (1, 1), (5, 5)),
        ((200, 200), (300, 200), (300, 300)),
        ((1.1, 1.1), (1.2, 1.1), (1.2, 1.2)),
        ((3, 3),) * 5,
    ],
    ids=["two corners", "nan", "outside", "no pixel", "one place"],
)
def test_a_region_that_encloses_nothing_is_the_whole_image(region):
    found = segment(drawn(region=region))
    assert found.region.all()
    assert "whole image" in found.notes[0]


def test_specks_of_a_crossing_outline_are_left_out():
    region = ((10, 10), (50, 40), (50, 10), (9, 41), (9, 44), (7, 41))
    found = segment(drawn(region=region))
    check(found)
    assert all(
        (ndimage.label(found.region)[0] == k).sum() >= 4
        for k in range(1, ndimage.label(found.region)[1] + 1)
    )


def test_a_tiny_region_full_of_lines_is_one_surface():
    region = ((10, 10), (12, 10), (12, 12), (10, 12))
    found = segment(drawn(occlusion((0, 10.5), (59, 10.5)), fold((11, 0), (11, 49)), region=region))
    check(found)
    assert found.continuous.max() == found.smooth.max() == 1


def test_marks_name_surfaces_and_their_shapes():
    surfaces = {
        "left": SurfaceMark((5, 5), "planar"),
        "right": SurfaceMark((50, 5), "curved"),
        "again": SurfaceMark((50, 40), "planar"),
        "lost": SurfaceMark((500, 5), "planar"),
        "nowhere": SurfaceMark((float("nan"), 5), "planar"),
    }
    found = segment(drawn(fold((30, 0), (30, 49)), surfaces=surfaces))
    assert found.marks == {"left": 1, "right": 2, "again": 2, "lost": 0, "nowhere": 0}
    assert found.shapes == {1: "planar", 2: "planar"}
    assert [name in " ".join(found.notes) for name in ("'lost'", "'nowhere'")] == [True, True]
    assert any("'right' and 'again'" in note and "disagree" in note for note in found.notes)
    assert found.smooth_at((5, 5)) == 1
    assert found.smooth_at((-0.6, 5)) == 0


def test_pixels_are_centred_at_integers():
    assert pixel_of((0.49, -0.5), (10, 10)) == (0, 0)
    assert pixel_of((9.5, 0), (10, 10)) is None


@pytest.mark.parametrize("gap_px", [-1, float("nan"), 1e9])
def test_an_impossible_gap_is_refused(gap_px):
    with pytest.raises(Misuse, match="gap_px"):
        segment(drawn(), gap_px=gap_px)


def test_a_negative_seed_is_refused():
    with pytest.raises(Misuse, match="seed"):
        segment(drawn(), seed=-1)


coordinates = st.tuples(st.floats(-10, 70), st.floats(-10, 60))
strokes_drawn = st.builds(
    Stroke,
    kind=st.sampled_from(["occlusion", "fold"]),
    points_px=st.lists(coordinates, min_size=0, max_size=8).map(tuple),
    closer=st.sampled_from(["left", "right", None]),
    smooth=st.booleans(),
)


@settings(max_examples=100)
@given(
    st.lists(strokes_drawn, max_size=6),
    st.lists(coordinates, min_size=0, max_size=6),
    st.integers(0, 5),
)
def test_whatever_is_drawn_the_surfaces_partition_the_region(strokes, region, seed):
    annotation = drawn(*strokes, region=region)
    found = segment(annotation, seed=seed)
    check(found)
    again = segment(annotation, seed=seed)
    for name in ("region", "kind", "stroke", "toward", "continuous", "smooth"):
        assert (getattr(found, name) == getattr(again, name)).all()
    assert found.notes == again.notes


@given(st.floats(15, 45), st.floats(15, 35), st.floats(4, 12), st.integers(3, 40), st.booleans())
def test_a_closed_curve_always_splits(x, y, radius, corners, is_fold):
    points = circle(x, y, radius, corners=corners + 1)[:-1]
    closed = (*points, points[0])
    found = segment(drawn(fold(*closed) if is_fold else occlusion(*closed)))
    check(found)
    labels = found.smooth if is_fold else found.continuous
    assert labels[pixel_of((x, y), labels.shape)] != labels[0, 0]
    assert labels.max() == 2


@given(st.floats(10, 14), st.floats(0, 2 * np.pi), st.floats(0.0, 12.0))
def test_round_gaps_follow_the_same_limit(radius, turn, gap):
    part = 1.0 - gap / (2 * np.pi * radius)
    points = np.array(circle(0, 0, radius, part=part, corners=200))
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    x, y = 30.0, 25.0
    path = [(float(a), float(b)) for a, b in points @ spin.T + (x, y)]
    found = segment(drawn(occlusion(*path)))
    check(found)
    split = found.continuous[25, 30] != found.continuous[0, 0]
    # Between ends that lie anywhere in their pixels the distance is known to 1.5 px.
    if gap < 3.5:
        assert split
    if gap > 6.6:
        assert not split


def test_a_region_from_the_first_to_the_last_pixel_is_the_whole_image():
    found = segment(drawn(region=((0, 0), (59, 0), (59, 49), (0, 49))))
    assert found.region.shape == (50, 60)
    assert found.region.all()
