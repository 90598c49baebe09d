"""Removals by hand: events, their replay, counts, and the pieces of the cloud that pages get."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.capture.by_hand.cloud import Window, cloud_piece
from depthgauge.capture.by_hand.history import standing
from depthgauge.capture.by_hand.removals import RemovalView, removal_event, removal_list
from depthgauge.capture.clean.manual_edits import points_m, read_manual_edits, write_manual_edits
from depthgauge.errors import BadData, Misuse

LASSO = {
    "projection": [[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
    "points": [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]],
}


def remove(name, entry=LASSO, shape="lassos"):
    return {"id": f"event-no-{name}", "kind": "remove", "shape": shape, "entry": entry}


def back(name, of, kind="undo"):
    return {"id": f"event-no-{name}", "kind": kind, "of": f"event-no-{of}"}


@given(st.lists(st.tuples(st.sampled_from(["undo", "redo"]), st.integers(0, 3)), max_size=8))
def test_what_stands_is_what_the_last_word_says(words):
    history = [removal_event(remove(f"{n}")) for n in range(4)]
    last = {}
    for number, (kind, of) in enumerate(words):
        history.append(removal_event(back(f"w{number}", of, kind)))
        last[of] = kind
    names = [event["id"] for event in standing(history)]
    assert names == [f"event-no-{n}" for n in range(4) if last.get(n) != "undo"]
    # What was sent twice changes nothing.
    assert standing([*history[:4], *history]) == standing(history)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (3, "an event is an object"),
        ({"id": "x", "kind": "undo"}, "needs an id of 8 to 64"),
        ({"id": "event-01", "kind": "draw"}, "a remove, an undo or a redo"),
        ({"id": "event-01", "kind": "undo"}, "needs the id of an event"),
        ({**back("1", 2), "why": ""}, "'why' is unknown"),
        (remove("1", shape="circles"), "'circles' is unknown"),
        (remove("1", {**LASSO, "points": [[0, 0]]}), "3 points"),
        (remove("1", {**LASSO, "depth_m": [2, 1]}), "must not fall"),
        (remove("1", {**LASSO, "least_sigma_px": -1}), "must not be below 0"),
        (remove("1", 5), "expected an object"),
        (remove("1", {**LASSO, "points": [[0, 0]] * 20_001}), "at most 20000"),
    ],
)
def test_what_is_no_event_is_refused_in_words(event, said):
    with pytest.raises(BadData, match=said):
        removal_event(event)


def test_a_history_gives_the_list_that_clean_reads(tmp_path):
    polygon = {"view": "left", "points_px": [[0, 0], [9, 0], [0, 9]], "least_sigma_px": 0.5}
    events = [remove("a"), remove("b", polygon, "polygons"), back("c", "a"), remove("d")]
    chosen = removal_list([removal_event(event) for event in events])
    assert (len(chosen.lassos), chosen.polygons[0].least_sigma_px) == (1, 0.5)
    write_manual_edits(tmp_path / "list.json", chosen)
    assert read_manual_edits(tmp_path / "list.json") == chosen


def test_counts_are_those_of_the_points_inside(edited):
    view = RemovalView(edited.work)
    event = removal_event(remove("a"))
    for side in ("left", "right"):
        points = points_m(view.maps[side].disparity, view.pair, side)
        with np.errstate(invalid="ignore"):
            inside = (np.abs(points[..., :2] / points[..., 2:]) <= 0.1).all(axis=2)
        inside &= view.codes[side] == 0
        assert view.removed([event])[side] == view.removed_by(event)[side] == inside.sum() > 100
    assert view.removed([event, event]) == view.removed([event])
    assert view.removed([event, removal_event(back("z", "a"))]) == {"left": 0, "right": 0}
    near = removal_event(remove("n", {**LASSO, "depth_m": [0, 1.0]}))
    assert view.removed([near])["left"] < view.removed([event])["left"]
    doubtful = removal_event(remove("s", {**LASSO, "least_sigma_px": 0.4}))
    assert 0 < view.removed([doubtful])["left"] < view.removed([event])["left"]


def unpacked(piece):
    (length,) = struct.unpack("<I", piece[:4])
    header = json.loads(piece[4 : 4 + length])
    count, start = header["columns"] * header["rows"], 4 + length
    assert start % 4 == 0
    assert len(piece) == start + 10 * count
    shape = header["rows"], header["columns"]
    disparity = np.frombuffer(piece, "<f4", count, start).reshape(shape)
    sigma = np.frombuffer(piece, "<u2", count, start + 4 * count).reshape(shape)
    return header, disparity, sigma


@pytest.mark.parametrize(
    ("window", "most"), [(None, 10**6), (None, 777), (Window(50, 40, 31, 27), 200)]
)
def test_pieces_have_real_pixels_and_their_points(edited, window, most):
    view = RemovalView(edited.work)
    image = np.zeros((*view.maps["left"].disparity.shape, 3), np.uint8)
    for side in ("left", "right"):
        header, disparity, sigma = unpacked(cloud_piece(view, side, image, window, most))
        assert disparity.size <= most
        step = header["stride"]
        full = points_m(view.maps[side].disparity, view.pair, side)
        rows = header["y"] + step * np.arange(header["rows"])
        columns = header["x"] + step * np.arange(header["columns"])
        z = header["depth_focal_px"] * header["baseline_m"] / (disparity + header["offset_px"])
        x = header["start_m"] + (columns - header["centre_px"][0]) * z / header["focal_px"][0]
        expected = full[np.ix_(rows, columns)]
        np.testing.assert_allclose(z, expected[..., 2], rtol=1e-5)
        np.testing.assert_allclose(x, expected[..., 0], rtol=1e-5, atol=1e-6)
        spread = np.sqrt(view.maps[side].variance[np.ix_(rows, columns)])
        np.testing.assert_allclose(sigma / 1000, spread, atol=6e-4)


def test_pieces_outside_are_refused(edited):
    view = RemovalView(edited.work)
    image = np.zeros((1, 1, 3), np.uint8)
    with pytest.raises(Misuse, match="has no pixel"):
        cloud_piece(view, "left", image, Window(9000, 0, 5, 5))
    with pytest.raises(Misuse, match="left or right"):
        cloud_piece(view, "top", image)
