"""A whole session: its files, what its photographs show, how it continues."""

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import CannotWrite
from depthgauge.geometry.projection import project, to_camera
from depthgauge.sessions import Board, Session, open_session, write_session
from depthgauge.sessions.tags import (
    VIEWS,
    has_tag_objects,
    read_annotations,
    read_tag_truth,
    tag_objects,
    tag_truth_file,
)
from depthgauge.synth.sets.capture_session._sensor import linear
from depthgauge.synth.sets.tag_session import KINDS, _make, write_tag_session


@pytest.fixture(scope="module")
def found(tag_session):
    """The session, its object and the truth."""
    session = open_session(tag_session)
    (one,) = tag_objects(session)
    return session, one, read_tag_truth(tag_truth_file(session, one.name))


def test_a_session_is_complete(found):
    session, one, truth = found
    assert session.simulated
    assert has_tag_objects(session)
    assert one.name == "00-window"
    assert one.missing() == []
    assert list(session.board_images("L")) == list(session.board_images("R"))
    assert len(session.board_images("L")) == 15
    for view in VIEWS:
        assert io.read_image(one.images[view]).shape == (240, 320, 3)
    assert set(truth.cameras) == {(1, 0), (1, 1), (2, 0), (2, 1)}


def test_annotations_say_what_the_truth_knows(found):
    _, one, truth = found
    notes = read_annotations(one.annotations)
    for tag in truth.tags:
        if tag.glass:
            assert notes[tag.identity].material == tag.material
            assert notes[tag.identity].layer == tag.layer
        else:
            assert tag.identity not in notes
    assert {n.layer for n in notes.values() if n.valid} >= {1, 2}
    assert {n.material for n in notes.values()} == {"diffuse", "transparent", "reflective"}


def test_detected_corners_are_where_the_truth_says(found):
    """OpenCV's detector knows nothing of the simulation."""
    _, one, truth = found
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_APRILTAG
    parameters.aprilTagQuadDecimate = 0.0
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    detector = cv2.aruco.ArucoDetector(family, parameters)
    tags = {tag.identity: tag for tag in truth.tags}
    errors = {True: [], False: []}
    for view in truth.cameras:
        light = linear(io.read_image(one.images[view])).mean(axis=2)
        corners, ids, _ = detector.detectMarkers(np.rint(255 * light).astype(np.uint8))
        for corner, identity in zip(corners, ids.ravel().tolist(), strict=True):
            tag = tags[identity]  # nothing is seen that is not there
            exact = tag.corners_px[view]
            # It numbers corners from another one on, and has 0.5 in the middle of a pixel.
            apart = np.linalg.norm(corner[0][:, None] - 0.5 - exact, axis=-1).min(axis=0)
            errors[tag.glass[view] > 0] += apart[np.isfinite(apart)].tolist()
    for behind_glass in (True, False):
        assert len(errors[behind_glass]) >= 16
        assert np.median(errors[behind_glass]) < 0.25
        assert np.percentile(errors[behind_glass], 90) < 0.6


def test_only_glass_moves_images(found):
    _, _, truth = found
    moved, direct = [], []
    for tag in truth.tags:
        for (time, camera), glass in tag.glass.items():
            exact = truth.cameras[time, camera]
            straight = project(to_camera(tag.corners_m[time], exact), exact)
            apart = np.linalg.norm(tag.corners_px[time, camera] - straight, axis=1)
            (moved if glass else direct).extend(apart[np.isfinite(apart)].tolist())
    # The edge of a pane may cover some corners of a tag that is mostly seen beside it.
    assert np.mean(np.array(direct) < 1e-6) > 0.9
    assert len(moved) > 16
    assert np.percentile(moved, 20) > 0.02


def test_nothing_moves_but_the_tags_between_times_0_and_1_and_2_and_3(found):
    _, one, _ = found
    level = {view: io.read_image(one.images[view]).astype(float).mean(axis=2) for view in VIEWS}
    for camera in (0, 1):
        for first, second in ((0, 1), (3, 2)):
            apart = np.abs(level[first, camera] - level[second, camera])
            assert np.median(apart) < 3.0  # noise alone
            assert 0.05 < (apart > 40).mean() < 0.5  # tags
        assert np.median(np.abs(level[0, camera] - level[3, camera])) > 3.0


TINY = {"objects": 1, "width": 160, "height": 120, "samples": 1, "boards": 1}


def test_a_stopped_session_goes_on_with_the_same_bytes(tmp_path):
    made = write_tag_session(tmp_path / "s", **TINY)
    assert made.objects == ("00-window",)
    files = sorted(path for path in (tmp_path / "s").rglob("*") if path.is_file())
    before = {path: path.read_bytes() for path in files}
    calls = []
    for name in ("2_1.png", "annotations.toml"):
        (tmp_path / "s" / "objects" / "00-window" / name).unlink()
    write_tag_session(tmp_path / "s", **TINY, progress=lambda *call: calls.append(call))
    assert {path: path.read_bytes() for path in files} == before
    assert calls[-1][1:] == (10, 10)
    with pytest.raises(CannotWrite, match=r"seed 0 \(asked for 1\)"):
        write_tag_session(tmp_path / "s", **TINY, seed=1)


def test_overwriting_replaces_a_session_of_this_command_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(_make._Object, "write", lambda self, count: 0)
    write_tag_session(tmp_path / "s", **TINY)
    (picture,) = (tmp_path / "s" / "calibration" / "L").iterdir()
    before = picture.read_bytes()
    write_tag_session(tmp_path / "s", **TINY, seed=1, overwrite=True)
    assert picture.read_bytes() != before
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CannotWrite, match="holds other files"):
        write_tag_session(tmp_path, **TINY, overwrite=True)
    write_session(Session(tmp_path / "s", "photographs", Board()))
    with pytest.raises(CannotWrite, match="not made by this command"):
        write_tag_session(tmp_path / "s", **TINY, overwrite=True)
    (tmp_path / "s" / "session.json").write_text("{}")
    with pytest.raises(CannotWrite, match="lacks 'schema'"):
        write_tag_session(tmp_path / "s", **TINY, overwrite=True)
    assert picture.is_file()


def test_objects_take_turns():
    assert [_make._object_name(n).partition("-")[2] for n in range(4)] == [*KINDS, KINDS[0]]
