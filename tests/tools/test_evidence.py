"""The recorded accuracy figures keep their budgets and come from the sources as they are."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDS = sorted((REPOSITORY / "docs" / "evidence").glob("*.json"))


def record(*arguments):
    command = [sys.executable, "-m", "tools.evidence", *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_every_figure_is_recorded():
    recorded = {path.stem for path in RECORDS}
    modules = (REPOSITORY / "docs" / "evidence").glob("[a-z]*.py")
    assert recorded == {path.stem.replace("_", "-") for path in modules}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_numbers_keep_their_budgets(path):
    numbers = json.loads(path.read_text())["numbers"]
    assert numbers
    for number in numbers:
        assert abs(number["value"] - number["expected"]) <= number["budget"], number


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_sources_are_those_that_were_measured(path):
    sources = json.loads(path.read_text())["sources"]
    now = {s: hashlib.sha256((REPOSITORY / s).read_bytes()).hexdigest() for s in sources}
    changed = [source for source, kept in sources.items() if kept != now[source]]
    assert not changed, f"{changed} changed since {path.name} was recorded; run: make evidence"


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_says_how_it_was_made_and_names_no_place_on_a_machine(path):
    text = path.read_text()
    assert {"about", "data", "command", "version", "date"} <= set(json.loads(text))
    assert not re.search(r'"/|\.\./|shared', text)


def test_a_fresh_figure_is_not_measured_again_unless_forced(tmp_path):
    first = record("--out", tmp_path, "middlebury-twin")
    assert first.returncode == 0, first.stderr
    assert "middlebury-twin: recorded" in first.stdout
    assert record("--out", tmp_path, "middlebury-twin").stdout == "middlebury-twin: fresh\n"
    path = tmp_path / "middlebury-twin.json"
    stale = json.loads(path.read_text())
    stale["sources"]["src/depthgauge/io/pfm.py"] = "0" * 64
    path.write_text(json.dumps(stale))
    assert "recorded" in record("--out", tmp_path, "middlebury-twin").stdout
    assert "recorded" in record("--out", tmp_path, "--force", "middlebury-twin").stdout


def test_an_unknown_figure_is_named():
    done = record("no-such")
    assert done.returncode == 2
    assert "no figure 'no-such'; known: bsds500, capture, hci4d-twin" in done.stderr
