"""The functions of `import depthgauge as dg` that stand for verbs of the command line."""

import math
import re

import numpy as np
import pytest

import depthgauge as dg

BENCHMARK = """
id = "tiny"
version = 1
dataset = "folder"
quantity = "disparity"
pool = "image"

[[scores]]
metric = "badpix"
threshold = 2

[[scores]]
metric = "mae"
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one protocol; the second estimate is better."""
    folder = tmp_path_factory.mktemp("public")
    (folder / "tiny.toml").write_text(BENCHMARK)
    truth = np.arange(1.0, 61.0).reshape(6, 10)
    for name in ("desk", "shelf"):
        (folder / "data" / "truth").mkdir(parents=True, exist_ok=True)
        dg.write_map(folder / "data" / "truth" / f"{name}.pfm", truth)
        for run, error in (("old", 4.0), ("new", 1.0)):
            (folder / run).mkdir(exist_ok=True)
            dg.write_map(folder / run / f"{name}.pfm", truth + error)
    made = []
    for run in ("old", "new"):
        method = f"mine=folder:{folder / run}"
        made.append(dg.run(folder / "tiny.toml", folder / "data", [method], folder / f"run-{run}"))
    return folder, *made


def test_compare_takes_runs_and_folders(runs):
    folder, old, new = runs
    assert isinstance(old, dg.Run)
    for pair in ((old, new), (folder / "run-old", str(folder / "run-new"))):
        changes = {change.score_id: change for change in dg.compare(*pair).changes}
        assert (changes["mae@all"].old, changes["mae@all"].new) == (4.0, 1.0)
        assert changes["badpix:2@all"].difference == -100.0


def test_report_writes_the_page_or_gives_a_table(runs, tmp_path):
    folder, old, _ = runs
    path = dg.report(old)
    assert path == folder / "run-old" / "report.html"
    assert "<html" in path.read_text(encoding="utf-8")
    text = dg.report(folder / "run-new", tmp_path / "table.md", form="markdown")
    assert "mine" in text
    assert "| :-- |" in text
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == text
    with pytest.raises(dg.DepthgaugeError, match="no form of a report 'markdwon'"):
        dg.report(old, form="markdwon")
    style = {"digits": 1, "intervals": False, "caption": "Ours & theirs."}
    latex = dg.report(folder / "run-new", form="latex", **style)
    assert r"\caption{Ours \& theirs.}" in latex
    assert not re.search(r"\d\.\d\d", latex.split("midrule")[1])


def test_report_is_a_function_whatever_was_imported():
    import depthgauge.report.tables.numbers

    assert callable(dg.report)
    assert depthgauge.report.tables.numbers.show_amount(1.0, "px") == "1.000 px"


def test_check_finds_what_is_wrong(runs, tmp_path):
    folder, *_ = runs
    assert dg.check(folder / "tiny.toml", folder / "new", folder / "data") == []
    found = dg.check(folder / "tiny.toml", tmp_path, folder / "data")
    assert [finding.sample for finding in found] == ["desk", "shelf"]
    assert all(finding.serious for finding in found)


def test_list_has_names_and_one_line_each():
    metrics = dg.list("metrics")
    assert metrics["badpix:threshold"].startswith("Percentage of pixels")
    assert "middlebury" in dg.list("benchmarks")
    with pytest.raises(dg.DepthgaugeError, match="metrics"):
        dg.list("metric")


def test_classes_that_calls_return_are_exported(runs):
    scores = dg.score([[1.0, math.nan]], [[1.0, 2.0]], quantity="disparity")
    assert isinstance(scores, dg.Scores)
    assert isinstance(scores.protocol, dg.Protocol)
    assert isinstance(runs[1].results["mine", 0], dg.Result)
