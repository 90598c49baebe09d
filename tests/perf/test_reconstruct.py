"""The timing of reconstructions runs and writes its results; no time is asserted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_writes_its_results(tmp_path):
    out = tmp_path / "reconstruct.json"
    command = [sys.executable, "-m", "perf.reconstruct", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert set(found["shapes"]) == {"mixed", "curved"}
    for row in found["shapes"].values():
        assert row["strokes"] == 30
        assert row["surfaces"] == 31
        assert row["residual"] <= 1e-4
        times = ("cold_s", "full_s", "preview_first_s", "preview_again_s", "lu_s")
        assert min(row[name] for name in times) > 0
