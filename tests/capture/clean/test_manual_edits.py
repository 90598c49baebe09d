"""Removal by hand: the file, polygons, boxes and balls."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from depthgauge.capture.clean import manual_edits
from depthgauge.capture.clean.manual_edits import (
    Balls,
    Box,
    Lasso,
    ManualEdits,
    Polygon,
    manually_removed,
    points_m,
    read_manual_edits,
    write_manual_edits,
)
from depthgauge.errors import BadData
from depthgauge.geometry.polygons import polygon_mask
from depthgauge.geometry.projection import project
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.types import Camera

NUMBERS = st.floats(-100, 100)
POINTS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
POLYGONS = st.builds(
    Polygon,
    st.sampled_from(["left", "right"]),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=6).map(tuple),
    st.text(max_size=5),
)
BOXES = st.builds(lambda a, b: Box(tuple(map(min, a, b)), tuple(map(max, a, b))), POINTS, POINTS)
BALLS = st.builds(Balls, st.lists(POINTS, min_size=1, max_size=4).map(tuple), st.floats(1e-4, 10.0))

LASSOS = st.builds(
    Lasso,
    st.tuples(*[st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)] * 3),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=6).map(tuple),
    depth_m=st.none() | st.just((0.5, 2.0)),
    least_sigma_px=st.floats(0, 3),
)


def pair_of(width=60, height=40, focal=100.0, offset=0.0):
    views = []
    for shift in (0.0, offset):
        camera = Camera((focal, focal), (width / 2 + shift, height / 2), (width, height))
        views.append(RectifiedView(camera, np.eye(3), camera))
    return RectifiedPair(views[0], views[1], 0.1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        ManualEdits,
        st.lists(POLYGONS, max_size=3).map(tuple),
        st.lists(BOXES, max_size=3).map(tuple),
        st.lists(BALLS, max_size=3).map(tuple),
        st.lists(LASSOS, max_size=3).map(tuple),
    )
)
def test_what_is_written_is_read_again(tmp_path, chosen):
    write_manual_edits(tmp_path / "hand.json", chosen)
    assert read_manual_edits(tmp_path / "hand.json") == chosen


GOOD = {"view": "left", "points_px": [[0, 0], [4, 0], [0, 4]]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{", "not a readable JSON"),
        ([1], "expected an object with schema 1, found 'list'"),
        ({"schema": 2}, "expected an object with schema 1, found 2"),
        ({"schema": 1, "circles": []}, "'circles' is unknown; known are polygons, boxes, balls"),
        ({"schema": 1, "boxes": {}}, "boxes must be a list, found dict"),
        ({"schema": True}, "expected an object with schema 1, found True"),
        ({"schema": 1, "boxes": [3]}, r"boxes\[0\]: expected an object, found 3"),
        (
            {"schema": 1, "polygons": [{**GOOD, "points_px": 7}]},
            "points_px must be a list, found 7",
        ),
        ({"schema": 1, "polygons": [{**GOOD, "points_px": ["12", "34", "56"]}]}, "found '12'"),
        ({"schema": 1, "polygons": [{**GOOD, "points_px": [["1", "2"]] * 3}]}, "2 finite numbers"),
        ({"schema": 1, "polygons": [{**GOOD, "points_px": [[10**400, 0]] * 3}]}, "beyond 64 bits"),
        ({"schema": 1, "polygons": [GOOD, {"view": "left"}]}, r"\[1\]: 'points_px' is missing"),
        (
            {"schema": 1, "polygons": [{**GOOD, "view": "L"}]},
            "view must be 'left' or 'right', found 'L'",
        ),
        ({"schema": 1, "polygons": [{**GOOD, "points_px": [[0, 0]]}]}, "at least 3 points"),
        ({"schema": 1, "polygons": [{**GOOD, "points_px": [[0, 0, 1]] * 3}]}, "expected 2 finite"),
        (
            {"schema": 1, "boxes": [{"low_m": [0, 0, 2], "high_m": [1, 1, 1]}]},
            "low_m must not be above",
        ),
        ({"schema": 1, "balls": [{"centres_m": [], "radius_m": 1}]}, "a radius_m above 0"),
        ({"schema": 1, "balls": [{"centres_m": [[0, 0, 1]], "radius_m": "x"}]}, r"balls\[0\]"),
    ],
)
def test_bad_files_give_one_sentence(tmp_path, data, said):
    path = tmp_path / "hand.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    with pytest.raises(BadData, match=said) as caught:
        read_manual_edits(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadData, match="No such file"):
        read_manual_edits(tmp_path / "none.json")


def test_polygons_of_one_view_leave_the_other_alone():
    square = Polygon("left", ((2.5, 1.5), (6.5, 1.5), (6.5, 3.5), (2.5, 3.5)))
    disparity = np.full((40, 60), 5.0, np.float32)
    found = {
        side: manually_removed(ManualEdits((square,)), pair_of(), disparity, side)
        for side in ("left", "right")
    }
    assert found["left"].sum() == 8
    assert found["left"][2:4, 3:7].all()
    assert not found["right"].any()


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_points_of_both_views_are_in_the_left_camera_s_axes(offset):
    """A point that is projected into both views comes back from either."""
    pair = pair_of(offset=offset)
    point = np.array([0.05, -0.1, 2.0])
    left = project(point[None], pair.left.camera)[0]
    right = project(point[None] - [pair.baseline_m, 0, 0], pair.right.camera)[0]
    disparity = float(left[0] - right[0])
    for side, at in (("left", left), ("right", right)):
        column, row = np.rint(at).astype(int)
        found = points_m(np.full((40, 60), disparity, np.float32), pair, side)[row, column]
        assert np.abs(found - point).max() < 0.5 * 2.0 / 100 + 1e-5, "half a pixel at 2 m"


def test_boxes_and_balls_remove_points_of_both_views():
    pair = pair_of()
    disparity = np.full((40, 60), 5.0, np.float32)  # 2 m
    disparity[:, 30:] = 10.0  # 1 m
    disparity[0] = np.nan
    near = ManualEdits(boxes=(Box((-9.0, -9.0, 0.5), (9.0, 9.0, 1.5)),))
    for side in ("left", "right"):
        found = manually_removed(near, pair, disparity, side)
        assert found[1:, 30:].all()
        assert not found[:, :30].any()
        assert not found[0].any(), "there is no point where there is no disparity"
    centre = points_m(disparity, pair, "left")[20, 10]
    balls = ManualEdits(balls=(Balls((tuple(map(float, centre)),), 0.05),))
    found = manually_removed(balls, pair, disparity, "left")
    y, x = np.nonzero(found)
    # 2 m away a pixel is 0.02 m: a disc with a radius of two pixels and a half.
    assert found.sum() == 21
    assert np.hypot(y - 20, x - 10).max() < 2.5


@given(st.lists(st.tuples(st.integers(-2, 14), st.integers(-2, 11)), min_size=3, max_size=9))
def test_a_lasso_on_a_screen_encloses_what_a_polygon_in_a_picture_does(corners):
    """A screen that shows a grid of points 2 m away, one per pixel."""
    height, width = 10, 13
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    points = np.stack([2 * columns, 2 * rows, np.full_like(rows, 2.0)], axis=-1)
    screen = ((1.0, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, 1.0, 0))
    found = manual_edits._in_lasso(points, Lasso(screen, tuple(corners)))
    np.testing.assert_array_equal(found, polygon_mask((height, width), corners))
    behind = Lasso(screen, tuple(corners), depth_m=(2.5, 3.0))
    assert not manual_edits._in_lasso(points, behind).any()
