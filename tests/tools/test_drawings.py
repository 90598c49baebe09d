"""The drawings of the architecture page show the house as it is."""

from xml.etree import ElementTree

import pytest

from tools import drawings, house

PLANNED = {"serve"}


def test_drawings_are_fresh(capsys):
    fresh = drawings.main(["--check"]) == 0
    assert fresh, capsys.readouterr().out


def test_every_room_is_drawn_and_exists():
    drawn = {room for floor in house.FLOORS for room in floor}
    folders = {path.parent.name for path in house.SOURCE.glob("*/__init__.py")}
    files = {path.stem for path in house.SOURCE.glob("*.py")}
    assert folders <= drawn
    assert drawn - PLANNED <= folders | files


@pytest.mark.parametrize("walk", house.WALKS, ids=lambda walk: walk.name)
def test_a_walk_passes_files_that_exist(walk):
    for stop in walk.stops:
        assert (house.SOURCE / stop.file).is_file(), stop.file


@pytest.mark.parametrize("name", ["house", *(f"walk-{walk.name}" for walk in house.WALKS)])
def test_a_drawing_is_well_formed_and_no_text_leaves_it(name):
    root = ElementTree.parse(drawings.IMAGES / f"{name}.svg").getroot()
    width = float(root.get("viewBox").split()[2])
    texts = root.findall("{http://www.w3.org/2000/svg}text")
    assert texts
    for text in texts:
        mono = text.get("class") in ("m", "c")
        assert float(text.get("x")) + len(text.text) * (7.3 if mono else 6.5) <= width, text.text


def test_a_stale_drawing_is_named_and_written_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(drawings, "IMAGES", tmp_path)
    (tmp_path / "house.svg").write_text("old")
    assert drawings.main(["--check"]) == 1
    assert "docs/images/house.svg: is stale; run `make docs`" in capsys.readouterr().out
    assert (tmp_path / "house.svg").read_text() == "old"
    assert drawings.main([]) == 0
    assert drawings.main(["--check"]) == 0
