"""The rules of the house: floors, public names, light imports, the vocabulary."""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from tools.house import FLOORS

import depthgauge

SOURCE = Path(depthgauge.__file__).parent
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
HEAVY = "numba scipy skimage cv2 pyarrow pyamg matplotlib torch mitsuba fastapi OpenEXR tifffile"


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path):
    """Every depthgauge module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def files():
    return sorted(p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.stem in FLOOR_OF)


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_room_imports_only_from_floors_below(path):
    here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for module in imports(path):
        room = room_of(module) if module.startswith("depthgauge.") else ""
        if room and room in FLOOR_OF and room != here:
            assert FLOOR_OF[room] < FLOOR_OF[here], f"{path.name} on {here} imports {module}"


def test_modules_of_a_room_have_no_cycles():
    graph = {}
    for path in SOURCE.rglob("*.py"):
        name = ".".join(["depthgauge", *path.relative_to(SOURCE).with_suffix("").parts])
        name = name.removesuffix(".__init__")
        graph[name] = {m for m in imports(path) if m.startswith("depthgauge.")}
    packages = {n for n in graph if any(m.startswith(n + ".") for m in graph)}

    def walk(name, trail):
        assert name not in trail, f"a cycle: {' > '.join([*trail[trail.index(name) :], name])}"
        if name in done:
            return
        for module in sorted(graph[name] & set(graph)):
            # A package's own __init__ names its modules; that is no dependence of theirs.
            if module != name and module not in packages:
                walk(module, [*trail, name])
        done.add(name)

    done: set[str] = set()
    for name in sorted(set(graph) - packages):
        walk(name, [])


def test_every_room_has_a_floor():
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms <= set(FLOOR_OF)


def test_no_public_name_was_lost():
    recorded = json.loads((Path(__file__).parent / "api_surface.json").read_text())
    assert sorted(depthgauge.__all__) == recorded, "deprecate first, then change api_surface.json"
    for name in recorded:
        getattr(depthgauge, name)


def loaded_after(code: str) -> set[str]:
    listing = f"{code}; import sys; print(*{{m.partition('.')[0] for m in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_help_and_import_are_light():
    light = loaded_after("import depthgauge, depthgauge.cli")
    assert not light & {*HEAVY.split(), "numpy", "pydantic", "rich"}


def test_listing_loads_nothing_heavy():
    code = (
        "from depthgauge.metrics import METRICS; from depthgauge.regions import REGIONS; "
        "from depthgauge.datasets import DATASETS; from depthgauge.benchmarks import BENCHMARKS; "
        "from depthgauge.methods import METHODS; "
        "[list(r.values()) for r in (METRICS, REGIONS, DATASETS, BENCHMARKS, METHODS)]"
    )
    assert not loaded_after(code) & set(HEAVY.split())


def test_the_registry_loads_only_the_errors():
    code = "import depthgauge._registry, sys; print(*[m for m in sys.modules if 'gauge' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    allowed = {"depthgauge", "depthgauge._version", "depthgauge._registry", "depthgauge.errors"}
    assert set(run.stdout.split()) <= allowed


def test_the_engine_and_the_metrics_print_nothing_and_round_nothing():
    for room in ("engine", "metrics", "regions", "geometry"):
        for path in (SOURCE / room).rglob("*.py"):
            code = re.sub(r'(?s)""".*?"""', "", path.read_text())
            assert not re.search(r"\bprint\(", code), path
            if room == "metrics":
                assert not re.search(r"\bround\(|:\.\d[fg]", code), path


def test_metric_names_carry_no_region():
    from depthgauge.metrics import METRICS

    assert not [name for name in METRICS if re.search(r"_(occ|noc|all|disc)$", name)]


def words_of(text: str) -> str:
    """A source without its string literals, which name other people's files; docstrings stay."""
    kept, before = [], tokenize.NEWLINE
    skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_literal = token.type == tokenize.STRING and before != tokenize.NEWLINE
        if not is_literal and tokenize.tok_name[token.type] != "FSTRING_MIDDLE":
            kept.append(token.string)
        if token.type not in skipped:
            before = token.type
    return " ".join(kept).replace(" =", "=")


def test_words_of_a_source():
    text = 'def f(gt, a=1):\n    """Of preds."""\n    # b\n    return "gt.tiff", Field(gt=3)\n'
    words = 'def f ( gt , a= 1 ) : """Of preds.""" # b return , Field ( gt= 3 )'
    assert " ".join(words_of(text).split()) == words


def test_the_vocabulary_is_kept():
    wrong = re.compile(r"\b(gt(?!=)|preds?|groundtruth|ground_truth|predictions?)\b")
    for path in SOURCE.rglob("*.py"):
        assert not wrong.search(words_of(path.read_text())), path
