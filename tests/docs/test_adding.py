"""docs/adding.md as written: its files make a package with entry points, its examples use it."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding.md"
RUN = """
import doctest, sys
found = doctest.testfile(sys.argv[1], module_relative=False,
                         optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
sys.exit(found.failed > 0)
"""


@pytest.fixture
def package(tmp_path, blocks):
    """The folder of the files that the page shows, as if it were installed."""
    for block in blocks(PAGE):
        if block.mark.startswith("file: "):
            (tmp_path / block.mark.removeprefix("file: ")).write_text(block.text)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    info = tmp_path / "office_gauge-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def python(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
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


def test_what_a_package_adds_is_listed(package):
    script = "from depthgauge.cli import main; import sys; sys.argv[1:] = ['list']; main()"
    run = python(package, "-c", script)
    assert run.returncode == 0, run.stderr
    for name in ("unevenness", "slope_error:limit", "dark:limit", "left_half", "office"):
        assert f" {name} " in run.stdout, name


def test_the_page_shows_every_entry_point_group():
    text = PAGE.read_text()
    for group in ("metrics", "regions", "datasets", "benchmarks.twins"):
        assert f'"depthgauge.{group}"' in text
