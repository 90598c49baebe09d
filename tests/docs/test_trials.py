"""docs/trials.md says what the records say, and one of its trials can be done again."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from depthgauge.benchmarks import find_benchmark

REPOSITORY = Path(__file__).resolve().parents[2]
EVIDENCE = REPOSITORY / "docs" / "evidence"
PAGE = REPOSITORY / "docs" / "trials.md"


def evidence(*arguments, cwd=REPOSITORY):
    command = [sys.executable, "-m", "tools.evidence", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def tables(folder=EVIDENCE):
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("trials-*.json"))]
    return {table["name"]: table for record in records for table in record["tables"]}


def test_the_page_says_what_the_records_say():
    run = evidence("--check")
    assert run.returncode == 0, run.stderr


def test_every_table_is_on_the_page():
    marks = re.findall(r"<!-- recorded: \w+ ([\w -]+) -->", PAGE.read_text(encoding="utf-8"))
    assert {name for mark in marks for name in mark.split()} == set(tables())


def test_every_hash_is_that_of_the_protocol_file_beside_it_or_of_a_shipped_one():
    for table in tables().values():
        file = EVIDENCE / "trials" / f"{table['protocol']}.toml"
        protocol = find_benchmark(file if file.is_file() else table["protocol"])
        assert table["protocol_hash"] == protocol.hash, f"{table['name']}; run: make evidence"


def test_every_protocol_file_is_used():
    files = {path.stem for path in (EVIDENCE / "trials").glob("*.toml")}
    assert files <= {table["protocol"] for table in tables().values()}


@pytest.fixture
def copy(tmp_path):
    """A copy of the page and its records that may be spoiled."""
    names = ("tools/*.py", "tools/evidence/*.py", "docs/evidence/*.json")
    names += ("docs/trials.md", "docs/networks.md", "docs/evidence/trials/*.toml")
    for path in (path for name in names for path in REPOSITORY.glob(name)):
        place = tmp_path / path.relative_to(REPOSITORY)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    return tmp_path


def test_a_page_that_differs_from_its_record_is_an_error(copy):
    page = copy / "docs" / "trials.md"
    text = page.read_text()
    assert evidence("--check", cwd=copy).returncode == 0
    page.write_text(text.replace("13.62", "13.26", 1))
    run = evidence("--check", cwd=copy)
    assert run.returncode == 1
    assert "docs/trials.md is stale; run `make evidence`" in run.stderr


@pytest.mark.long
def test_a_trial_done_again_gives_what_is_recorded(tmp_path, shared):
    shared("data/kitti-devkit-samples")
    run = evidence("--out", tmp_path, "trials-kitti")
    assert run.returncode == 0, run.stderr
    again = tables(tmp_path)
    assert len(again) == 4
    for name, table in again.items():
        kept = tables()[name]
        assert {**table, "rows": None} == {**kept, "rows": None}
        for row, scores in table["rows"].items():
            assert scores == pytest.approx(kept["rows"][row], rel=1e-9)
