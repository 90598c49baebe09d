"""The timing of monocular depth runs, and the usual way gives the same numbers."""

import json
from pathlib import Path

from perf import monocular

ROOT = Path(__file__).parents[2]


def test_quick_run_agrees_with_the_usual_way(tmp_path, monkeypatch, capsys):
    out = tmp_path / "monocular.json"
    monkeypatch.setattr("sys.argv", ["perf.monocular", "--quick", "--out", str(out)])
    monocular.main()
    assert "scale and shift" in capsys.readouterr().out
    assert set(json.loads(out.read_text())["cpu_seconds"]) == {
        "nine columns",
        "scale and shift",
        "thinned jumps",
    }


def test_fits_and_thinning_are_faster_than_the_usual_way():
    recorded = json.loads((ROOT / "perf/monocular.json").read_text())["cpu_seconds"]
    for name in ("scale and shift", "thinned jumps"):
        ours, usual = recorded[name]
        assert ours < usual, name
