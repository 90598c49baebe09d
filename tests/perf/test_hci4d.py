"""The timing of light-field scores runs, and a plain SciPy version gives the same numbers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_agrees_with_scipy_and_writes_its_results(tmp_path):
    out = tmp_path / "hci4d.json"
    command = [sys.executable, "-m", "perf.hci4d", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert set(found["scenes"]) == {"backgammon", "cotton", "dino", "dots", "pyramids", "stripes"}
    for row in found["scenes"].values():
        assert min(row["ours_s"], row["evaluate_s"], row["plain_s"]) > 0
    assert found["scenes"]["backgammon"]["cold_s"] > 0
