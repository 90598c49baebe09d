"""What belongs together, what is lost and why: hand-made points."""

import json

import numpy as np
import pytest

from depthgauge.capture.tags.one_object import row_figures, triangulated
from depthgauge.capture.tags.points import (
    ObjectPoints,
    TagPoints,
    inside_or_nan,
    points_from_json,
    points_to_json,
)
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions.tags import TagNote
from depthgauge.types import Camera

SQUARE = np.array([[10.0, 0.0], [0.0, 0.0], [0.0, 10.0], [10.0, 10.0]])


PAPER = TagNote("diffuse", 1)


def tag(identity, note=PAPER, **views):
    """A tag whose square is moved by (x, y) in each view `v10` (time 1, camera 0) ..."""
    corners = {(int(v[1]), int(v[2])): SQUARE + np.array(by) for v, by in views.items()}
    return TagPoints(identity, note, corners)


FULL = {"v10": (50, 20), "v11": (40, 20), "v20": (70, 30), "v21": (58, 30)}


def test_corners_are_matched_by_identity_within_pairs_and_across_time():
    points = ObjectPoints([tag(3, **FULL), tag(9, **FULL)], 2.0)
    flow = points.pairs("flow left")
    assert [(p.tag.identity, p.corner) for p in flow] == [(i, k) for i in (3, 9) for k in range(4)]
    assert (flow[5].first.tolist(), flow[5].second.tolist()) == ([50, 20], [70, 30])
    stereo = points.pairs("stereo after")
    assert (stereo[0].first - stereo[0].second).tolist() == [12, 0]
    assert points.losses() == {}


def test_rows_exclude_stereo_pairs_and_not_flow():
    bad = tag(3, **{**FULL, "v21": (58, 33)})
    bad.corners_px[2, 1][1] -= (0, 2.5)  # one corner is within the limit
    points = ObjectPoints([bad], 2.0)
    assert [p.corner for p in points.pairs("stereo after")] == [1]
    assert len(points.pairs("stereo before")) == 4
    assert len(points.pairs("flow right")) == 4
    assert points.losses() == {"rows differ too much": ["3 (after, 3 of 4 corners)"]}
    assert sorted(points.rows_px().tolist()) == [0, 0, 0, 0, 0.5, 3, 3, 3]


def test_every_loss_has_its_reason():
    lost = ObjectPoints(
        [
            tag(1, v10=(0, 0), v20=(1, 1)),
            tag(2, v10=(0, 0), v11=(0, 0)),
            tag(4, TagNote(), **FULL),
            tag(5, TagNote("diffuse", 1, valid=False), **FULL),
            tag(6, TagNote("diffuse", 1, bad_corners=(2,)), **FULL),
        ],
        2.0,
        {8: [(1, 0), (2, 1)]},
    )
    assert lost.losses() == {
        "identity twice in a photograph": ["8 (1_0, 2_1)"],
        "found by one camera only": ["1 (before, left)", "1 (after, left)"],
        "found at one time only": ["2 (left, before)", "2 (right, before)"],
        "not annotated": ["4"],
        "annotated as not valid": ["5", "6"],
    }
    assert [(p.tag.identity, p.corner) for p in lost.pairs("flow left")] == [
        *((1, k) for k in range(4)),
        *((6, k) for k in (0, 1, 3)),
    ]


def test_points_are_counted_by_material_and_layer():
    points = ObjectPoints(
        [tag(1, **FULL), tag(2, TagNote("transparent", 2), **FULL), tag(3, TagNote(), **FULL)], 2.0
    )
    counts = {"all": 16, "diffuse": 8, "transparent": 8, "reflective": 0}
    layers = {"layer 1": 8, "layer 2": 8, "layer 3": 0}
    assert points.table() == {"flow": {**counts, **layers}, "stereo": {**counts, **layers}}


def test_a_corner_outside_of_the_picture_is_lost():
    seen = inside_or_nan(SQUARE - [0, 5], (100, 80))
    assert np.isfinite(seen).all(axis=1).tolist() == [False, False, True, True]
    points = ObjectPoints([TagPoints(1, TagNote("diffuse", 1), {(1, 0): seen, (2, 0): SQUARE})], 2)
    assert [p.corner for p in points.pairs("flow left")] == [2, 3]
    assert points.losses()["outside of a rectified picture"] == ["1 (1_0)"]


def test_points_come_back():
    first = tag(3, TagNote("reflective", 2, valid=True, bad_corners=(1,)), **FULL)
    first.corners_px[1, 0][2] = np.nan
    kept = TagPoints(3, first.note, first.corners_px, {1: np.full((4, 3), 0.25)})
    text = json.dumps(points_to_json(ObjectPoints([kept], 1.5, {7: [(1, 1)]})), allow_nan=False)
    back = points_from_json(json.loads(text))
    assert (back.row_limit_px, back.repeated) == (1.5, {7: [(1, 1)]})
    (same,) = back.tags
    assert (same.identity, same.note) == (3, first.note)
    for view, corners in first.corners_px.items():
        np.testing.assert_array_equal(same.corners_px[view], corners)
    np.testing.assert_array_equal(same.positions_m[1], np.full((4, 3), 0.25))


def test_rows_in_figures():
    found = row_figures(np.array([0.5, -0.5, 0.2, 3.0]), 2.0, 1920)
    assert (found["pairs"], found["excluded"]) == (4, 1)
    assert found["mean_px"] == pytest.approx(0.4)
    assert found["mean_at_960_px"] == pytest.approx(0.2)
    assert found["mean_signed_px"] == pytest.approx(0.2 / 3)
    assert row_figures(np.zeros(0), 2.0, 1920)["mean_px"] is None


def test_positions_by_hand():
    """f = 100 px, baseline 0.1 m: 10 px are 1 m."""
    camera = Camera((100.0, 100.0), (50.0, 40.0), (101, 81))
    view = RectifiedView(camera, np.eye(3), camera)
    pair = RectifiedPair(view, view, 0.1)
    left = np.array([[70.0, 40.0], [50.0, 50.0], [50.0, 50.0], [20.0, 40.0]])
    right = left - np.array([[10.0, 0.0], [20.0, 0.5], [10.0, 3.0], [-1.0, 0.0]])
    found = triangulated(left, right, pair, row_limit_px=2.0)
    np.testing.assert_allclose(found[:2], [[0.2, 0.0, 1.0], [0.0, 0.05, 0.5]], rtol=1e-6)
    assert np.isnan(found[2:]).all(), "rows differ by 3 px; behind infinity"
