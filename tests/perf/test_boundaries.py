"""The timing of boundary matching runs, and SciPy's exact matching finds the same numbers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_agrees_with_scipy_and_writes_its_results(tmp_path):
    out = tmp_path / "boundaries.json"
    command = [sys.executable, "-m", "perf.boundaries", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert (found["thresholds"], found["people"]) == (9, 5)
    for row in found["images"].values():
        assert min(row["ours_s"], row["plain_s"]) > 0


def test_the_recorded_speed_is_thirty_times_the_original_at_least():
    recorded = json.loads((ROOT / "perf" / "boundaries.json").read_text())
    assert recorded["thresholds"] == 99
    for row in recorded["images"].values():
        assert 30 * row["ours_s"] < min(row["original_s"])
