"""`depthgauge report --pivot`, from the options of methods to the printed table."""

from __future__ import annotations

import csv
import io
import sys

import pytest

from depthgauge.cli import main

SCORES = ["badpix:2@all", "mae@all", "badpix:2@visible", "mae@visible"]
COLUMNS = [part for score in SCORES for part in ("--column", score)]


def call(*arguments):
    """The exit code of the command line in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["depthgauge", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of stereo at two sizes, and of a room."""
    root = tmp_path_factory.mktemp("pivot")
    assert call("make", "stereo-scenes", "--width", 64, "--height", 48, "--out", root / "d") == 0
    methods = ("F=sgbm", "H=sgbm:input_scale=0.5,enlarge=true", "ground-plane")
    named = [part for method in methods for part in ("-m", method)]
    data = ("--data", root / "d", "--sample", "boxes", "--sample", "slanted", "--workers", 0)
    assert call("run", "stereo-scenes", *data, *named, "--out", root / "run") == 0
    return root / "run"


@pytest.fixture
def report(finished, capsys):
    def ran(*options):
        code = call("report", finished, *options)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return ran


def test_methods_with_the_size_of_their_input(report):
    code, out, _ = report("--pivot", "methods", *COLUMNS)
    assert code == 0
    _, groups, head, _, *rows = out.splitlines()
    assert [word for word in groups.split() if word.strip("-")] == ["all", "visible"]
    assert head.split()[:4] == ["method", "input", "res.", "badpix:2"]
    assert {tuple(row.split()[:2]) for row in rows[:2]} == {("F", "F"), ("H", "H")}
    assert rows[2].split()[0] == "ground-plane"
    assert out.rstrip().splitlines()[-1].startswith("stereo-scenes v")


def test_the_same_numbers_as_in_the_leaderboard(report):
    board = {row["method"]: row for row in csv.DictReader(io.StringIO(report("--csv")[1]))}
    by_method = list(csv.DictReader(io.StringIO(report("--csv", "--pivot", "methods")[1])))
    by_region = list(csv.DictReader(io.StringIO(report("--csv", "--pivot", "regions")[1])))
    assert len(by_method) == 3
    for row in by_method:
        for score in SCORES:
            assert row[score] == board[row["method"]][score] != ""
    for score in SCORES:
        metric, _, region = score.partition("@")
        for row in by_region:
            if row["region"] == region:
                assert row[metric] == board[row["method"]][score]


def test_regions_in_the_order_that_was_asked_for(report):
    out = report("--pivot", "regions", "--region", "visible", "--region", "all", "--markdown")[1]
    rows = [line.split(" | ")[0] for line in out.splitlines() if line.startswith("| ")]
    assert rows == ["| region", "| :--", "| visible", "| all"] * 3


@pytest.mark.parametrize("rows", ["methods", "regions"])
def test_latex_is_one_environment_a_table(report, rows):
    out = report("--pivot", rows, "--latex", *COLUMNS)[1]
    assert out.count(r"\begin{table}") == out.count(r"\end{table}") == {"methods": 1}.get(rows, 3)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--pivot", "methods", "--region", "al"], 2, "no region 'al'. Did you mean 'all'?"),
        (["--pivot", "methods", "--column", "mae"], 2, "no score 'mae'"),
        (["--pivot", "materials"], 2, "'materials' is not one of 'methods', 'regions'"),
        (["--region", "all"], 2, "--region is for --pivot methods"),
        (["--pivot", "methods", "--samples"], 2, "--samples and --pivot are two different tables"),
        (["--pivot", "methods", "--html", "x.html"], 2, "go without --text"),
    ],
)
def test_what_a_pivot_cannot_do(report, options, code, message):
    ended, out, err = report(*options)
    assert ended == code
    assert message in err
    assert out == ""


def test_json_goes_to_a_file_beside_it(report, tmp_path):
    code, out, _ = report("--pivot", "methods", "--text", "--json", tmp_path / "board.json")
    assert code == 0
    assert "ground-plane" in out
    assert (tmp_path / "board.json").stat().st_size > 100
