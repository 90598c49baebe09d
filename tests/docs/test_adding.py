"""docs/adding.md as written: its files make a package with entry points, its examples use it."""

import dataclasses
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import depthgauge
from depthgauge._registry import GROUP

SOURCE = Path(depthgauge.__file__).parents[1]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding.md"
RUN = """
import doctest, sys
found = doctest.testfile(sys.argv[1], module_relative=False,
                         optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
sys.exit(found.failed > 0)
"""


@pytest.fixture
def source(tmp_path, blocks):
    """The folder of the files that the page shows."""
    for block in blocks(PAGE):
        if block.mark.startswith("file: "):
            path = tmp_path / block.mark.removeprefix("file: ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
    return tmp_path


@pytest.fixture
def package(source):
    """The same folder as if it were installed."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    info = source / "office_gauge-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return source


def python(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)])},
        capture_output=True,
        text=True,
    )


def test_everything_on_the_page_works_as_written(package, blocks):
    examples = [b.text for b in blocks(PAGE) if b.language == "python" and ">>>" in b.text]
    own = [text for text in examples if not text.startswith('"""')]
    assert len(own) >= 6
    # A blank line ends the output of an example.
    (package / "examples.txt").write_text("\n\n".join(own))
    run = python(package, "-c", RUN, "examples.txt")
    assert run.returncode == 0, run.stdout + run.stderr


def test_examples_inside_the_files_work(package):
    run = python(package, "-m", "doctest", "-v", "office_metrics.py")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout


LIST = "from depthgauge.cli import main; import sys; sys.argv[1:] = ['list']; main()"
ADDED = (
    "unevenness",
    "slope_error:limit",
    "dark:limit",
    "left_half",
    "steps:size",
    "beside_steps",
    "posterise:0,4,8,16,32",
    "office",
    "office-script",
    "dark-is-near",
)


def test_what_a_package_adds_is_listed(package):
    run = python(package, "-c", LIST)
    assert run.returncode == 0, run.stderr
    for name in ADDED:
        assert name in run.stdout.split()


def test_a_package_adds_a_kind_of_data_to_make(package):
    call = ["make", "ramps", "--out", "made", "--count", "2", "--json"]
    run = python(package, "-m", "depthgauge", *call)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["samples"] == ["ramp-0", "ramp-1"]
    assert (package / "made" / "dataset.json").is_file()
    assert "Stereo pairs of slanted planes." in python(package, "-m", "depthgauge", "make").stderr


def test_a_package_adds_a_step_to_capture(package):
    run = python(package, "-m", "depthgauge", "capture", "histogram", "--help")
    assert run.returncode == 0, run.stderr
    assert "Counts the labels of the left view by their disparity." in " ".join(run.stdout.split())
    assert "--bin-px INTEGER RANGE" in run.stdout
    run = python(package, "-m", "depthgauge", "capture", "run", "--help")
    assert "check|histogram|warp" in "".join(run.stdout.split())


def test_the_package_can_be_built_and_installed(source, tmp_path_factory):
    pytest.importorskip("pip", reason="the package is installed by pip")
    pytest.importorskip("hatchling", reason="the page's package is built by hatchling, offline")
    place = tmp_path_factory.mktemp("installed")
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    offline = ["--no-build-isolation", "--no-deps", "--target", str(place), str(source)]
    run = subprocess.run([sys.executable, *pip, *offline], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert not (place / "pyproject.toml").exists()
    run = python(place, "-c", LIST)
    assert run.returncode == 0, run.stderr
    for name in ADDED:
        assert name in run.stdout.split()


def test_the_terms_that_the_page_lists_are_all_there_are():
    from depthgauge.metrics import terms

    text = PAGE.read_text()
    constants = {n: thing for n, thing in vars(terms).items() if isinstance(thing, terms.Term)}
    assert constants
    for name in constants:
        assert f"`{name}`" in text
    kinds = {thing.kind for thing in constants.values()}
    assert len(kinds) + sum(f"`{f}(" in text for f in ("over", "over_both", "beyond")) == len(
        terms.Kind
    )
    for field in dataclasses.fields(terms.Recipe):
        assert f"| `{field.name}` |" in text
    assert "`own(" in text


def test_the_page_uses_the_one_entry_point_group(source):
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    assert set(project["entry-points"]) == {GROUP}
