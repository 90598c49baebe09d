"""The folder of a session: what is found in it, and what is refused."""

import json
import math

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadData
from depthgauge.sessions import Board, Session, open_session, write_session


@pytest.fixture
def folder(tmp_path):
    write_session(Session(tmp_path, "kitchen", Board(), notes={"who": "me"}))
    return tmp_path


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("written.png")
    io.write_image(beside, np.zeros((2, 3), np.uint8))
    beside.rename(path)


def test_what_was_written_is_read(folder):
    session = open_session(folder)
    assert session == Session(folder, "kitchen", Board(), notes={"who": "me"})
    assert not session.simulated
    assert session.truth_folder == folder / "truth"


def test_pictures_are_listed_in_natural_order(folder):
    for name in ("im10.png", "im2.png", "im1.jpg", ".im3.png", "notes.txt"):
        picture(folder / "passive" / "L" / name)
    session = open_session(folder)
    assert list(session.passive_images("L")) == ["im1", "im2", "im10"]
    assert session.passive_images("R") == {}
    assert session.board_images("L") == {}
    assert session.pattern_images("L") == {}


def test_two_pictures_of_one_name_are_refused(folder):
    for name in ("a.png", "a.jpg"):
        picture(folder / "calibration" / "C" / name)
    with pytest.raises(BadData, match="same name"):
        open_session(folder).board_images("C")


def test_labels_are_optional(folder):
    session = open_session(folder)
    assert session.label_file("materials") is None
    picture(folder / "labels" / "materials.png")
    assert session.label_file("materials") == folder / "labels" / "materials.png"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "expected schema 1, found 2"),
        ({"board": {}}, "description lacks 'inner_corners'"),
        ({"board": {"inner_corners": [9, 6], "square_m": math.inf}}, "positive square size"),
        ({"board": {"inner_corners": [9], "square_m": 1}}, "not a session's description"),
        ({"board": {"inner_corners": [9, 6], "square_m": -1}}, "not a session|positive square"),
        ({"labels_on": "wall"}, "'raw' or 'rectified', found 'wall'"),
    ],
)
def test_a_damaged_description_is_refused(folder, change, message):
    path = folder / "session.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BadData, match=message):
        open_session(folder)


def test_a_folder_without_a_description_is_refused(tmp_path):
    with pytest.raises(BadData, match=r"there is no session\.json"):
        open_session(tmp_path)
    (tmp_path / "session.json").write_text("{")
    with pytest.raises(BadData, match="not a session"):
        open_session(tmp_path)
