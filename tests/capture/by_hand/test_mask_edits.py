"""Histories of material masks: what is an event, and what labels follow from them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.capture.by_hand import mask_edits
from depthgauge.capture.by_hand.mask_edits import (
    MaskReplay,
    labels_event,
    mask_event,
    region_entry,
    replayed,
)
from depthgauge.capture.masks.shapes import Region
from depthgauge.errors import BadData

SIZE = (24, 16)
SQUARE = [[2, 2], [8, 2], [8, 8], [2, 8]]


def paint(name, number=1, shape="polygon", **entry):
    made = {"points_px": SQUARE, **entry}
    return {"id": name, "kind": "paint", "class": number, "shape": shape, "entry": made}


def region(**changes):
    entry = region_entry(Region(3, 4, np.ones((2, 3), bool)), "flood")
    return {**paint("event-0001", 2, "region"), "entry": {**entry, **changes}}


def test_events_are_checked_and_pass_as_they_are():
    brush = paint("event-0002", 0, "brush", radius_px=2.5)
    back = {"id": "event-0003", "kind": "undo", "of": "event-0002"}
    labels = labels_event(np.eye(16, 24), "event-0004", "from a file")
    for event in (paint("event-0001", 3), brush, back, labels, region()):
        assert mask_event(json.loads(json.dumps(event)), SIZE) == event


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (paint("event-0001", 4), "a class is from 0 to 3, not 4"),
        (paint("event-0001", True), "a class is from 0 to 3"),
        (paint("event-0001", 1, "star"), "a shape is one of polygon, brush, region"),
        (paint("event-0001", points_px=SQUARE[:2]), "a polygon has 3 to 5000 points, found 2"),
        (paint("event-0001", points_px=[[0, 0]] * 5001), "found 5001"),
        (paint("event-0001", points_px=[[0, 0], [1, 1], [1, "1"]]), r"a point is \[x, y\]"),
        (paint("event-0001", points_px=[[0, 0], [1, 1], [1, 2e6]]), r"a point is \[x, y\]"),
        (paint("event-0001", points_px=[[0, 0], [1, 1], [1, float("nan")]]), "a point is"),
        (paint("event-0001", points_px=[[0, 0], [1, 1], [1, 2e-309]]), "two decimals at most"),
        (paint("event-0001", 1, "brush"), "a brush has points_px and radius_px"),
        (paint("event-0001", 1, "brush", points_px=[], radius_px=2), "a brush has 1 to 5000"),
        (paint("event-0001", 1, "brush", radius_px=0.1), "a radius of 0.75 to 4096 px, not 0.1"),
        (paint("event-0001", 1, "brush", radius_px=True), "a radius of"),
        (paint("event-0001", 1, "polygon", more=1), "a polygon has points_px"),
        (region(box_px=[20, 4, 5, 2]), "not inside the picture of 24x16"),
        (region(box_px=[20, 4, 0, 2]), "has no pixel"),
        (region(box_px=[1, 2, 3]), "four whole numbers"),
        (region(runs="DAU="), "cover 4 pixels, expected 3x2"),
        (region(runs="Gg=="), "labels 0 and 1 only"),
        (region(made_by="x" * 201), "at most 200 letters"),
        ({"id": "event-0001", "kind": "draw"}, "an event is paint, labels, undo or redo"),
        ({**paint("event-0001"), "extra": 1}, "paint has id, kind, class"),
        ({**labels_event(np.eye(4), "event-0004", ""), "note": None}, "labels are of"),
        ("paint", "an event is an object"),
    ],
)
def test_what_is_no_event(event, says):
    with pytest.raises(BadData, match=says):
        mask_event(event, SIZE)


def test_later_events_paint_over_earlier_ones():
    dot = paint("event-0002", 3, "brush", points_px=[[5, 5]], radius_px=1)
    labels = replayed([paint("event-0001"), dot], SIZE)
    assert np.bincount(labels.ravel()).tolist() == [24 * 16 - 36, 31, 0, 5]
    eraser = paint("event-0003", 0, "brush", points_px=[[5, 5]], radius_px=40)
    assert not replayed([paint("event-0001"), dot, eraser], SIZE).any()
    assert replayed([paint("event-0009"), region()], SIZE)[4:6, 3:6].tolist() == [[2] * 3] * 2


def some_events(draw):
    names, events = [], []
    for k in range(draw(st.integers(1, 14))):
        if names and draw(st.booleans()):
            kind = draw(st.sampled_from(["undo", "redo"]))
            events.append({"id": f"event-{k:04}", "kind": kind, "of": draw(st.sampled_from(names))})
            continue
        names.append(f"event-{k:04}")
        at = [draw(st.integers(-2, 26)), draw(st.integers(-2, 18))]
        entry = {"points_px": [at], "radius_px": draw(st.integers(1, 9))}
        kind = draw(st.integers(0, 9))
        if kind == 0:
            events.append(labels_event(np.full((16, 24), draw(st.integers(0, 3))), names[-1], ""))
        else:
            events.append(paint(names[-1], draw(st.integers(0, 3)), "brush", **entry))
    return events


@given(st.composite(some_events)(), st.sampled_from([0, 100, 2**20]))
def test_a_followed_history_is_as_one_from_its_beginning(events, kept_bytes):
    """Also when what was there before is forgotten, and whatever is undone in the middle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mask_edits, "_KEPT_BYTES", kept_bytes)
        replay = MaskReplay(SIZE)
        for count in range(len(events) + 1):
            found = replay.follow(events[:count]).copy()
            assert np.array_equal(found, replayed(events[:count], SIZE))
        assert not replay.follow([]).any()
