"""What single steps were told is used again when all are done."""

from pathlib import Path

import pytest

from depthgauge.capture.step_options import remember, remembered
from depthgauge.errors import BadData


def test_options_come_back_with_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remember(tmp_path, "clean", {"by_hand": Path("hand.json"), "filter": False, "window_px": None})
    remember(tmp_path, "spacetime", {"patterns": 3})
    found = remembered(tmp_path)
    assert found == {
        "clean": {"by_hand": tmp_path / "hand.json", "filter": False},
        "spacetime": {"patterns": 3},
    }
    remember(tmp_path, "clean", {})
    assert remembered(tmp_path)["clean"] == {}


def test_nothing_was_told(tmp_path):
    assert remembered(tmp_path) == {}


@pytest.mark.parametrize("text", ["", "[]", '{"clean": 3}'])
def test_a_damaged_file_is_one_sentence(tmp_path, text):
    (tmp_path / "told.json").write_text(text)
    with pytest.raises(BadData, match=r"told\.json: cannot be read"):
        remembered(tmp_path)
