"""The timing of layers through glass runs, and plain NumPy finds the same layers."""

import json
from pathlib import Path

import pytest

pytest.importorskip("embreex", reason="ray queries need Embree: depthgauge[render]")

from perf import layers

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_quick_run_agrees_with_plain_numpy_and_writes_its_results(tmp_path, monkeypatch, capsys):
    out = tmp_path / "layers.json"
    monkeypatch.setattr("sys.argv", ["perf.layers", "--quick", "--out", str(out)])
    layers.main()
    assert "plain NumPy" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert set(found["scenes"]) == {"kitchen", "glass everywhere"}
    for row in found["scenes"].values():
        assert min(row["ours_s"], row["plain_s"], row["motion_s"]) > 0
        assert row["valid"] > 0.5


def test_the_recorded_time_is_below_three_seconds():
    recorded = json.loads((ROOT / "perf" / "layers.json").read_text())
    assert recorded["size_px"] == [640, 480]
    assert recorded["layers"] == 4
    for row in recorded["scenes"].values():
        assert row["ours_s"] < 3.0
