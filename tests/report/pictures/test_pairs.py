import cv2
import numpy as np
from tests.report.views import protocol_of

from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.report.pictures.colours import rgb_of
from depthgauge.report.pictures.pairs import (
    MOST_PAIRS,
    RIGHT,
    UNKNOWN,
    WRONG,
    evenly,
    order_rows,
    relations_picture,
)

PAIRS = np.array([[0, 0, 9, 0, -1], [0, 4, 9, 4, -1], [0, 8, 9, 8, -1]], np.int32)


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def prepared(**items):
    estimate = np.tile(np.arange(10, dtype=np.float32), (9, 1))
    estimate[4] = 1  # a tie
    estimate[8, 0] = np.nan
    return PreparedSample(estimate, np.ones_like(estimate), {}, items=items)


def test_pairs_are_coloured_by_whether_their_order_is_right():
    (row,) = order_rows(protocol_of("depth"), {"m": prepared(depth_pairs=PAIRS)}, None)
    seen = decoded(row.pictures["m"])
    for y, colour in ((0, RIGHT), (4, WRONG), (8, UNKNOWN)):
        assert tuple(seen[y, 5].tolist()) == rgb_of(colour)
    assert row.pictures["m"].caption == "m, 33 % of 3 right"
    assert "wkdr" in row.title


def test_without_pairs_there_is_no_row():
    depth, normals = protocol_of("depth"), protocol_of("normals")
    assert not list(order_rows(depth, {"m": prepared()}, None))
    assert not list(order_rows(depth, {"m": prepared(depth_pairs=PAIRS[:0])}, None))
    assert not list(order_rows(normals, {"m": prepared(depth_pairs=PAIRS)}, None))
    assert not list(order_rows(depth, {}, None))


def test_relations_of_planes_have_a_colour_each():
    pairs = np.array([[0, 0, 9, 0, 1, 0.5], [0, 4, 9, 4, 2, 0.5], [0, 8, 9, 8, 0, 0.5]])
    found = prepared(normal_pairs=pairs)
    picture = relations_picture(protocol_of("normals"), found, None)
    seen = decoded(picture)
    shown = [tuple(seen[y, 5].tolist()) for y in (0, 4, 8)]
    assert shown == [rgb_of(colour) for _, colour in picture.bar.entries]
    assert relations_picture(protocol_of("depth"), found, None) is None
    assert relations_picture(protocol_of("normals"), prepared(), None) is None
    assert relations_picture(protocol_of("normals"), prepared(normal_pairs=pairs[:0]), None) is None


def test_of_many_pairs_some_are_drawn():
    assert len(evenly(9999)) == MOST_PAIRS == len(set(evenly(9999).tolist()))
    assert evenly(0).size == 0
