"""The timing of scores of layers runs, and plain NumPy finds the same numbers."""

import json
from pathlib import Path

import pytest

pytest.importorskip("embreex", reason="the timings of layers share code that needs Embree")

from perf import layered_scoring

ROOT = Path(__file__).parents[2]


def test_quick_run_agrees_with_plain_numpy_and_writes_its_results(tmp_path, monkeypatch, capsys):
    out = tmp_path / "scores.json"
    monkeypatch.setattr("sys.argv", ["perf.layered_scoring", "--quick", "--out", str(out)])
    layered_scoring.main()
    assert "careful NumPy" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert found["scores"] == 44
    assert min(found[f"{name}_s"] for name in ("ours", "careful", "first")) > 0


def test_ours_is_not_slower_than_careful_numpy():
    recorded = json.loads((ROOT / "perf" / "layered_scoring.json").read_text())
    assert recorded["size_px"] == [1280, 720]
    assert recorded["layers"] == 4
    assert recorded["ours_cpu_s"] < recorded["careful_cpu_s"]
