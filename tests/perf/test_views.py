"""The timing of metrics of views runs, others find the same numbers, and the record is fast."""

import json
from pathlib import Path

from perf import views

ROOT = Path(__file__).parents[2]


def test_quick_run_agrees_with_others_and_writes_its_results(tmp_path, monkeypatch, capsys):
    out = tmp_path / "views.json"
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))  # LPIPS is timed where it can be
    monkeypatch.setattr("sys.argv", ["perf.views", "--quick", "--out", str(out)])
    views.main()
    assert "literal loop" in capsys.readouterr().out
    body = json.loads(out.read_text())
    for found in (body["seconds"], body["cpu_seconds"]):
        assert set(views.METRICS_TIMED) - set(found) == {"lpips"}
        assert min(found.values()) > 0


def test_patches_are_found_as_fast_as_promised():
    recorded = json.loads((ROOT / "perf/views.json").read_text())
    assert recorded["size_px"] == [832, 480]
    seconds = recorded["cpu_seconds"]
    assert seconds["p_psnr, literal loop"] > 50 * seconds["p_psnr"]
    assert seconds["p_psnr, NumPy"] > 5 * seconds["p_psnr"]
    assert seconds["ssim, scikit-image, float64"] > seconds["ssim"]
