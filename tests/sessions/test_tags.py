"""The folder of a session with tags: photographs, annotations, hidden truth, bitmaps."""

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadData, BadFile, Misuse
from depthgauge.sessions import Board, Session, write_session
from depthgauge.sessions.tags import (
    TAG_COUNT,
    TagNote,
    TagSessionTruth,
    TagTruth,
    has_tag_objects,
    read_annotations,
    read_tag_truth,
    tag_bitmap,
    tag_objects,
    tag_truth_file,
    write_annotations,
    write_tag_truth,
)
from depthgauge.types import Camera


@pytest.fixture
def session(tmp_path):
    made = Session(tmp_path, "kitchen", Board())
    write_session(made)
    return made


def touch(session, name):
    path = session.folder / "objects" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_photographs_are_found_by_time_and_camera(session):
    assert not has_tag_objects(session)
    for name in ("jar/0_0.png", "jar/0_1.JPG", "jar/3_1.png", "jar/4_0.png", "jar/notes.txt"):
        touch(session, name)
    touch(session, "bowl/1_0.png")
    assert has_tag_objects(session)
    bowl, jar = tag_objects(session)
    assert (bowl.name, jar.name) == ("bowl", "jar")
    assert sorted(jar.images) == [(0, 0), (0, 1), (3, 1)]
    assert jar.missing() == ["1_0", "1_1", "2_0", "2_1", "3_0"]
    assert jar.annotations == session.folder / "objects" / "jar" / "annotations.toml"


def test_a_session_without_objects_is_refused(session):
    with pytest.raises(BadData, match="there are no tagged objects"):
        tag_objects(session)


def test_a_second_photograph_of_a_view_is_listed_apart(session):
    touch(session, "jar/0_0.png")
    touch(session, "jar/0_0.jpg")
    (jar,) = tag_objects(session)
    assert [path.name for path in jar.doubled] == ["0_0.png"]
    assert [path.name for path in jar.images.values()] == ["0_0.jpg"]


def test_annotations_come_back(tmp_path):
    notes = {
        12: TagNote("diffuse", 2),
        3: TagNote("transparent", 1, valid=False),
        7: TagNote("reflective", 1, bad_corners=(0, 2)),
        8: TagNote(),
    }
    write_annotations(tmp_path / "a.toml", notes)
    assert read_annotations(tmp_path / "a.toml") == notes
    assert [notes[k].filled_in for k in (12, 8)] == [True, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema = 2", "expected schema = 1, found 2"),
        ("schema = 1\ntags = 3", "expected a table"),
        ("schema = 1\ncolour = 3", "'colour' is not known"),
        ("schema = 1\n[tags.a]\nlayer = 0", "tag a: an identity is a whole number"),
        ("schema = 1\n[tags]\n3 = 4", "tag 3: expected material and layer, found 4"),
        ('schema = 1\n[tags.3]\nmaterial = "glass"\nlayer = 1', "material must be one of diffuse"),
        ('schema = 1\n[tags.3]\nmaterial = "diffuse"\nlayer = 1.5', "layer must be a whole number"),
        ('schema = 1\n[tags.3]\nmaterial = "diffuse"\nlayer = -1', "layer must be a whole number"),
        ('schema = 1\n[tags.3]\nmaterial = "diffuse"', "must both be filled in"),
        ("schema = 1\n[tags.3]\nvalid = 1", "valid must be true or false"),
        ("schema = 1\n[tags.3]\nbad_corners = [4]", "numbers from 0 to 3"),
        ("schema = 1\n[tags.3]\nlayr = 1", "'layr' is not one of material, layer"),
    ],
)
def test_wrong_annotations_are_named(tmp_path, text, words):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(BadData, match=words.replace("[", r"\[")) as caught:
        read_annotations(tmp_path / "a.toml")
    assert "\n" not in str(caught.value)


def test_every_mistake_is_listed(tmp_path):
    (tmp_path / "a.toml").write_text("schema = 1\n[tags.3]\nlayer = 1\n[tags.4]\nvalid = 0\n")
    with pytest.raises(BadData, match=r"tag 3: .*; tag 4: "):
        read_annotations(tmp_path / "a.toml")


def test_annotations_that_are_no_toml(tmp_path):
    (tmp_path / "a.toml").write_text("schema = = 1")
    with pytest.raises(BadFile, match="is not TOML"):
        read_annotations(tmp_path / "a.toml")


def test_the_truth_comes_back(session):
    corners = np.arange(8.0).reshape(4, 2) + 0.25
    corners[2] = np.nan
    tag = TagTruth(
        5,
        0.04,
        "diffuse",
        2,
        "wall",
        {1: np.arange(12.0).reshape(4, 3), 2: np.ones((4, 3))},
        {(1, 0): corners, (2, 1): corners + 1},
        {(1, 0): 2},
    )
    camera = Camera((100.0, 101.0), (50.0, 40.0), (100, 80), (0.1, 0.0, 0.0, 0.0, 0.0))
    path = tag_truth_file(session, "jar")
    write_tag_truth(path, TagSessionTruth({(1, 0): camera}, [tag]))
    back = read_tag_truth(path)
    assert back.cameras == {(1, 0): camera}
    (same,) = back.tags
    assert (same.identity, same.size_m, same.material, same.layer) == (5, 0.04, "diffuse", 2)
    assert (same.surface, same.glass) == ("wall", {(1, 0): 2})
    for name in ("corners_m", "corners_px"):
        for key, expected in getattr(tag, name).items():
            np.testing.assert_array_equal(getattr(same, name)[key], expected)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', '{"schema": 1, "cameras": {}}'])
def test_a_damaged_truth_is_one_sentence(tmp_path, text):
    (tmp_path / "jar.json").write_text(text)
    with pytest.raises(BadData, match="cannot be read"):
        read_tag_truth(tmp_path / "jar.json")


def test_bitmaps_differ_and_have_their_border():
    seen = {tag_bitmap(k).tobytes() for k in (0, 1, 2, 300, TAG_COUNT - 1)}
    assert len(seen) == 5
    cells = tag_bitmap(17)
    assert (cells[[0, -1]] == 255).all()
    assert (cells[:, [0, -1]] == 255).all()
    assert (cells[[1, -2], 1:-1] == 0).all()
    assert (cells[1:-1, [1, -2]] == 0).all()
    for identity in (-1, TAG_COUNT):
        with pytest.raises(Misuse, match="0 to 586"):
            tag_bitmap(identity)


def test_the_written_file_is_read_by_our_reader_of_toml(tmp_path):
    write_annotations(tmp_path / "a.toml", {3: TagNote("diffuse", 1)})
    assert io.text.read_toml(tmp_path / "a.toml")["tags"]["3"] == {
        "material": "diffuse",
        "layer": 1,
    }
