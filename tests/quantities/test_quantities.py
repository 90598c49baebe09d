"""Quantities: what each declares, and that nobody else asks for one by its name."""

import ast
from pathlib import Path

import numpy as np
import pytest

import depthgauge
from depthgauge.errors import Misuse, UnknownName, WrongShape
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES, Part, Quantity, guess, quantity

SOURCE = Path(depthgauge.__file__).parent
NAMES = set(QUANTITIES)


def is_a_quantity(node):
    """`quantity`, `protocol.quantity`, `inputs["quantity"]`; not an attribute of one."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "quantity"
    return "quantity" in getattr(node, "id", getattr(node, "attr", ""))


def names_in(node):
    return {c.value for c in ast.walk(node) if isinstance(c, ast.Constant)} & NAMES


# `is_view` says whether a file is one of the views of a light field.
FLAGS = {f"is_{each}" for each in NAMES} - {"is_view"}


def comparisons(path):
    """Places where a quantity is compared with a name, or a flag stands for one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_a_quantity, sides)) and any(map(names_in, sides)):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}"
        name = getattr(node, "id", getattr(node, "attr", getattr(node, "name", "")))
        if isinstance(name, str) and name in FLAGS:
            yield f"{path.relative_to(SOURCE)}:{node.lineno}"


def test_the_count_of_comparisons_sees_what_it_should(tmp_path):
    code = 'if quantity == "flow" or protocol.quantity in ("depth", "x") or is_flow: pass\n'
    path = tmp_path / "a.py"
    path.write_text(code)
    global SOURCE
    source, SOURCE = SOURCE, tmp_path
    try:
        assert len(list(comparisons(path))) == 3
    finally:
        SOURCE = source


def test_nobody_outside_the_room_asks_for_a_quantity_by_its_name():
    paths = [p for p in SOURCE.rglob("*.py") if p.relative_to(SOURCE).parts[0] != "quantities"]
    assert [place for path in paths for place in comparisons(path)] == []


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_quantity_is_whole(name):
    declared = quantity(name)
    assert declared.name == name
    assert declared.about.endswith(".")
    for text in declared.default_metrics:
        assert METRICS[text.partition(":")[0]].can_score(name)


def test_an_unknown_quantity_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'disparity'"):
        quantity("dispariti")


def test_maps_are_taken_for_what_their_channels_say():
    assert [guess(n) for n in (1, 2, 3, 7)] == ["disparity", "flow", "normals", "disparity"]


def test_values_in_pixels_follow_the_size():
    shifts = np.ones((2, 2), np.float32)
    assert quantity("disparity").scale(shifts.copy(), 3, 2)[0, 0] == 3
    assert quantity("depth").scale(shifts.copy(), 3, 2)[0, 0] == 1
    layers = Part("layers", axes=("y", "x", "c"), channels=4, resize="xy")
    assert layers.scale(np.ones((1, 1, 4), np.float32), 3, 2).tolist() == [[[3, 2, 3, 2]]]
    with pytest.raises(WrongShape, match="pairs"):
        layers.scale(np.ones((1, 1, 3), np.float32), 3, 2)


def test_what_is_in_front():
    values = np.array([[1.0, 3.0]], np.float32)
    assert quantity("disparity").front(values).tolist() == [[1, 3]]
    assert quantity("depth").front(values).tolist() == [[-1, -3]]
    assert quantity("flow").front(np.array([[[3.0, 4.0]]], np.float32)).tolist() == [[5]]
    with pytest.raises(Misuse, match="not of normals"):
        quantity("normals").front(np.ones((1, 1, 3), np.float32))


def albedo(**changes):
    said = {
        "name": "albedo",
        "about": "Share of light that a surface reflects.",
        "unit": "",
        "parts": (Part("albedo", axes=("y", "x", "c"), channels=3),),
        "error": "channels",
    }
    return Quantity(**{**said, **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Albedo:3"}, "lower-case letters"),
        ({"parts": ()}, "first part must be a map"),
        ({"parts": (Part("focal_px", axes=()),)}, "first part must be a map"),
        ({"parts": (Part("a"), Part("a"))}, "one name"),
        ({"parts": (Part("a", channels=3),)}, "3 channel"),
        ({"revision": 0}, "counts from 1"),
    ],
)
def test_a_wrong_declaration_is_refused(changes, said):
    with pytest.raises(Misuse, match=said):
        albedo(**changes)


def test_a_part_that_is_not_there_is_named():
    assert quantity("depth").part("focal_px").axes == ()
    assert quantity("depth").part("confidence").is_map
    with pytest.raises(Misuse, match="no part 'focal'; it has depth, focal_px"):
        quantity("depth").part("focal")
