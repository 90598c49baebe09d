"""`make check` finds the tests of what changed."""

import pytest

from tools import check


@pytest.fixture
def house(tmp_path):
    for name, text in {
        "src/depthgauge/io/png.py": "",
        "src/depthgauge/io/_chunks.py": "",
        "src/depthgauge/_registry.py": "",
        "tests/io/test_png.py": "from depthgauge.io._chunks import read",
        "tests/io/test_jpeg.py": "from depthgauge.io import jpeg",
        "tests/test_floor0.py": "from depthgauge._registry import Registry",
        "tests/test_house.py": "from depthgauge import _registry",
        "tools/generate.py": "",
        "tests/tools/test_generate.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/depthgauge/io/png.py", ["tests/io/test_png.py"]),
        ("src/depthgauge/io/_chunks.py", ["tests/io/test_png.py"]),
        ("src/depthgauge/_registry.py", ["tests/test_floor0.py"]),
        ("src/depthgauge/io/alone.py", []),
        ("tests/io/test_jpeg.py", ["tests/io/test_jpeg.py"]),
        ("tests/io/conftest.py", []),
        ("tools/generate.py", ["tests/tools/test_generate.py"]),
        ("docs/index.md", []),
    ],
)
def test_the_tests_of_a_file(house, name, tests):
    assert check.find_tests([name], house) == tests


def test_what_is_run_for_a_change():
    found = list(check.commands(["tools/check.py", "tests/tools/test_check.py"]))
    assert [command[2] for command in found] == ["ruff", "ruff", "pytest"]
    assert found[-1][-3:] == [check.HOUSE, *check._PAGES, "tests/tools/test_check.py"]
    typed = [command[2] for command in check.commands(["src/depthgauge/_registry.py"])]
    assert typed == ["ruff", "ruff", "mypy", "pytest"]


def test_changed_files_exist():
    assert all((check.ROOT / name).is_file() for name in check.changed_files("HEAD"))
