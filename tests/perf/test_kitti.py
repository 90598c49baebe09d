"""The timing of KITTI's twin runs and writes its results."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_writes_its_results(tmp_path):
    out = tmp_path / "kitti.json"
    command = [sys.executable, "-m", "perf.kitti", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert set(rows) == {"D1", "all"}
    assert rows["D1"]["D1_all@occ"] == rows["all"]["D1_all@occ"] > 0
    assert rows["all"]["cpu_s"] > 0
