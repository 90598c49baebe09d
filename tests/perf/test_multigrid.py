"""The comparison with pyamg runs, solves what it says, and needs no pyamg."""

import json

from depthgauge.geometry._multigrid import Multigrid
from perf import multigrid


def test_ours_alone_where_pyamg_is_not_installed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(multigrid, "find_spec", lambda name: None)
    out = tmp_path / "multigrid.json"
    solve = Multigrid.solve
    multigrid.main(["--quick", "--out", str(out)])
    assert "pyamg is not installed" in " ".join(capsys.readouterr().err.split())
    assert Multigrid.solve is solve
    found = json.loads(out.read_text())
    assert found["pyamg"] is None
    assert {row["solver"] for row in found["rows"]} == {"ours"}
    assert {(row["shapes"], row["system"]) for row in found["rows"]} == {
        (shape, system) for shape in ("mixed", "curved") for system in ("normals", "depth")
    }
    for row in found["rows"]:
        assert row["residual"] <= multigrid.TOLERANCE
        assert row["again_residual"] <= multigrid.TOLERANCE
        assert row["tight_residual"] <= multigrid.TIGHT
