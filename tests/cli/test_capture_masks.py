"""`capture masks` and the options of `capture edit` that are about masks."""

import json
import sys

import pytest
from tests.serve.desk.masked import drawable


@pytest.fixture
def made(tmp_path):
    return drawable(tmp_path)


def test_a_mask_from_its_history_reaches_the_other_views(made, run):
    session, work, _ = made
    folder = session.folder
    (folder / "session.json").write_text(
        (folder / "session.json")
        .read_text()
        .replace('"labels_on": "raw"', '"labels_on": "rectified"')
    )
    assert "there is no material mask" in run("capture", "masks", str(folder)).err
    square = {"points_px": [[80, 40], [120, 40], [120, 90], [80, 90]]}
    event = {"id": "event-0001", "kind": "paint", "class": 3, "shape": "polygon", "entry": square}
    (folder / "by-hand").mkdir()
    (folder / "by-hand" / "materials.jsonl").write_text(json.dumps(event) + "\n")
    assert "1 action" in run("capture", "edit", str(folder), "--only-list").out
    told = run("capture", "masks", str(folder), "--json")
    found = json.loads(told.out)["pairs"]
    assert found["LR"]["classes"][3] == pytest.approx(2000, rel=0.1)
    assert (work / "masks" / "LC" / "right.png").is_file()
    assert "true IoU" in run("capture", "masks", str(folder)).out
    one = run("capture", "edit", str(folder), "--sam-encoder", str(folder / "session.json"))
    assert "belong together" in one.err


def test_missing_networks_are_one_sentence(made, run, monkeypatch):
    session, _, _ = made
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    file = str(session.folder / "session.json")
    both = ("--sam-encoder", file, "--sam-decoder", file)
    told = run("capture", "edit", str(session.folder), *both)
    assert told.code != 0
    assert "pip install onnxruntime" in told.err
