"""Which pictures a mask is drawn on, and the file that it becomes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.masks import drawn_on as module
from depthgauge.capture.masks.drawn_on import drawn_on, is_ours, note_mask, read_mask, write_mask
from depthgauge.capture.photographs.motion import Motion
from depthgauge.capture.photographs.movements import Movements
from depthgauge.errors import BadData, TooLarge, WrongShape
from depthgauge.sessions import Session
from depthgauge.types import Camera


@pytest.fixture
def session(tmp_path):
    """Two photographs; the second is grey and has moved by 3 px to the right."""
    (tmp_path / "passive" / "L").mkdir(parents=True)
    image = np.zeros((20, 30, 3), np.uint8)
    image[5:10, 8:14] = (200, 100, 50)
    io.write_image(tmp_path / "passive" / "L" / "im0.png", image)
    io.write_image(tmp_path / "passive" / "L" / "im1.png", np.roll(image[..., 0], 3, axis=1))
    return Session(tmp_path, "s", None)


def test_photographs_are_shown_as_they_are(session, tmp_path):
    on = drawn_on(session, tmp_path / "work")
    assert (on.size_px, list(on.files)) == ((30, 20), ["im0", "im1"])
    assert on.picture("im0")[7, 10].tolist() == [200, 100, 50]
    assert on.picture("im1").shape == (20, 30, 3), "grey ones get three channels"
    with pytest.raises(BadData, match="there is no picture 'im2'"):
        on.picture("im2")


def test_a_photograph_that_moved_is_brought_back(session, tmp_path, monkeypatch):
    """One mask fits all illuminations."""
    moved = Movements({"passive/L": {"im1": (Motion("shift", (3.0, 0.0)),)}})
    camera = Camera((40.0, 40.0), (14.5, 9.5), (30, 20))
    monkeypatch.setattr(module, "read_movements", lambda work: moved)
    monkeypatch.setattr(module, "has_step", lambda work, name: True)
    known = SimpleNamespace(cameras={"L": camera})
    monkeypatch.setattr(module, "read_calibration", lambda work: known)
    on = drawn_on(session, tmp_path / "work")
    still, back = on.picture("im0")[..., 0], on.picture("im1")[..., 0]
    assert np.array_equal(still[:, :27], back[:, :27])
    # Rectified pictures are in place already.
    assert drawn_on(replace(session, labels_on="raw"), tmp_path)._way("im1")


def test_pictures_that_cannot_be_drawn_on(session, tmp_path, monkeypatch):
    with pytest.raises(BadData, match="run `depthgauge capture rectify`"):
        drawn_on(replace(session, labels_on="rectified"), tmp_path / "work")
    on = drawn_on(session, tmp_path / "work")
    io.write_image(tmp_path / "passive" / "L" / "im1.png", np.zeros((9, 9), np.uint8))
    with pytest.raises(WrongShape, match="is not 30x20"):
        on.picture("im1")
    monkeypatch.setattr(module, "MOST_PIXELS", 100)
    with pytest.raises(TooLarge):
        drawn_on(session, tmp_path / "work")
    with pytest.raises(BadData, match="photographs of the scene in passive/L"):
        drawn_on(Session(tmp_path / "nothing", "s", None), tmp_path)


def test_a_mask_is_known_until_somebody_else_writes_it(session):
    labels = np.zeros((20, 30), np.uint8)
    labels[3:6] = 2
    assert read_mask(session, (30, 20)) is None
    assert not is_ours(session)
    write_mask(session, labels)
    assert is_ours(session)
    assert np.array_equal(read_mask(session, (30, 20)), labels)
    io.write_image(session.folder / "labels" / "materials.png", labels + 1)
    assert not is_ours(session)
    note_mask(session)
    assert is_ours(session)
    (session.folder / "by-hand" / "materials.state.json").write_text("[]")
    assert not is_ours(session), "a damaged note knows nothing"
    io.write_image(session.folder / "labels" / "materials.png", labels + 9)
    with pytest.raises(BadData, match="expected classes 0 to 3, found up to 11"):
        read_mask(session, (30, 20))
