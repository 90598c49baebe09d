"""run, report, compare, rescore, score --out: end to end."""

import csv
import io
import json
import re
import shlex
import shutil
import sys

import pytest

# --- run ----------------------------------------------------------------------------------------


def test_a_run_prints_its_leaderboard_and_says_what_next(run, work):
    ran = run(*work.call(work.noisy("one"), work.noisy("two", 3.0)))
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"{work.root / 'run'}: trial, 10 samples"
    assert [line.split()[0] for line in lines[3:5]] == ["one", "two"]
    assert "Next:" not in ran.out
    assert ran.err.strip().endswith(f"report {work.root / 'run'}")
    assert "failed" not in ran.err


def test_failures_go_to_stderr_once_a_reason_and_exit_1(run, work):
    moody = work.method("moody", "raise ValueError('no such luck')")
    ran = run(*work.call(work.noisy("one"), moody))
    assert ran.code == 1
    assert "no such luck" not in ran.out
    assert ran.err.count("no such luck") == 1
    assert "failed: moody: s0, s1, s2, s3, s4 and 5 more: method 'moody' crashed" in ran.err
    assert re.search(r"moody .* 10$", ran.out, re.MULTILINE)


def test_a_second_call_goes_on_and_adds(run, work):
    one, two = work.noisy("one"), work.noisy("two", 3.0)
    first = run(*work.call(one))
    items = {p.name: p.stat().st_mtime_ns for p in (work.root / "run" / "items").iterdir()}
    assert run(*work.call(one)).out == first.out
    both = run(*work.call(one, two))
    after = {p.name: p.stat().st_mtime_ns for p in (work.root / "run" / "items").iterdir()}
    assert after.items() >= items.items()
    assert len(after) == 20
    assert "two" in both.out


def test_json_is_all_that_is_on_stdout(run, work):
    ran = run(*work.call(work.noisy("one")), "--json", "-")
    body = ran.json()
    (result,) = body["methods"]["one"]["results"]
    assert set(result["samples"]) == {f"s{n}" for n in range(10)}
    assert body["protocol_hash"] == result["protocol_hash"]
    assert run(*work.call(work.noisy("one")), "--json").json() == body
    ran = run(*work.call(work.noisy("one")), "--json", work.root / "out.json")
    assert json.loads((work.root / "out.json").read_text()) == body
    assert "badpix:1@all" in ran.out


def test_samples_and_seeds(run, work):
    only = ("--sample", "s1", "--sample", "s7", "--seeds", "3", "--json")
    body = run(*work.call(work.noisy("one")), *only).json()
    results = body["methods"]["one"]["results"]
    assert [set(result["samples"]) for result in results] == [{"s1", "s7"}] * 3
    assert len({result["summary"]["mae@all"] for result in results}) == 3
    text = run("report", work.root / "run", "--text").out
    assert "±" in text


def test_failures_of_seeds_are_named(run, work):
    fails = "if inputs['seed'] == 1: raise ValueError('odd')\nreturn np.ones((h, w))"
    ran = run(*work.call(work.method("odd", fails)), "--seeds", "2", "--sample", "s3")
    assert ran.code == 1
    assert "failed: odd: s3 (seed 1): method 'odd' crashed" in ran.err


def test_estimates_can_be_dropped(run, work):
    assert run(*work.call(work.noisy("one")), "--drop-estimates").code == 0
    assert not (work.root / "run" / "estimates").exists()
    ran = run("rescore", work.root / "run", "--benchmark", work.skip, "--workers", "0")
    assert ran.code == 1
    assert "its estimates were not kept" in ran.err
    ran = run("report", work.root / "run")
    assert ran.code == 0
    assert "warning: Not all estimates of this run were kept, so there are no pictures." in ran.err


def test_what_failed_is_tried_again_when_asked(run, work):
    flag = work.root / "works-now"
    body = f"import os\nif not os.path.exists({str(flag)!r}): raise OSError('not yet')\n"
    moody = work.method("moody", body + "return np.ones((h, w))")
    assert run(*work.call(moody)).code == 1
    flag.touch()
    assert run(*work.call(moody)).code == 1
    assert run(*work.call(moody), "--retry-failed").code == 0


def test_a_time_limit_ends_a_method(run, work):
    slow = work.method("slow", "import time; time.sleep(600)")
    call = [*work.call(slow), "--workers", "1", "--time-limit", "0.2", "--sample", "s0"]
    ran = run(*call)
    assert ran.code == 1
    assert "ran longer than 0.2 s; raise --time-limit" in ran.err


def test_no_time_limit_at_all(run, work):
    call = [*work.call(work.noisy("one")), "--workers", "1", "--sample", "s0"]
    assert run(*call, "--time-limit", "inf").code == 0


def test_a_toml_method_and_a_command(run, work):
    (work.root / "mine.toml").write_text(
        'method = "constant"\nlabel = "five"\n[options]\nvalue = 5\n'
    )
    script = work.root / "mine.py"
    script.write_text(
        "import sys, numpy as np, depthgauge as dg\nfrom depthgauge.io import read_image\n"
        "h, w = read_image(sys.argv[1]).shape[:2]\n"
        "dg.write_map(sys.argv[2], np.full((h, w), 5.0), quantity='disparity')\n"
    )
    command = f"shell=command:{sys.executable} {script} {{left}} {{out}}"
    call = work.call(work.root / "mine.toml", command)
    body = run(*call, "--sample", "s2", "--json").json()
    found = {name: body["methods"][name]["results"][0]["summary"] for name in ("five", "shell")}
    assert found["five"] == found["shell"]
    assert found["five"]["mae@all"] == 0


def test_a_benchmark_and_data_by_relative_paths(run, work, monkeypatch):
    work.noisy("one")
    monkeypatch.chdir(work.root)
    call = ["run", "trial.toml", "--data", "pairs", "-m", "one.py", "--out", "run"]
    ran = run(*call, "--workers", "0")
    assert ran.code == 0
    assert ran.out.startswith("run: trial")
    (work.root / "else").mkdir()
    monkeypatch.chdir(work.root / "else")
    ran = run("report", "../run")
    assert ran.code == 0
    assert "no pictures" not in ran.err
    again = ["run", "../trial.toml", "--data", "../pairs", "-m", "../one.py", "--out", "../run"]
    assert run(*again, "--workers", "0").code == 0


def test_many_scores_are_cut_to_the_width_and_said(run, work):
    text = work.trial.read_text().replace("[1, 3]", "[1, 2, 3, 4, 5, 6, 7, 8]")
    work.trial.write_text(text)
    ran = run(*work.call(work.noisy("one"), work.noisy("two")))
    table = ran.out.splitlines()[1:5]
    assert max(map(len, table)) <= 160
    more = int(re.search(r"(\d+) more scores: .* --csv", ran.out)[1])
    shown = len(re.findall(r"@all \[", table[0]))
    assert shown + more == 10
    assert table[0].split()[1] == "badpix:1@all"
    assert "mae@all" in run("report", work.root / "run", "--text").out


# --- report -------------------------------------------------------------------------------------


def test_the_page(run, finished, tmp_path):
    ran = run("report", finished)
    assert ran.code == 0
    assert ran.out.startswith(f"{finished / 'report.html'}: ")
    page = (finished / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "moody" in page
    ran = run("report", finished, "--html", tmp_path / "my page.html")
    assert (tmp_path / "my page.html").read_text() == page
    shown = run("report", finished, "--html", "-").out
    assert shown.replace("\r\n", "\n").strip() == page.strip()


def test_the_tables(run, finished):
    text = run("report", finished, "--text")
    assert text.err == ""
    assert [line.split()[0] for line in text.out.splitlines()[3:6]] == ["one", "two", "moody"]
    assert run("report", finished, "--markdown").out.count("| one |") == 1
    assert r"\begin{tabular}" in run("report", finished, "--latex").out
    rows = list(csv.DictReader(io.StringIO(run("report", finished, "--csv").out)))
    assert [row["method"] for row in rows] == ["one", "two", "moody"]
    assert [row["failed"] for row in rows] == ["0", "0", "1"]


def test_the_samples_and_the_columns(run, finished):
    rows = csv.reader(io.StringIO(run("report", finished, "--csv", "--samples").out))
    assert [row[0] for row in rows] == ["sample", *(f"s{n}" for n in range(10))]
    chosen = run("report", finished, "--samples", "--column", "mae@all").out
    assert chosen.startswith("mae@all of every sample")
    head = run("report", finished, "--text", "--column", "mae@all").out.splitlines()[1]
    assert head.split() == ["method", "mae@all", "[px]", "↓", "failed"]


def test_the_main_score_sorts(run, finished):
    body = run("report", finished, "--main", "density@all", "--json", "-").json()
    assert body["main"] == "density@all"
    ranks = [row["cells"]["density@all"]["rank"] for row in body["rows"]]
    assert ranks == sorted(ranks)


def test_what_does_not_matter_ties(run, finished):
    def group(*options):
        body = run("report", finished, "--json", *options).json()
        return {row["label"]: row["cells"]["badpix:1@all"]["group"] for row in body["rows"]}

    apart = group()
    assert apart["one"] != apart["two"]
    tied = group("--practical", "badpix:1@all=90")
    assert tied["one"] == tied["two"]
    assert group("--accuracy", "20") != apart


def test_oracles_are_shown_apart(run, finished):
    rows = run("report", finished, "--oracles", "--json").json()["rows"]
    oracles = [row for row in rows if row["oracle"]]
    assert oracles
    assert all(cell["rank"] is None for row in oracles for cell in row["cells"].values())
    assert "†" in run("report", finished, "--oracles", "--text").out


def test_json_beside_a_page_and_values_of_samples(run, finished, tmp_path):
    page, data = tmp_path / "a.html", tmp_path / "a.json"
    assert run("report", finished, "--html", page, "--json", data).code == 0
    assert page.is_file()
    assert json.loads(data.read_text())["benchmark"] == "trial"
    body = run("report", finished, "--samples", "--json").json()
    assert body["samples"]["moody"]["s4"]["mae@all"] is None
    assert body["samples"]["one"]["s4"]["mae@all"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "--html", "x.html"], "--html and --all-pictures go without"),
        (["--text", "--json"], "only one thing can go to stdout"),
        (["--html", "-", "--json", "-"], "only one thing can go to stdout"),
        (["--html", "-", "--all-pictures"], "give --html a file"),
        (["--samples", "--column", "mae@all", "--column", "density@all"], "one --column"),
        (["--main", "badpix:1"], "Did you mean 'badpix:1@all'"),
        (["--column", "nosuch"], "no score 'nosuch'"),
        (["--practical", "nosuch=1"], "no score 'nosuch'"),
        (["--practical", "mae@all"], "write SCORE=VALUE"),
        (["--practical", "mae@all=inf"], "write SCORE=VALUE"),
        (["--accuracy", "-1"], "must be 0 or more"),
        (["--accuracy", "nan"], "must be 0 or more"),
    ],
)
def test_what_a_report_cannot_do(run, finished, options, message):
    ran = run("report", finished, *options)
    assert ran.code == 2
    assert message in ran.err
    assert ran.out == ""


def test_an_unfinished_run_and_none(run, finished, tmp_path):
    (finished / "scores.parquet").unlink()
    ran = run("report", finished)
    assert ran.code == 1
    assert "this run is not finished, 30 of 30 items are there; run the command" in ran.err
    ran = run("report", tmp_path / "nowhere")
    assert ran.code == 1
    assert "is not a run folder (no run.json); make one with 'run'" in ran.err


@pytest.mark.filterwarnings("always::depthgauge.errors.RunWarning")
def test_data_that_moved(run, work):
    run(*work.call(work.noisy("one")))
    shutil.move(work.data, work.root / "moved")
    ran = run("report", work.root / "run")
    assert ran.code == 0
    assert "warning: There are no pictures, because" in ran.err
    assert "say where it is with --data" in ran.err
    assert "The data of this run is not there" in ran.err
    ran = run("report", work.root / "run", "--data", work.root / "moved")
    assert "no pictures" not in ran.err
    assert "not there" not in ran.err
    ran = run("report", work.root / "run", "--oracles", "--text")
    assert ran.code == 1
    assert "no longer there; say where it is with --data" in ran.err
    moved = ("--data", work.root / "moved")
    assert run("report", work.root / "run", "--oracles", "--text", *moved).code == 0
    again = ("rescore", work.root / "run", "--benchmark", work.skip, "--workers", "0")
    assert "say where it is with --data" in run(*again).err
    assert run(*again, *moved).code == 0


# --- compare ------------------------------------------------------------------------------------


def test_two_runs_of_one_protocol(run, finished, before):
    ran = run("compare", before, finished)
    assert ran.code == 0
    assert ran.out.startswith(f"{before} and {finished}, 10 samples")
    assert f"{finished} against {before}" in ran.out
    assert re.search(r"mae@all +one +one .* cannot be told apart", ran.out)
    body = run("compare", before, finished, "--json").json()
    assert {change["verdict"] for change in body["changes"]} == {"cannot be told apart"}
    assert {row["label"] for row in body["board"]["rows"]} == {"one", "two", "moody"}


def test_two_protocols_are_refused_with_the_reason(run, work):
    run(*work.call(work.noisy("one")))
    ran = run(
        *("run", work.skip, "--data", work.data, "--out", work.root / "other"),
        *("-m", work.root / "noisy.py", "-m", work.noisy(), "--workers", "0"),
    )
    assert ran.code == 0
    ran = run("compare", work.root / "run", work.root / "other")
    assert ran.code == 1
    assert ran.out == ""
    assert "these scores do not mean the same" in ran.err
    assert "missing is bad in the first and skip in the second" in ran.err


def test_common_samples_only_where_one_says_so(run, work):
    one = work.noisy("one")
    run(*work.call(one))
    run(*work.call(one, out="few"), "--sample", "s1", "--sample", "s2")
    ran = run("compare", work.root / "run", work.root / "few")
    assert ran.code == 1
    assert "have different samples" in ran.err
    ran = run("compare", work.root / "run", work.root / "few", "--common")
    assert ran.code == 0
    assert "2 samples" in ran.out
    assert "warning: Compared on 2 common samples" in ran.err
    quiet = run("--quiet", "compare", work.root / "run", work.root / "few", "--common")
    assert (quiet.out, quiet.err) == (ran.out, "")


# --- rescore ------------------------------------------------------------------------------------


def test_ranks_that_move_and_why(run, work):
    """`careful` leaves out what it does not know; it pays for that only where missing is bad."""
    careful = work.noisy("careful", 0.3, missing=0.6)
    run(*work.call(work.noisy("one"), careful))
    again = ("rescore", work.root / "run", "--benchmark", work.skip, "--workers", "0")
    ran = run(*again)
    assert ran.code == 0
    assert re.search(r"^careful +1 +2 +\+1 ", ran.out, re.MULTILINE)
    assert re.search(r"^one +2 +1 +-1 ", ran.out, re.MULTILINE)
    assert "Why: missing: bad -> skip" in ran.out
    assert (work.root / "run-skip" / "scores.parquet").is_file()
    body = run(*again, "--json").json()
    assert body["moves"]["moves"][0]["label"] == "careful"
    assert body["benchmark"] == "skip"


def test_rescore_into_its_own_run_is_refused(run, finished, skip_benchmark):
    before = (finished / "scores.parquet").read_bytes()
    ran = run("rescore", finished, "--benchmark", skip_benchmark, "--out", finished)
    assert ran.code == 1
    assert "choose another folder" in ran.err
    assert (finished / "scores.parquet").read_bytes() == before


# --- score --out --------------------------------------------------------------------------------


def test_scored_files_become_a_run(run, work):
    run(*work.call(work.noisy("one")))
    files = work.root / "run" / "estimates" / "one"
    call = ("score", work.trial, "--data", work.data, "--estimates", files)
    alone = run(*call, "--json").json()
    kept = run(*call, "--out", work.root / "scored", "--name", "mine", "--json").json()
    assert kept == alone
    ran = run("report", work.root / "scored", "--text")
    assert ran.code == 0
    assert "mine" in ran.out
    assert run("report", work.root / "scored").code == 0
    ran = run("compare", work.root / "run", work.root / "scored")
    assert ran.code == 0


# --- make and demo ------------------------------------------------------------------------------


def test_make_small_scenes_and_run_on_them(run, tmp_path):
    out = tmp_path / "my scenes"
    call = ("make", "stereo-scenes", "--out", out, "--width", "64", "--height", "48")
    ran = run(*call)
    assert ran.code == 0
    assert "8 scenes of 64x48" in ran.out
    assert f"--data '{out}'" in ran.err
    ran = run(*call)
    assert ran.code == 1
    assert "already contains a dataset" in ran.err
    assert run(*call, "--overwrite", "--json").json()["size_px"] == [64, 48]
    assert run("dataset", "verify", out, "--json").json()["ok"]
    ran = run(
        *("run", "stereo-scenes", "--data", out, "-m", "constant", "--out", tmp_path / "run"),
        *("--workers", "0"),
    )
    assert ran.code == 0


@pytest.mark.long
def test_the_real_demo(shell, tmp_path):
    ran = shell("demo", "--out", "my demo", "--workers", "2")
    assert ran.code == 0
    assert ran.out.startswith("Bad pixels")
    assert "Open my demo/report.html in a browser." in ran.out
    assert (tmp_path / "my demo" / "report.html").stat().st_size > 200_000
    assert "Open my demo/light-fields.html in a browser." in ran.out
    assert (tmp_path / "my demo" / "light-fields.html").stat().st_size > 200_000
    assert ran.err.startswith("1/6 ")
    # Every command that it tells to try works as it stands there.
    lines = re.sub(r" \\\n +", " ", ran.err.partition("Then try:\n")[2]).splitlines()
    told = [line for line in lines if " report " in line or " score " in line]
    assert len(told) == 2
    for line in told:
        words = re.split(r" {4,}", line.strip())[0]
        assert shell(*shlex.split(words)[1:]).code == 0


def test_several_runs_make_one_report(run, work):
    first, second = work.root / "first", work.root / "second"
    run(*work.call(work.noisy("one"), out=first))
    run(*work.call(work.noisy("two", 3.0), out=second))
    text = run("report", first, second, "--text").out
    assert [line.split()[0] for line in text.splitlines()[3:5]] == ["one", "two"]
    ran = run("report", first, second, "--html", work.root / "both.html")
    assert ran.code == 0
    page = (work.root / "both.html").read_text()
    assert "one" in page
    assert "two" in page
    assert "Several runs were merged" in ran.err
    refused = run("report", first, second)
    assert refused.code == 2
    assert "several runs need --html FILE" in refused.err
    assert run("report", first, second, "--text", "--oracles").code == 2
    other = work.root / "other"
    run(*work.call(work.noisy("one"), out=other), "--sample", "s1")
    refused = run("report", first, other, "--text")
    assert refused.code == 1
    assert "with --common" in refused.err


# --- a method that was edited -------------------------------------------------------------------


def test_an_edited_method_is_told_the_options(run, work):
    path = work.method("mine", "return np.full((h, w), 5.0)")
    again = work.call(path)
    assert run(*again).code == 0
    work.method("mine", "return np.full((h, w), 6.0)")
    ran = run(*again)
    assert ran.code == 1
    assert "the code of method 'mine' changed since it was run" in ran.err
    assert "run it again (--again mine)" in ran.err
    assert "(--keep-finished)" in ran.err
    assert "keep_finished=True" not in ran.err
    ran = run(*again, "--keep-finished")
    assert ran.code == 0
    ran = run(*again, "--again", "mine")
    assert ran.code == 0
    assert "two code versions" not in ran.out


def test_a_mended_method_is_marked_in_the_table(run, work):
    path = work.method(
        "mine", "if inputs['sample'] == 's3': raise ValueError\nreturn np.ones((h, w))"
    )
    again = work.call(path)
    assert run(*again).code == 1
    work.method("mine", "return np.ones((h, w)) * 6")
    ran = run(*again, "--keep-finished")
    assert ran.code == 0
    assert "mine: two code versions; 9 of 10 estimates are by older code." in ran.out
