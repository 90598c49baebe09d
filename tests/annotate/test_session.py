"""A session gives what a reconstruction from scratch gives, whatever was done before."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.annotate.drawn import ball_before_wall, two_surfaces_and_a_fold

from depthgauge.annotate import Session
from depthgauge.annotate.payload import unpacked
from depthgauge.annotate.reconstruct._links import depth_links
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.stopping import Stop
from depthgauge.annotate.records import (
    Focal,
    Header,
    NormalMark,
    Picture,
    Record,
    Relation,
    Stroke,
    SurfaceMark,
    difference,
    line_from_record,
    record_from_line,
    replayed,
)
from depthgauge.errors import BadFile, Cancelled, Misuse

HEADER = Header(Picture("p", 48, 36), Focal(60.0))

_ids = st.sampled_from("abc")
_points = st.tuples(st.integers(-2, 50), st.integers(-2, 38)).map(
    lambda p: (float(p[0]), float(p[1]))
)
_normals = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, -0.2))
_events = st.one_of(
    st.builds(
        Record,
        st.just("stroke"),
        _ids,
        st.builds(
            Stroke,
            st.sampled_from(["occlusion", "fold"]),
            st.lists(_points, min_size=2, max_size=4).map(tuple),
            st.sampled_from(["left", "right"]),
            st.booleans(),
        ),
    ),
    st.builds(
        Record,
        st.just("surface"),
        _ids,
        st.builds(SurfaceMark, _points, st.sampled_from(["planar", "curved"])),
    ),
    st.builds(Record, st.just("normal"), _ids, st.builds(NormalMark, _points, _normals)),
    st.builds(
        Record,
        st.just("relation"),
        _ids,
        st.builds(Relation, _ids, _ids, st.sampled_from(["parallel", "orthogonal"])),
    ),
    st.builds(
        Record,
        st.just("remove"),
        _ids,
        st.sampled_from(["stroke", "surface", "normal", "relation"]),
    ),
    st.builds(
        Record, st.just("region"), st.just(""), st.lists(_points, min_size=0, max_size=4).map(tuple)
    ),
    st.builds(Record, st.just("focal"), st.just(""), st.builds(Focal, st.floats(30, 90))),
    st.just(Record("finish")),
)
_steps = st.lists(st.one_of(_events, st.sampled_from(["undo", "redo", "update"])), max_size=12)


def same(one, two):
    """Whether two reconstructions are equal up to rounding."""
    np.testing.assert_array_equal(one.segmentation.smooth, two.segmentation.smooth)
    np.testing.assert_array_equal(one.segmentation.continuous, two.segmentation.continuous)
    np.testing.assert_allclose(one.normals, two.normals, atol=1e-6)
    np.testing.assert_allclose(one.depth, two.depth, rtol=1e-6)
    assert one.violated == two.violated
    assert one.notes == two.notes


@settings(max_examples=40, deadline=None)
@given(_steps)
def test_any_events_give_what_reconstructing_from_scratch_gives(steps):
    session, records = Session(HEADER), []
    for step in steps:
        if step == "undo":
            records += session.undo()
        elif step == "redo":
            records += session.redo()
        elif step == "update":
            session.update()
        else:
            session.apply(step)
            records.append(step)
    assert session.annotation == replayed(HEADER, records)
    same(session.update().reconstruction, reconstruct(session.annotation))


@settings(max_examples=60, deadline=None)
@given(st.lists(_events, max_size=8), st.lists(_events, max_size=8))
def test_the_difference_of_two_annotations_leads_from_one_to_the_other(one, two):
    before, wanted = replayed(HEADER, one), replayed(HEADER, two)
    found = replayed(HEADER, [*one, *difference(before, wanted)])
    assert found == wanted
    for things in ("strokes", "surfaces", "normals", "relations"):
        assert list(getattr(found, things)) == list(getattr(wanted, things))


def test_undo_restores_the_order_of_what_was_removed_and_redo_takes_it_back():
    session = Session(HEADER)
    for name in "abc":
        session.apply(Record("stroke", name, Stroke("fold", ((1.0, 1.0), (9.0, 9.0)))))
    session.apply(Record("remove", "a", "stroke"))
    after_removal = session.annotation
    session.undo()
    assert list(session.annotation.strokes) == ["a", "b", "c"]
    session.redo()
    assert session.annotation == after_removal
    assert [bool(session.undo()) for _ in range(5)] == [True, True, True, True, False]
    assert not session.annotation.strokes


def test_a_payload_holds_depth_and_links():
    annotation = two_surfaces_and_a_fold()
    session = Session(Header(annotation.picture, annotation.focal), _records(annotation))
    update = session.update()
    data = update.payload()
    found = unpacked(data)
    made = update.reconstruction
    np.testing.assert_allclose(found.depth, made.depth, rtol=1e-4)
    links = depth_links(made.segmentation)
    np.testing.assert_array_equal(found.links & 1, links.right)
    np.testing.assert_array_equal(found.links >> 1 & 1, links.down)
    np.testing.assert_array_equal(found.links >> 2 & 3, made.segmentation.kind)
    np.testing.assert_array_equal(found.links >> 4, made.segmentation.smooth)
    assert found.header["box"] == [0, 0, 60, 40]
    assert found.header["since"] is None
    assert len(data) < 3 * 60 * 40 + 4000
    with pytest.raises(BadFile):
        unpacked(data[:100])


def test_an_update_says_which_pixels_changed():
    annotation = ball_before_wall()
    session = Session(Header(annotation.picture, annotation.focal), _records(annotation))
    first = session.update()
    assert first.since is None
    assert first.box == (0, 0, 120, 120)
    assert session.update(since=0).box is None
    session.apply(Record("normal", "front", NormalMark((60.0, 60.0), (0.2, 0.0, -1.0))))
    second = session.update(since=0)
    x0, y0, x1, y1 = second.box
    assert second.since == 0
    changed = first.reconstruction.depth != second.reconstruction.depth
    assert changed[y0:y1, x0:x1].sum() == changed.sum() > 0
    assert session.update(since=0).box == (0, 0, 120, 120)  # not what the session sent last


def test_payloads_of_a_preview_stay_below_300_kb():
    annotation = ball_before_wall(size=1000, focal=1200.0, radius=300)
    session = Session(Header(annotation.picture, annotation.focal), _records(annotation))
    update = session.update()
    assert update.reconstruction.depth.shape == (300, 300)
    assert update.reconstruction.picture_px == (1000, 1000)
    assert len(update.payload()) < 300_000


def test_a_new_update_cancels_the_old_one(monkeypatch):
    from depthgauge.annotate import session as module

    begun, outcome = threading.Event(), []

    def slow(annotation, *, stop, **options):
        begun.set()
        while not annotation.strokes and not stop.late():
            pass
        return reconstruct(annotation, stop=stop, **options)

    monkeypatch.setattr(module, "reconstruct", slow)
    session = Session(HEADER)

    def first():
        with pytest.raises(Cancelled):
            session.update()
        outcome.append("cancelled")

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait()
    session.apply(Record("stroke", "a", Stroke("fold", ((-1.0, 9.0), (48.0, 9.0)))))
    assert session.update().revision == 1
    thread.join()
    assert outcome == ["cancelled"]


def test_a_time_limit_is_positive():
    with pytest.raises(Misuse, match="positive"):
        Stop(seconds=0)


def test_events_survive_their_lines():
    record = Record("stroke", "s", Stroke("occlusion", ((1.0, 2.0), (3.0, 4.0)), "left"))
    assert record_from_line(line_from_record(record)) == record
    with pytest.raises(BadFile, match="this event"):
        record_from_line('{"event": "dance"}')


def _records(annotation):
    return list(difference(replayed(Header(annotation.picture, annotation.focal), ()), annotation))
