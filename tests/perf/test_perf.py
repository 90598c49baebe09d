"""The timings run, the versions agree, and the results have their shape; no time is asserted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_agrees_with_its_peers_and_writes_its_results(tmp_path):
    out = tmp_path / "results.json"
    command = [sys.executable, "-m", "perf", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())
    assert len({row["name"] for row in rows}) == len(rows) >= 8
    for row in rows:
        assert {"name", "ours_s", "peers", "limit_s"} <= set(row)
        times = [row["ours_s"], row["limit_s"], *row["peers"].values()]
        assert all(isinstance(t, float) and t > 0 for t in times)
    peers = {name for row in rows for name in row["peers"]}
    assert peers == {"plain NumPy", "careful NumPy", "OpenCV", "imageio"}
