"""The drawings of the architecture page show the house as it is."""

import ast
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


def imported(path):
    """What a file imports, as dotted names of modules and of things in them; or has in a string."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # a registry names the package that it walks


@pytest.mark.parametrize("walk", house.WALKS, ids=lambda walk: walk.name)
def test_a_walk_goes_only_where_a_file_before_leads(walk):
    """Every stop is imported, or its package is, by one of the stops before it."""
    known = {"depthgauge.cli"}
    for stop in walk.stops:
        module = "depthgauge." + stop.file.removesuffix(".py").replace("/", ".")
        packages = {module.rsplit(".", n)[0] for n in range(module.count("."))}
        assert packages & known, f"nothing before {stop.file} imports it"
        known |= set(imported(house.SOURCE / stop.file)) - {"depthgauge"}


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
