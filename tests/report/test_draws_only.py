"""The report draws: it computes neither scores nor maps, and knows no quantity by name."""

import ast
from pathlib import Path

import pytest

import depthgauge
from depthgauge.quantities import QUANTITIES

ROOT = Path(depthgauge.__file__).parent
OTHERS = ("annotate", "capture")
FILES = [
    path
    for path in sorted((ROOT / "report").rglob("*.py"))
    if path.relative_to(ROOT / "report").parts[0] not in OTHERS
]
COMPUTING = ("depthgauge.metrics", "depthgauge.geometry", "depthgauge.regions")


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_only_declarations_are_taken_from_rooms_that_compute(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(COMPUTING):
            functions = [a.name for a in node.names if a.name.islower() and a.name != "parse"]
            assert not functions, f"{named(path)} computes with {functions} of {node.module}"


@pytest.mark.parametrize("room", ["report", "analysis", "cli"])
def test_no_quantity_is_asked_for_by_name(room):
    names = set(QUANTITIES)
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                assert not texts & names, f"{named(path)}:{node.lineno}"
