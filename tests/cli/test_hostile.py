"""Users who are in a hurry, unlucky or mean: one sentence, an exit code, nothing lost."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from depthgauge._confine import descendants

# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("a/b", "holds a '/'"),
        ("..", "starts with '.'"),
        ("", "is empty"),
        ("one@1", "ends like a seed ('@1')"),
        ("x\ny", "control characters"),
        ("x" * 120, "longer than 100 characters"),
    ],
)
def test_labels_that_no_folder_can_have(run, work, label, why):
    ran = run(*work.call(f"{label}=constant"))
    assert ran.code == 2
    assert why in ran.err
    assert ran.err.count("\n") == 1
    assert not (work.root / "run").exists()


@pytest.mark.parametrize("label", ["-x", "ä ö<b>&\"'", "%s{left}", "[red]", "CON", "--help", "a=b"])
def test_odd_labels_are_labels(run, work, label):
    method = f"{label}=constant" if label != "a=b" else "a=constant:value=2"
    call = [*work.call(method), "--sample", "s0", "--sample", "s1"]
    assert run(*call).code == 0
    name = label if label != "a=b" else "a"
    assert name in run("report", work.root / "run", "--text").out
    assert run("report", work.root / "run").code == 0
    assert name in run("report", work.root / "run", "--json").out.replace('\\"', '"')


def test_odd_sample_ids(run, work):
    rng = np.random.default_rng(0)
    shutil.rmtree(work.data)
    names = ["-a b'[x]\"<i>&amp;", "ünï.cödé", "new\nline", "\x1b[31mred"]
    for name in names:
        work.pair(name, 4.0, rng)
    bad = work.method("bad", "raise ValueError(inputs['sample'])")
    ran = run(*work.call("constant", bad))
    assert ran.code == 1
    assert "\x1b" not in ran.out + ran.err
    assert "failed: bad: new\\nline: " in ran.err
    assert run("report", work.root / "run").code == 0
    for kind in ("--text", "--csv", "--latex", "--markdown"):
        shown = run("report", work.root / "run", "--samples", kind)
        assert shown.code == 0
        assert "\x1b" not in shown.out
    body = run("report", work.root / "run", "--samples", "--json").json()
    assert set(body["samples"]["constant"]) == set(names)


def test_names_that_are_no_text(run, work):
    odd = os.fsdecode(b"\xff\xfe")
    work.pair("good", 4.0, np.random.default_rng(0))
    try:
        for side, ending in (("left", "png"), ("right", "png"), ("truth", "pfm")):
            source = work.data / side / f"good.{ending}"
            shutil.copy(source, work.data / side / f"{odd}.{ending}")
    except OSError:
        pytest.skip("this file system takes only text")
    ran = run(*work.call("constant"))
    assert ran.code == 1
    assert "is not UTF-8; rename the file" in ran.err
    assert not (work.root / "run").exists()
    # A path may be like that: it is shown, and JSON spells it.
    out = work.root / odd
    call = work.call("constant", out=odd)
    assert run(*call, "--sample", "s0", "--json").json()["run"] == str(out)
    assert run(*call, "--sample", "s0").code == 0


def test_spaces_and_dashes_in_paths(run, work, monkeypatch):
    monkeypatch.chdir(work.root)
    (work.root / "my methods").mkdir()
    method = shutil.move(work.noisy("one"), work.root / "my methods" / "m y.py")
    call = ["run", "trial.toml", "--data", "pairs", "--workers", "0", "-m", method]
    ran = run(*call, "--out", "my runs/one 1")
    assert ran.err.strip().endswith("report 'my runs/one 1'")
    ran = run(*call, "--out", "./-dash")
    assert ran.err.strip().endswith("report ./-dash")
    assert run("report", "./-dash", "--text").code == 0


# --- run folders --------------------------------------------------------------------------------


def test_a_link_and_a_moved_folder(run, work):
    one = work.noisy("one")
    first = run(*work.call(one))
    (work.root / "link").symlink_to(work.root / "run")
    assert run("report", work.root / "link", "--text").code == 0
    assert run(*work.call(one, out="link")).code == 0
    shutil.move(work.root / "run", work.root / "moved")
    again = run(*work.call(one, out="moved"))
    assert again.code == 0
    assert again.out.splitlines()[1:] == first.out.splitlines()[1:]
    assert run("report", work.root / "moved").code == 0
    assert run("report", work.root / "link").code == 1


BROKEN = {
    "no-methods": lambda body: body.update(methods=None),
    "empty-methods": lambda body: body.update(methods=[]),
    "half-a-method": lambda body: body.update(methods=[{"label": "one"}]),
    "a-number": lambda body: body.update(protocol_hash=5),
    "no-definition": lambda body: body.pop("definition"),
    "empty-definition": lambda body: body.update(definition={}),
    "scenes": lambda body: body.update(scenes=[]),
    "no-data": lambda body: body.pop("data"),
    "data": lambda body: body.update(data=7),
    "left-out": lambda body: body.update(left_out=5),
    "made-by": lambda body: body.update(made_by=[1]),
    "no-commands": lambda body: body.update(commands=None),
    "unfinished": lambda body: body.update(unfinished=7),
    "schema": lambda body: body.update(schema=99),
    "ghost": lambda body: body["methods"].append({**body["methods"][0], "label": "ghost"}),
    "fewer": lambda body: body["methods"].pop(),
    "fewer-samples": lambda body: body["samples"].pop(),
}


@pytest.mark.parametrize("how", BROKEN)
def test_an_edited_run_json_is_one_sentence(run, finished, before, skip_benchmark, how, tmp_path):
    body = json.loads((finished / "run.json").read_text())
    BROKEN[how](body)
    (finished / "run.json").write_text(json.dumps(body))
    check_refused(run, finished, before)
    again = ("rescore", finished, "--benchmark", skip_benchmark, "--workers", "0")
    ran = run(*again, "--out", tmp_path / "again")
    assert ran.code in (0, 1)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00\x01", "[" * 100_000, '{"kind": 1}'])
def test_a_damaged_run_json_is_one_sentence(run, finished, before, text):
    (finished / "run.json").write_text(text)
    check_refused(run, finished, before)


def check_refused(run, finished, before):
    for call in (
        ["report", finished],
        ["report", finished, "--text"],
        ["compare", before, finished],
    ):
        ran = run(*call)
        assert ran.code == 1
        assert ran.err.startswith("error: ")
        assert ran.err.count("\n") == 1
        assert ran.out == ""


@pytest.mark.parametrize("name", ["scores", "samples", "curves", "timings"])
def test_a_lost_or_damaged_table_is_made_again(run, work, name):
    call = work.call(work.noisy("one"))
    first = run(*call)
    table = work.root / "run" / f"{name}.parquet"
    table.write_bytes(table.read_bytes()[:300])
    ran = run("report", work.root / "run")
    assert ran.code == 1
    assert "delete it and run again" in ran.err
    table.unlink()
    ran = run("report", work.root / "run")
    assert "run the command that began it again" in ran.err
    assert run(*call).out == first.out
    assert run("report", work.root / "run").code == 0


@pytest.mark.filterwarnings("always::depthgauge.errors.RunWarning")
def test_a_damaged_item_and_a_swapped_one(run, work):
    call = work.call(work.noisy("one"))
    first = run(*call)
    items = sorted((work.root / "run" / "items").iterdir())
    whole = items[0].read_bytes()
    for wrong in (b"{", items[1].read_bytes()):
        items[0].write_bytes(wrong)
        ran = run(*call)
        assert (ran.code, ran.out) == (0, first.out)
        assert f"{items[0]}: is " in ran.err
        assert "It is made again." in ran.err
        assert len(items[0].read_bytes()) > len(whole) / 2


def test_a_lost_estimate(run, finished, skip_benchmark, tmp_path):
    folder = finished / "estimates" / "one" / "s0"
    (folder / "disparity.npy").unlink()
    (finished / "estimates" / "one" / "s1" / "estimate.json").write_text("[]")
    ran = run("report", finished)
    assert ran.code == 0
    assert "warning: There are no pictures of s" in ran.err
    ran = run("report", finished, "--oracles", "--text")
    assert ran.code == 1
    assert f"the estimate of one cannot be used: {folder}" in ran.err
    again = ("rescore", finished, "--benchmark", skip_benchmark, "--workers", "0")
    ran = run(*again, "--out", tmp_path / "again")
    assert ran.code == 1
    assert f"one: s0: {folder}: has no estimate" in ran.err or f"{folder}/disparity.npy" in ran.err
    assert "finished items are kept; run the same command again" in ran.err


def test_an_unfinished_run_is_not_scored_again(run, finished, skip_benchmark, tmp_path):
    (finished / "scores.parquet").unlink()
    again = ("rescore", finished, "--benchmark", skip_benchmark, "--out", tmp_path / "again")
    ran = run(*again)
    assert ran.code == 1
    assert "this run is not finished" in ran.err
    assert not (tmp_path / "again").exists()


def test_what_was_run_again_is_scored_again(run, work):
    flag = work.root / "works-now"
    body = f"import os\nif not os.path.exists({str(flag)!r}): raise OSError('not yet')\n"
    call = work.call(work.method("moody", body + "return np.ones((h, w))"))
    again = ("rescore", work.root / "run", "--benchmark", work.skip, "--workers", "0")
    assert run(*call).code == 1
    assert run(*again).code == 1
    flag.touch()
    assert run(*call, "--retry-failed").code == 0
    assert run(*again).code == 0


def test_methods_with_other_numbers_of_seeds_are_scored_again(run, work):
    run(*work.call(work.noisy("one")), "--seeds", "3")
    run(*work.call(work.noisy("two")))
    again = ("rescore", work.root / "run", "--benchmark", work.skip, "--workers", "0", "--json")
    ran = run(*again)
    assert ran.code == 0
    found = ran.json()["methods"]
    assert [len(found[name]["results"]) for name in ("one", "two")] == [3, 1]


def test_a_finished_run_stays_finished(run, work):
    run(*work.call(work.noisy("one")))
    when = json.loads((work.root / "run" / "run.json").read_text())["finished"]
    assert when
    run(*work.call(work.noisy("one")))
    assert json.loads((work.root / "run" / "run.json").read_text())["finished"] == when


def test_folders_that_cannot_be_written(run, work, finished):
    for out in ("/proc/nowhere/run", "/dev/null", "/dev/null/run"):
        call = work.call("constant")
        call[call.index("--out") + 1] = out
        ran = run(*call)
        assert ran.code == 1
        assert ran.err.count("\n") == 1
    ran = run("report", finished, "--html", "/proc/nowhere.html")
    assert (ran.code, ran.out) == (1, "")
    assert "cannot be written" in ran.err
    (finished / "report.html").mkdir()
    ran = run("report", finished)
    assert ran.code == 1
    assert "or choose another place with --html FILE" in ran.err


# --- methods ------------------------------------------------------------------------------------


def test_a_hundred_methods_on_one_sample(run, work):
    methods = [f"n{n}=constant:value={n}" for n in range(100)]
    ran = run(*work.call(*methods), "--sample", "s0")
    assert ran.code == 0
    assert len([line for line in ran.out.splitlines() if re.match(r"n\d", line)]) == 100
    assert "1 sample\n" in ran.out
    assert run("report", work.root / "run").code == 0


def test_all_methods_fail(run, work):
    bad = work.method("bad", "raise ValueError('no such luck')")
    assert run(*work.call(bad)).code == 1
    assert run("report", work.root / "run").code == 0
    for options in (["--text", "--oracles"], ["--csv"], ["--latex", "--samples"], ["--json"]):
        assert run("report", work.root / "run", *options).code == 0
    assert run("compare", work.root / "run", work.root / "run").code == 0
    again = ("rescore", work.root / "run", "--benchmark", work.skip, "--workers", "0")
    assert run(*again).code == 1


def test_a_folder_without_estimates_and_no_folder(run, work):
    (work.root / "empty").mkdir()
    ran = run(*work.call(f"folder:{work.root / 'empty'}"))
    assert ran.code == 1
    assert "failed: empty: s0: " in ran.err
    ran = run(*work.call(f"folder:{work.root / 'nowhere'}", out="other"))
    assert ran.code == 1
    assert "nowhere: there is no such folder of estimates" in ran.err
    assert not (work.root / "other").exists()


@pytest.mark.long
def test_files_that_were_replaced_are_scored_again(run, work):
    """A score of a file that is no longer there would be a lie."""
    files = work.root / "mine"
    files.mkdir()
    scored = ("score", work.trial, "--data", work.data, "--estimates", files)
    kept = (*scored, "--out", work.root / "run")
    assert run(*kept).code == 1
    for n in range(10):
        shutil.copy(work.data / "truth" / f"s{n}.pfm", files / f"s{n}.pfm")
    assert run(*kept, "--json").json()["summary"]["mae@all"] == 0
    items = {p.name: p.stat().st_mtime_ns for p in (work.root / "run" / "items").iterdir()}
    assert run(*kept, "--json").json()["summary"]["mae@all"] == 0
    after = {p.name: p.stat().st_mtime_ns for p in (work.root / "run" / "items").iterdir()}
    assert after == items
    shutil.copy(work.data / "truth" / "s3.pfm", files / "s2.pfm")
    (files / "s5.pfm").unlink()
    ran = run(*kept, "--json")
    kept_json, plain = ran.json(), run(*scored, "--json").json()
    del kept_json["notes"], plain["notes"]  # a run does not look for estimates of other samples
    assert kept_json == plain
    assert "warning: s5: " in ran.err
    again = run(*work.call(f"folder:{files}"))
    assert "failed: mine: s5: " in again.err


@pytest.mark.long
def test_methods_that_print_and_die(run, work):
    chatty = "import sys\nprint('x' * 3_000_000)\nsys.stderr.write('y' * 3_000_000)\n"
    loud = work.method("loud", chatty + "return np.ones((h, w))")
    dies = work.method("dies", chatty + "sys.stderr.flush(); import os; os._exit(3)")
    ran = run(*work.call(loud, dies), "--workers", "1", "--sample", "s0")
    assert ran.code == 1
    assert len(ran.out) + len(ran.err) < 3000
    assert "failed: dies: s0: the method's process ended with exit code 3." in ran.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-m", "dis"], 2, "estimates flow, but trial scores disparity"),
        (["-m", "constant", "--workers", "-1"], 2, "--workers"),
        (["-m", "constant", "--seeds", "0"], 2, "--seeds"),
        (["-m", "constant", "--time-limit", "nan"], 2, "must be positive"),
        (["-m", "constant", "--cluster", ""], 2, "such as tcp://host:8786"),
        (["-m", "constant", "--cluster", "nonsense"], 2, "such as tcp://host:8786"),
        (["-m", "constant", "--cluster", "http://x:1"], 2, "such as tcp://host:8786"),
        (["-m", "constant", "--sample", "s11"], 1, "Did you mean 's1'?"),
        (["-m", ""], 2, "no method ''"),
        (["-m", "--help"], 2, "no method '--help'"),
        (["-m", "command:"], 2, "write command:TEMPLATE"),
        (["-m", "nosuch.py"], 1, "nosuch.py: cannot be read"),
        (["-m", "sgbm:nosuch=1"], 2, "is not an option of 'sgbm'"),
        (["-m", "constant", "-m", "constant=constant:value=2"], 2, "two methods have the label"),
        ([], 2, "Missing option '--method'"),
    ],
)
def test_a_wrong_run_is_refused_before_anything_is_made(run, work, options, code, message):
    ran = run(*work.call(), *options)
    assert ran.code == code
    assert message in ran.err
    assert ran.out == ""
    assert not (work.root / "run").exists()


def test_nobody_at_the_address(run, work, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("depthgauge.engine.running.executors.dask._CONNECT_S", 0.5)
    ran = run(*work.call("constant"), "--cluster", "tcp://127.0.0.1:9")
    assert ran.code == 1
    assert "no dask scheduler answers" in ran.err


# --- streams and signals ------------------------------------------------------------------------


@pytest.mark.long
def test_a_reader_that_goes_away(command, finished):
    for arguments in (["report", str(finished), "--csv"], ["list"], ["--help"]):
        line = f"{' '.join(map(repr, [*command, *arguments]))} | head -1"
        ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert ran.stderr == ""
        assert ran.stdout.count("\n") == 1


@pytest.mark.long
def test_a_full_disk_behind_stdout(shell, finished):
    for arguments in (["list"], ["--help"], ["report", finished, "--text"], ["show", "mae"]):
        with open("/dev/full", "w") as full:
            ran = shell(*arguments, stdout=full)
        assert ran.code == 1
        assert ran.err == "error: No space left on device.\n"


@pytest.mark.long
def test_encodings_that_lack_our_characters(shell, finished):
    for encoding in ("ascii", "latin-1"):
        for kind in ("--text", "--markdown"):
            ran = shell("report", finished, kind, env={"PYTHONIOENCODING": encoding})
            assert ran.code == 0
            assert "badpix:1@all" in ran.out


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.long), "2"])
def test_ctrl_c_loses_nothing(command, run, work, workers):
    slow = work.method("slow", "import time\ntime.sleep(0.3)\nreturn np.ones((h, w))")
    call = [*work.call(slow), "--workers", workers]
    process = subprocess.Popen(
        [*command, *call], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    items = work.root / "run" / "items"
    wait_for(lambda: items.is_dir() and len(list(items.glob("*.json"))) >= 2)
    started = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == ""
    assert err == "error: stopped; finished work is kept, and the same command continues.\n"
    kept = {path.name: path.read_bytes() for path in items.glob("*.json")}
    assert 2 <= len(kept) < 10
    wait_for(lambda: not any(map(alive, started)))
    assert run(*call).code == 0
    assert {name: (items / name).read_bytes() for name in kept} == kept


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, limit_s=300):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_at_once(command, run, work):
    slow = work.method("slow", "import time; time.sleep(1)\nreturn np.ones((h, w))")
    call = [*work.call(slow), "--sample", "s0", "--sample", "s1"]
    process = subprocess.Popen([*command, *call], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: (work.root / "run" / "run.json").is_file())
    ran = run(*call)
    assert ran.code == 1
    assert "another process is working on this run; wait for it" in ran.err
    ran = run("report", work.root / "run")
    assert "this run is not finished" in ran.err
    process.communicate(timeout=300)
    assert process.returncode == 0
    assert run("report", work.root / "run", "--text").code == 0
