"""The cost of isolation: the measurement works, and the record keeps to its goal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from perf import run_items

ROOT = Path(__file__).parents[2]
CHILD = """import subprocess, sys, time
pages = bytearray(b"x" * 50_000_000)
if len(sys.argv) > 1:
    subprocess.run([sys.executable, "-c", sys.argv[1]])
time.sleep(1)
"""


def test_memory_of_a_process_and_of_what_it_started():
    parent = subprocess.Popen([sys.executable, "-c", CHILD, CHILD])
    meter = run_items.Meter(parent.pid)
    assert parent.wait() == 0
    meter.stop()
    assert meter.most_processes == 2
    assert 100e6 < meter.peak_bytes < 230e6  # the copied bytes may still be there when it looks
    assert 0 < meter.cpu_s < 30


@pytest.mark.long
def test_quick_run_writes_its_results(tmp_path):
    out = tmp_path / "items.json"
    command = [sys.executable, "-m", "perf.run_items", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert set(found["ways"]) == set(run_items.WAYS)


def test_the_record_shows_that_isolation_costs_little():
    recorded = json.loads((ROOT / "perf" / "run_items.json").read_text())
    assert recorded["items"] >= 1600
    hidden = recorded["ways"][list(run_items.WAYS)[-1]]
    before = recorded["ways"][run_items.BEFORE]
    assert hidden["cpu_ms_per_item"] < 1.5 * before["cpu_ms_per_item"]
    assert recorded["load"] > 1 or hidden["items_per_s"] > 95
