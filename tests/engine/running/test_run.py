"""Runs: the same bytes however they are made, failures that cost their samples, nothing lost."""

import json
import math
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

import depthgauge as dg
from depthgauge._confine import WAYS, descendants
from depthgauge.analysis.boards.make_board import leaderboard_json, make_board
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.running.run import run
from depthgauge.engine.store.load import load_run
from depthgauge.errors import (
    BadData,
    BadFile,
    DepthgaugeError,
    Misuse,
    NothingScored,
    RunWarning,
)

SAME = ("scores.parquet", "samples.parquet", "curves.parquet")


def tables(folder):
    return {name: (folder / name).read_bytes() for name in SAME}


@pytest.fixture
def two(pairs):
    return [pairs.noisy("one"), pairs.noisy("other", 3.0)]


@pytest.mark.parametrize("counts", [(2,), pytest.param((1, 5), marks=pytest.mark.long)])
def test_the_number_of_workers_does_not_change_a_byte(pairs, two, trial, tmp_path, counts):
    made = {}
    for workers in (0, *counts):
        run(trial(), pairs.data, two, tmp_path / f"w{workers}", workers=workers)
        made[workers] = tables(tmp_path / f"w{workers}")
    assert all(made[workers] == made[0] for workers in counts)


def test_what_a_run_holds_is_what_evaluate_says(pairs, trial, tmp_path):
    done = run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
    alone = dg.evaluate(trial(), pairs.data, tmp_path / "run" / "estimates" / "one")
    assert done.results["one", 0].to_json() == alone.to_json()
    assert done.samples == tuple(f"s{n}" for n in range(10))
    again = load_run(tmp_path / "run")
    assert again.results["one", 0].to_json() == alone.to_json()
    assert again.results["one", 0].samples["s3"] == done.results["one", 0].samples["s3"]


@pytest.mark.parametrize("pool", ["image", "pixel", "scene"])
@pytest.mark.parametrize("align", ["none", "scale_shift"])
def test_scores_and_states_survive_the_tables(pairs, trial, tmp_path, pool, align):
    made = trial(pool=pool, align={"kind": align})
    done = run(made, pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
    alone = dg.evaluate(made, pairs.data, tmp_path / "run" / "estimates" / "one")
    assert dict(done.results["one", 0].samples) == dict(alone.samples)
    assert dict(done.results["one", 0].summary) == dict(alone.summary)


def test_the_columns_of_the_score_table(pairs, two, trial, tmp_path):
    run(trial(), pairs.data, two, tmp_path / "run", workers=0)
    table = pq.read_table(tmp_path / "run" / "scores.parquet")
    named = "benchmark method options_hash seed sample region metric params value count missing"
    assert set(named.split()) <= set(table.column_names)
    assert pq.ParquetFile(tmp_path / "run" / "scores.parquet").num_row_groups == 1
    rows = table.to_pylist()
    assert len(rows) == 2 * 10 * 6
    keys = [(row["method"], row["seed"], row["sample"]) for row in rows]
    assert keys == sorted(keys)
    first = rows[0]
    assert (first["benchmark"], first["method"], first["metric"]) == ("trial", "one", "badpix")
    assert json.loads(first["params"]) == {"threshold": 1.0}
    assert first["value"] == 100 * (first["state"][0] + first["missing"]) / (
        first["count"] + first["missing"]
    )


def test_curves_count_what_badpix_counts(pairs, trial, tmp_path):
    from depthgauge.engine.store.record import THRESHOLDS

    done = run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
    for name in done.samples:
        curve = done.curves["one", 0][name]
        score = done.results["one", 0].samples[name]["badpix:3@all"]
        within = curve.within[THRESHOLDS.index(3.0)]
        assert curve.count - within == score.total - score.missing
        assert (curve.count, curve.missing) == (score.count, score.missing)


BAD = {
    "raises": ("raise ValueError('no such luck')", "crashed with ValueError: no such luck"),
    "exits": ("import sys; sys.exit(3)", "SystemExit"),
    "dies": ("import os; os._exit(7)", "ended with exit code 7"),
    "segfaults": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "hangs": ("while True: pass", "ran longer than 2 s"),
    "nan": ("return np.full((h, w), np.nan)", "no finite value"),
    "small": ("return np.ones((h, w - 1))", "39x24"),
    "flow": ("return np.ones((h, w, 2))", "expected (H, W)"),
    "text": ("return 'hello'", "str"),
    "none": ("return None", "None"),
}


def test_bad_methods_cost_their_samples_and_the_others_go_on(pairs, trial, tmp_path):
    """Each fails on two samples in its own way; all other samples are scored."""
    files = [pairs.noisy("good")]
    for name, (body, _) in BAD.items():
        fine = "    return np.full((h, w), 5.0)"
        files.append(
            pairs.method(name, f"if inputs['sample'] not in ('s2', 's7'):\n{fine}\n{body}")
        )
    only = ["s1", "s2", "s3", "s7"]
    done = run(trial(), pairs.data, files, tmp_path / "run", workers=2, only=only, time_limit_s=2)
    assert not done.results["good", 0].failed
    for name, (_, why) in BAD.items():
        result = done.results[name, 0]
        assert sorted(result.failed) == ["s2", "s7"], name
        assert why in result.failed["s2"], (name, result.failed["s2"])
        assert result.samples["s2"]["badpix:1@all"].value == 100
        assert result.samples["s2"]["mae@all"].why == "missing"
        assert math.isnan(result.summary["mae@all"].value)
        assert result.samples["s1"]["badpix:1@all"].value < 101
        assert result.samples["s1"]["mae@all"].why is None


def test_what_a_method_prints_stays_out_of_the_way(pairs, trial, tmp_path):
    body = "print('x' * 200000)\nimport os; os.write(1, b'\\x00' * 9)\nreturn np.ones((h, w))"
    done = run(trial(), pairs.data, [pairs.method("chatty", body)], tmp_path / "run", workers=1)
    assert not done.results["chatty", 0].failed


def test_a_function_runs_in_this_process(pairs, trial, tmp_path):
    seen = []

    def mine(inputs):
        seen.append(sorted(inputs))
        return np.full(inputs["left_image"].shape[:2], 4.0)

    done = run(trial(), pairs.data, [mine], tmp_path / "run", workers=0, only=["s1"])
    assert done.results["mine", 0].samples["s1"]["mae@all"].value == 0
    assert not [name for name in seen[0] if "truth" in name or name == "disparity"]
    with pytest.raises(Misuse, match="put the function into a file"):
        run(trial(), pairs.data, [mine], tmp_path / "again", workers=1, only=["s1"])


def test_time_and_memory_are_recorded(pairs, trial, tmp_path):
    body = "import time; time.sleep(0.2)\nblock = np.ones(30_000_000)\nreturn np.ones((h, w))"
    done = run(
        trial(), pairs.data, [pairs.method("slow", body)], tmp_path / "run", workers=1, only=["s0"]
    )
    (timing,) = done.timings
    assert timing.time_s >= 0.2
    assert timing.peak_memory_mb > 240
    about = json.loads((tmp_path / "run/estimates/slow/s0/estimate.json").read_text())
    assert about["time_s"] == timing.time_s
    assert about["peak_memory_mb"] == timing.peak_memory_mb


def test_a_second_call_does_nothing_and_another_method_is_added(pairs, two, trial, tmp_path):
    folder = tmp_path / "run"
    run(trial(), pairs.data, two[:1], folder, workers=0)
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "items").iterdir()}
    table = (folder / "scores.parquet").stat().st_mtime_ns
    steps = []
    run(trial(), pairs.data, two[:1], folder, workers=0, progress=lambda *a: steps.append(a))
    assert not steps
    assert (folder / "scores.parquet").stat().st_mtime_ns == table
    both = run(trial(), pairs.data, two, folder, workers=0)
    assert {label for label, _ in both.results} == {"one", "other"}
    after = {path.name: path.stat().st_mtime_ns for path in (folder / "items").iterdir()}
    assert all(after[name] == when for name, when in before.items())
    run(trial(), pairs.data, two, tmp_path / "at-once", workers=0)
    assert tables(folder) == tables(tmp_path / "at-once")


def test_failed_items_are_tried_again_only_when_asked(pairs, trial, tmp_path):
    flag = tmp_path / "works-now"
    body = f"import os\nif not os.path.exists({str(flag)!r}): raise OSError('not yet')\n"
    body += "return np.ones((h, w))"
    name = pairs.method("moody", body)
    folder = tmp_path / "run"
    first = run(trial(), pairs.data, [name], folder, workers=0, only=["s0", "s1"])
    assert len(first.results["moody", 0].failed) == 2
    flag.touch()
    again = run(trial(), pairs.data, [name], folder, workers=0, only=["s0", "s1"])
    assert len(again.results["moody", 0].failed) == 2
    tried = run(
        trial(), pairs.data, [name], folder, workers=0, only=["s0", "s1"], retry_failed=True
    )
    assert not tried.results["moody", 0].failed


def test_seeds_are_separate_items(pairs, trial, tmp_path):
    done = run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0, seeds=3)
    values = [done.results["one", seed].summary["mae@all"].value for seed in range(3)]
    assert len(set(values)) == 3
    assert (tmp_path / "run/estimates/one@2/s0/disparity.npy").is_file()


def test_estimates_can_be_dropped(pairs, trial, tmp_path):
    run(trial(), pairs.data, [pairs.noisy()], tmp_path / "run", workers=0, keep_estimates=False)
    assert not (tmp_path / "run" / "estimates").exists()
    with pytest.raises(BadData, match="not kept"):
        rescore(tmp_path / "run", trial(missing="skip"), tmp_path / "new", workers=0)


def test_stored_estimates_are_not_made_again(pairs, trial, tmp_path):
    count = tmp_path / "calls"
    body = f"with open({str(count)!r}, 'a') as f: f.write('x')\nreturn np.ones((h, w))"
    name = pairs.method("counted", body)
    folder = tmp_path / "run"
    run(trial(), pairs.data, [name], folder, workers=0)
    assert len(count.read_text()) == 10
    shutil.rmtree(folder / "items")
    (folder / "scores.parquet").unlink()
    (folder / "estimates/counted/s4/disparity.npy").write_bytes(b"damaged")
    run(trial(), pairs.data, [name], folder, workers=0)
    assert len(count.read_text()) == 11


def test_rescore_agrees_with_a_run_of_that_protocol(pairs, two, trial, tmp_path):
    other = trial(id="other", missing="skip", scores=[{"metric": "badpix", "threshold": 2}])
    run(trial(), pairs.data, two, tmp_path / "run", workers=0)
    again = rescore(tmp_path / "run", other, tmp_path / "again", workers=2)
    run(other, pairs.data, two, tmp_path / "direct", workers=0)
    assert tables(tmp_path / "again") == tables(tmp_path / "direct")
    assert again.protocol.hash == other.hash
    assert [entrant.label for entrant in again.entrants] == ["one", "other"]


def test_rescore_reads_the_files_of_a_folder_method(folders, trial, tmp_path):
    method = f"mine=folder:{folders.estimates}"
    run(trial(), folders.data, [method], tmp_path / "run", workers=0)
    again = rescore(tmp_path / "run", trial(missing="skip"), tmp_path / "again", workers=0)
    alone = dg.evaluate(trial(missing="skip"), folders.data, folders.estimates)
    assert again.results["mine", 0].to_json() == alone.to_json()


def test_reading_a_folder_costs_the_method_nothing(pairs, trial, tmp_path):
    """A method that is run has its own costs; the same estimates read back have none."""
    made = run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
    assert all(t.time_s > 0 and t.peak_memory_mb > 0 for t in made.timings)
    folder = tmp_path / "files"
    for sample in made.samples:
        kept = tmp_path / "run" / "estimates" / "one" / sample / "disparity.npy"
        (folder / sample).mkdir(parents=True)
        shutil.copy(kept, folder / sample)
    read = run(trial(), pairs.data, [f"folder:{folder}"], tmp_path / "read", workers=0)
    assert len(read.timings) == len(made.samples)
    assert all(math.isnan(t.time_s) and math.isnan(t.cpu_s) for t in read.timings)
    assert all(math.isnan(t.peak_memory_mb) for t in read.timings)
    (row,) = make_board(read).rows
    assert math.isnan(row.time_s)
    assert math.isnan(row.peak_memory_mb)
    assert '"time_s":null' in json.dumps(leaderboard_json(read, make_board(read))).replace(" ", "")


def test_a_folder_may_bring_time_and_memory(pairs, trial, tmp_path):
    """What a run wrote beside its estimates is what they cost, wherever they are read."""
    made = run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
    folder = tmp_path / "run" / "estimates" / "one"
    about = json.loads((folder / "s3" / "estimate.json").read_text())
    (folder / "s3" / "estimate.json").write_text(json.dumps(about | {"time_s": 7.5}))
    (folder / "s4" / "estimate.json").write_text('{"peak_memory_mb": 12}')
    read = run(trial(), pairs.data, [f"folder:{folder}"], tmp_path / "read", workers=0)
    before = {t.sample: t for t in made.timings}
    after = {t.sample: t for t in read.timings}
    assert after["s0"].time_s == before["s0"].time_s
    assert after["s0"].peak_memory_mb == before["s0"].peak_memory_mb
    assert after["s3"].time_s == 7.5
    assert math.isnan(after["s4"].time_s)
    assert after["s4"].peak_memory_mb == 12
    assert (
        read.results["one", 0].to_json()["samples"] == made.results["one", 0].to_json()["samples"]
    )


@pytest.mark.parametrize("cost", ['"fast"', "-1", "true", "Infinity"])
def test_a_cost_that_is_no_number_is_named(pairs, trial, tmp_path, cost):
    run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
    folder = tmp_path / "run" / "estimates" / "one"
    (folder / "s3" / "estimate.json").write_text(f'{{"time_s": {cost}}}')
    read = run(trial(), pairs.data, [f"folder:{folder}"], tmp_path / "read", workers=0)
    assert "must be a number of at least 0, or null" in read.results["one", 0].failed["s3"]
    assert "time_s is" in read.results["one", 0].failed["s3"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"missing": "skip"}, "holds a run of trial under protocol"),
        ({"only": ["s1"]}, "holds a run of 10 samples, not of these 1"),
    ],
)
def test_another_run_is_not_mixed_in(pairs, trial, tmp_path, change, message):
    run(trial(), pairs.data, [pairs.noisy()], tmp_path / "run", workers=0)
    only = change.pop("only", ())
    with pytest.raises(BadData, match=message):
        run(trial(**change), pairs.data, [pairs.noisy()], tmp_path / "run", workers=0, only=only)


def test_a_changed_truth_is_noticed(pairs, two, trial, tmp_path):
    run(trial(), pairs.data, two[:1], tmp_path / "run", workers=0)
    truth = dg.read_map(pairs.data / "truth" / "s3.pfm")
    dg.write_map(pairs.data / "truth" / "s3.pfm", truth + 1)
    with pytest.raises(BadData, match="the truth of sample 's3' changed"):
        run(trial(), pairs.data, two, tmp_path / "run", workers=0)


def test_a_damaged_truth_is_named_and_the_rest_is_kept(pairs, trial, tmp_path):
    whole = (pairs.data / "truth" / "s3.pfm").read_bytes()
    (pairs.data / "truth" / "s3.pfm").write_bytes(whole[:100])
    with pytest.raises(BadData, match=r"s3\.pfm.*finished items are kept"):
        run(trial(), pairs.data, [pairs.noisy()], tmp_path / "run", workers=1)
    assert len(list((tmp_path / "run" / "items").glob("*.json"))) == 9
    with pytest.raises(BadData, match="not finished, 9 of 10"):
        load_run(tmp_path / "run")
    (pairs.data / "truth" / "s3.pfm").write_bytes(whole)
    assert len(run(trial(), pairs.data, [pairs.noisy()], tmp_path / "run", workers=0).samples) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": []}, "at least one method"),
        ({"seeds": 0}, "must be at least 1"),
        ({"workers": -1}, "0 or more"),
        ({"time_limit_s": 0}, "must be positive"),
        ({"methods": ["dis"]}, "estimates flow, but trial scores disparity"),
        ({"methods": ["sgm"]}, "Did you mean 'sgbm'"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_is_made(
    pairs, trial, tmp_path, arguments, message
):
    given = {"methods": ["constant"], "workers": 0, **arguments}
    with pytest.raises(DepthgaugeError, match=message):
        run(trial(), pairs.data, given.pop("methods"), tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()


def test_a_method_that_lacks_its_inputs_is_refused(folders, trial, tmp_path):
    with pytest.raises(Misuse, match="needs left_image and right_image; no sample has them"):
        run(trial(), folders.data, ["sgbm"], tmp_path / "run", workers=0)


def test_no_truth_no_run(pairs, trial, tmp_path):
    shutil.rmtree(pairs.data / "truth")
    with pytest.raises(NothingScored, match="nothing to score"):
        run(trial(), pairs.data, ["constant"], tmp_path / "run", workers=0)


def test_a_damaged_item_is_made_again_and_said(pairs, trial, tmp_path):
    folder = tmp_path / "run"
    run(trial(), pairs.data, [pairs.noisy("one")], folder, workers=0)
    before = tables(folder)
    first, second, third = sorted((folder / "items").iterdir())[:3]
    first.write_text(first.read_text().replace('"count":', '"count":1', 1))
    second.write_bytes(second.read_bytes()[:100])
    third.write_text("[" * 100_000)
    (folder / "scores.parquet").unlink()
    with pytest.warns(RunWarning, match="It is made again") as said:
        run(trial(), pairs.data, [pairs.noisy("one")], folder, workers=0)
    assert len(said) == 3
    assert tables(folder) == before


def test_folders_that_are_no_runs(pairs, trial, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(BadData, match="is not empty and holds no run"):
        run(trial(), pairs.data, ["constant"], tmp_path / "full", workers=0)
    (tmp_path / "file").touch()
    with pytest.raises(BadData, match="is a file"):
        run(trial(), pairs.data, ["constant"], tmp_path / "file", workers=0)
    with pytest.raises(BadData, match="is not a run folder"):
        load_run(tmp_path / "full")
    (tmp_path / "full" / "run.json").write_text("{")
    with pytest.raises(BadFile, match="is damaged"):
        load_run(tmp_path / "full")


def test_two_at_once_do_not_mix(pairs, trial, tmp_path):
    name = pairs.method("slow", "import time; time.sleep(0.5)\nreturn np.ones((h, w))")
    folder = tmp_path / "run"
    thread = threading.Thread(
        target=run,
        args=(trial(), pairs.data, [name], folder),
        kwargs={"workers": 1, "only": ["s0"]},
    )
    thread.start()
    while not (folder / "run.json").is_file():
        time.sleep(0.01)
    with pytest.raises(BadData, match="another process is working on this run"):
        run(trial(), pairs.data, [name], folder, workers=0, only=["s0"])
    thread.join()
    assert load_run(folder).samples == ("s0",)


def test_a_folder_that_cannot_be_written_is_one_sentence(pairs, trial):
    with pytest.raises(DepthgaugeError, match=r"cannot be written .*choose another folder"):
        run(trial(), pairs.data, ["constant"], "/proc/nowhere/run", workers=0)


SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests ignore Ctrl-C
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.running.run import run
import json
protocol = make_protocol(json.loads(sys.argv[1]), "trial")
run(protocol, sys.argv[2], sys.argv[4:], sys.argv[3], workers=2)
"""


def call(protocol, data, folder, methods):
    body = json.dumps(protocol.model_dump(mode="json", exclude_unset=True))
    return [sys.executable, "-c", SCRIPT, body, str(data), str(folder), *methods]


@pytest.mark.parametrize("wanted", [2, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_random_moments_nothing_is_lost(pairs, trial, tmp_path, wanted):
    """After each SIGKILL a finished item stays as it is, and the end is the same to the byte."""
    body = "import time; time.sleep(0.15)\n"
    body += "rng = np.random.default_rng(sum(map(ord, inputs['sample'])))\n"
    body += "return 5 + rng.normal(size=(h, w))"
    methods = [pairs.method(name, body) for name in ("one", "two", "three", "four")]
    folder, rng = tmp_path / "run", random.Random(3)
    seen: dict[str, bytes] = {}
    kills = 0
    # A run that ends is begun again from an empty folder, until enough have been killed.
    while kills < wanted:
        process = subprocess.Popen(
            call(trial(), pairs.data, folder, methods), start_new_session=True
        )
        try:
            process.wait(rng.uniform(0.3, 3.0))
        except subprocess.TimeoutExpired:
            kills += 1
        with_group = rng.random() < 0.5
        if process.poll() is None:
            (os.killpg if with_group else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        now = {p.name: p.read_bytes() for p in (folder / "items").glob("*.json")}
        for name, content in seen.items():
            # An orphaned worker may finish the item that it was at; what is scored is the same.
            assert name in now, "a finished item is lost"
            assert strip(now[name]) == strip(content)
        seen = now
        if (folder / "scores.parquet").is_file() and kills < wanted:
            compare_with_whole(folder, pairs, trial, methods, tmp_path)
            shutil.rmtree(folder)
            seen = {}
    subprocess.run(call(trial(), pairs.data, folder, methods), check=True, timeout=600)
    compare_with_whole(folder, pairs, trial, methods, tmp_path)
    assert not list(folder.glob("**/*.part"))


def strip(content):
    body = json.loads(content)
    del body["timing"]
    return body


def compare_with_whole(folder, pairs, trial, methods, tmp_path):
    whole = tmp_path / "whole"
    if not whole.exists():
        run(trial(), pairs.data, methods, whole, workers=0)
    assert tables(folder) == tables(whole)


def test_workers_end_when_their_parent_is_killed(pairs, trial, tmp_path):
    body = f"open({str(tmp_path / 'busy')!r}, 'w').close()\n"
    name = pairs.method("endless", body + "while True: pass")
    process = subprocess.Popen(call(trial(), pairs.data, tmp_path / "run", [name]))
    wait_for(lambda: (tmp_path / "busy").exists())
    started = descendants(process.pid)  # workers, and the method's own processes
    assert len(started) >= 3
    process.kill()
    process.wait()
    wait_for(lambda: all(map(zombie, started)))


def zombie(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_for(condition, limit_s=300):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_full_disk_ends_the_run_and_nothing_is_lost(pairs, trial, tmp_path, workers):
    """A limit on the size of files stands for the disk; the maps of three methods do not fit."""
    small = pairs.noisy("small")
    body = "return np.full((h, w), float(int(inputs['sample'][1:]) + 3))"
    large = pairs.method("large", body)
    run(trial(), pairs.data, [small], tmp_path / "run", workers=0)
    items = {p.name: p.read_bytes() for p in (tmp_path / "run" / "items").iterdir()}
    limited = SCRIPT.replace("workers=2", f"workers={workers}").replace(
        "protocol =",
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3900, 3900))\nprotocol =",
    )
    (tmp_path / "run" / "run.json").chmod(0o644)
    command = call(trial(), pairs.data, tmp_path / "run", [small, large])
    command[2] = limited
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert "CannotWrite" in last
    assert "cannot be written: File too large" in last
    now = {p.name: p.read_bytes() for p in (tmp_path / "run" / "items").iterdir()}
    assert all(now[name] == content for name, content in items.items())
    assert not list((tmp_path / "run").glob("**/*.part"))
    both = run(trial(), pairs.data, [small, large], tmp_path / "run", workers=0)
    assert {label for label, _ in both.results} == {"small", "large"}


def test_ctrl_c_keeps_what_is_finished(pairs, trial, tmp_path):
    name = pairs.method("slow", "import time; time.sleep(0.2)\nreturn np.ones((h, w))")
    process = subprocess.Popen(
        call(trial(), pairs.data, tmp_path / "run", [name]), stderr=subprocess.PIPE
    )
    wait_for(lambda: len(list((tmp_path / "run" / "items").glob("*.json"))) >= 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode != 0
    done = run(trial(), pairs.data, [name], tmp_path / "run", workers=0)
    assert not done.results["slow", 0].failed


def test_the_time_limit_of_the_run_is_that_of_commands_too(pairs, trial, tmp_path):
    sleeper = f"sleeper=command:{sys.executable} -c 'import time; time.sleep(600)' {{out}}"
    began = time.monotonic()
    done = run(
        trial(), pairs.data, [sleeper], tmp_path / "run", workers=1, only=["s0"], time_limit_s=1
    )
    assert "time limit of 1 s" in done.results["sleeper", 0].failed["s0"]
    assert time.monotonic() - began < 300


def test_what_a_program_wrote_is_kept(pairs, trial, tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import sys\nprint('halfway')\nsys.exit('no licence found')\n")
    method = f"command:{sys.executable} {script} {{left}} {{out}}"
    done = run(trial(), pairs.data, [method], tmp_path / "run", workers=0, only=["s0"])
    assert "no licence found" in done.results["fails", 0].failed["s0"]
    (item,) = (tmp_path / "run" / "items").glob("*.json")
    kept = json.loads(item.read_text())["details"]
    assert "exit_code: 1" in kept
    assert "no licence found" in kept
    assert "halfway" in kept


@pytest.mark.parametrize(("threads", "told"), [(1, "1"), (3, "3"), (0, None)])
def test_methods_are_told_how_many_threads_they_have(
    pairs, trial, tmp_path, monkeypatch, threads, told
):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    body = f"""import os
said = os.environ.get('OMP_NUM_THREADS'), os.environ['NUMBA_NUM_THREADS']
assert said == ({told!r}, '1'), said
assert os.environ['DEPTHGAUGE_THREADS'] == '1'
return np.ones((h, w))"""
    done = run(
        trial(),
        pairs.data,
        [pairs.method("asks", body)],
        tmp_path / "run",
        workers=1,
        threads=threads,
        only=["s0"],
    )
    assert not done.results["asks", 0].failed


def test_a_typo_in_a_region_is_found_before_any_method_runs(tmp_path):
    from depthgauge.errors import UnknownName
    from depthgauge.synth.sets.stereo_scenes import write_scenes

    write_scenes(tmp_path / "data", size_px=(64, 48))
    body = {
        "id": "typo",
        "version": 1,
        "dataset": "depthgauge",
        "quantity": "disparity",
        "pool": "image",
        "scores": [{"metric": "mae", "region": ["all", "visibel"]}],
    }
    called = []

    def method(inputs):
        called.append(inputs["sample"])
        return np.ones((48, 64), np.float32)

    from depthgauge.benchmarks.protocol import make_protocol

    with pytest.raises(UnknownName, match=r"no region 'visibel'\. Did you mean 'visible'"):
        dg.run(make_protocol(body, "test"), tmp_path / "data", [method], tmp_path / "run")
    assert called == []
    assert not (tmp_path / "run").exists()


def test_a_damaged_item_of_one_method_withholds_nobody_else_s_tables(pairs, trial, tmp_path):
    folder, one, two = tmp_path / "run", pairs.noisy("one"), pairs.noisy("two", 2.0)
    call = {"workers": 0, "only": ["s0", "s1"]}
    run(trial(), pairs.data, [one], folder, **call)
    of_one = sorted((folder / "items").iterdir())
    of_one[0].write_bytes(of_one[0].read_bytes()[:100])
    with pytest.warns(RunWarning, match=r"'one' is not in the tables \(.*is damaged"):
        done = run(trial(), pairs.data, [two], folder, **call)
    assert [entrant.label for entrant in done.entrants] == ["two"]
    with pytest.warns(RunWarning, match="It is made again"):
        both = run(trial(), pairs.data, [one, two], folder, **call)
    assert {entrant.label for entrant in both.entrants} == {"one", "two"}
    of_one[1].unlink()
    (folder / "scores.parquet").unlink()
    with pytest.warns(RunWarning, match=r"'one' is not in the tables \(some of its items are gone"):
        run(trial(), pairs.data, [two], folder, **call)
    run(trial(), pairs.data, [one], folder, **call)
    run(trial(), pairs.data, [one, two], tmp_path / "at-once", **call)
    assert tables(folder) == tables(tmp_path / "at-once")


def test_a_method_without_all_its_items_withholds_nobody_else_s_tables(pairs, trial, tmp_path):
    """One method reads a picture that the other one does not need, and that is damaged."""
    (pairs.data / "right" / "s1.png").write_bytes(b"garbage")
    plain = "constant:value=3"
    call = {"workers": 0, "only": ["s0", "s1"]}
    with pytest.raises(BadData, match=r"bm: s1: .*s1\.png"):
        run(trial(), pairs.data, ["bm", plain], tmp_path / "run", **call)
    assert [entrant.method for entrant in load_run(tmp_path / "run").entrants] == ["constant"]


@pytest.mark.long
def test_every_machine_that_took_part_is_recorded(pairs, trial, tmp_path):
    folder = tmp_path / "run"
    run(trial(), pairs.data, [pairs.noisy("one")], folder, workers=1, only=["s0"])
    (here,) = json.loads((folder / "run.json").read_text())["machines"]
    assert here["host"] == platform.node()
    assert here["numpy"] == np.__version__
    assert here["hidden_by"] in ("", *WAYS)
    other = folder / "machines" / "node7.json"
    other.write_text(json.dumps({**here, "host": "node7"}))
    (folder / "machines" / "torn.json").write_text("{")
    run(trial(), pairs.data, [pairs.noisy("two")], folder, workers=1, only=["s0"])
    told = json.loads((folder / "run.json").read_text())["machines"]
    assert sorted(machine["host"] for machine in told) == sorted(["node7", platform.node()])
