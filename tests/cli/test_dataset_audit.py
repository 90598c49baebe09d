"""`depthgauge dataset audit`: a table, sentences about faults, JSON, exit codes."""

import json

import pytest
from tests import rig_scenes

from depthgauge.datasets import stereogenbench as sgb

pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")


def test_figures_and_faults_are_printed(run, tmp_path):
    root = tmp_path / "rig"
    folder = sgb.write_scene(
        root, rig_scenes.record(frames=1), rig_scenes.rendered()[:1], scale_m=0.0001
    )
    fine = run("dataset", "audit", root)
    assert fine.code == 0
    assert "adjacent pair: reprojection (px)" in fine.out
    assert "1 scene, none with faults" in fine.out
    path = folder / "baseline.json"
    body = json.loads(path.read_text())
    body["camera_intrinsics"]["focal_length_mm"] = 30.0
    path.write_text(json.dumps(body))
    wrong = run("dataset", "audit", root, "--frames", "1", "--json", tmp_path / "audit.json")
    assert wrong.code == 1
    assert "1 with faults" in wrong.out
    assert "colours: pair 00-05: disparities by colour are 0.8" in wrong.out
    stored = json.loads((tmp_path / "audit.json").read_text())
    assert (stored["ok"], stored["failed"], stored["options"]["frames"]) == (False, 1, 1)
    assert run("dataset", "audit", tmp_path / "none").code == 1
    assert run("dataset", "audit", root, "--frames", "-1").code == 2
