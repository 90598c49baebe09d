"""`depthgauge capture import` on two small cards of PNG files."""

import json

import numpy as np
import pytest

from depthgauge import io


@pytest.fixture
def cards(tmp_path):
    for camera, first in (("left", 3), ("right", 8)):
        (tmp_path / camera).mkdir()
        for number in range(4):
            pixels = np.full((20, 30, 3), 40 * number + 20, np.uint8)
            io.write_image(tmp_path / camera / f"shot{first + number}.png", pixels)
    return tmp_path / "left", tmp_path / "right"


def test_a_contact_sheet_comes_first(run, cards, tmp_path):
    session = tmp_path / "kitchen"
    call = ("capture", "import", *cards, "--kind", "calibration", "--out", session)
    ran = run(*call, "--pair", "order", "--sheet-only")
    assert ran.code == 0, ran.err
    assert [path.name for path in session.iterdir()] == ["contact-sheet-calibration.html"]
    assert (session / "contact-sheet-calibration.html").read_text().count("<img") == 8
    ran = run(*call)
    assert ran.code == 0, ran.err
    assert "4 shots imported, paired by order" in ran.out
    assert "--pair time or name would force another way" in ran.err
    assert len(list((session / "calibration" / "R").iterdir())) == 4


def test_the_json(run, cards, tmp_path):
    call = ("capture", "import", *cards, "--kind", "pattern", "--out", tmp_path / "s", "--json")
    body = run(*call).json()["imports"][0]
    assert list(body["shots"]) == ["000", "001", "002", "003"]
    assert body["alone"] == []
    again = run(*call)
    assert again.code == 1
    assert "--overwrite" in again.err


def test_the_board_comes_from_a_file(run, cards, tmp_path):
    entry = {"kind": "chessboard", "inner_corners": [8, 5], "square_m": 0.02}
    (tmp_path / "board.json").write_text(json.dumps({"board": entry}))
    call = ("capture", "import", *cards, "--kind", "calibration", "--out", tmp_path / "s")
    assert run(*call, "--board", tmp_path / "board.json").code == 0
    assert json.loads((tmp_path / "s" / "session.json").read_text())["board"] == entry
    (tmp_path / "board.json").write_text("[]")
    wrong = run(*call, "--board", tmp_path / "board.json", "--overwrite")
    assert wrong.code == 1
    assert "expected a board" in wrong.err
