"""`depthgauge annotate convert` and `import`."""

import json


def test_records_go_out_and_come_in(run, tmp_path):
    study, out = tmp_path / "study", tmp_path / "tasks.json"
    assert run("annotate", "simulate", "planar", "--scenes", 1, "--out", study).code == 0
    said = run("annotate", "convert", study, "--to", "label-studio", "--out", out)
    assert (said.code, "3 annotations" in said.out) == (0, True), said
    assert len(json.loads(out.read_text())) == 3
    said = run("annotate", "import", out, "--from", "label-studio", "--out", tmp_path / "again")
    assert said.code == 0, said
    assert "annotate check" in said.err
    assert run("annotate", "statistics", tmp_path / "again").code == 0
    said = run("annotate", "convert", study, "--to", "coco", "--out", tmp_path / "coco.json")
    assert "coco has no place for" in said.err
    said = run("annotate", "import", out, "--from", "coco", "--out", tmp_path / "again")
    assert (said.code, said.err.count("\n")) == (1, 1)
