"""The timing of structural metrics runs, others find the same numbers, and the record is fast."""

import json
from pathlib import Path

from perf import structure

ROOT = Path(__file__).parents[2]


def test_quick_run_agrees_with_others_and_writes_its_results(tmp_path, monkeypatch, capsys):
    out = tmp_path / "structure.json"
    monkeypatch.setattr("sys.argv", ["perf.structure", "--quick", "--out", str(out)])
    structure.main()
    assert "SciPy" in capsys.readouterr().out
    body = json.loads(out.read_text())
    assert body["size_px"] == [144, 96]
    assert min(body["cpu_seconds"].values()) > 0


def test_the_record_is_faster_than_the_usual_implementations():
    seconds = json.loads((ROOT / "perf/structure.json").read_text())["cpu_seconds"]
    assert seconds["r_ssim, scikit-image"] > seconds["r_ssim"]
    assert seconds["histogram_error, SciPy"] > seconds["histogram_error"]
