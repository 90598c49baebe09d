"""What must not change a number, lose an item or stop a run."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unicodedata

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.engine.running import guard as _guard
from depthgauge.engine.running.guard import Guard
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.running.run import run
from depthgauge.engine.running.task import Context, Task, task_id
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.store.load import load_run
from depthgauge.errors import BadData, WorkerLost
from depthgauge.methods import find_methods
from depthgauge.metrics import METRICS
from depthgauge.types import State


def mae(done, label, sample="s1"):
    return done.results[label, 0].samples[sample]["mae@all"].value


def test_missing_pixels_of_a_method_are_missing_for_a_twin(golden_middlebury, tmp_path):
    """The program takes NaN for a number that is never bad; a run must not hand it one."""
    data = next(p.parent.parent for p in golden_middlebury.rglob("disp0GT.pfm"))
    sample = sorted(p.parent.name for p in data.rglob("disp0GT.pfm"))[0]
    truth = dg.read_map(data / sample / "disp0GT.pfm")
    made = np.full(truth.shape, 7.0, np.float32)
    made[:, ::3] = np.inf
    (tmp_path / "files" / sample).mkdir(parents=True)
    dg.write_map(tmp_path / "files" / sample / "disp0X.pfm", made)
    alone = dg.evaluate(
        "middlebury-toolkit", data, tmp_path / "files", name="X", only=[sample]
    ).samples[sample]

    def half(inputs):
        return np.where(np.isinf(made), np.nan, made)

    done = run("middlebury-toolkit", data, [half], tmp_path / "run", workers=0, only=[sample])
    found = done.results["half", 0].samples[sample]
    assert {k: s.value for k, s in found.items()} == {k: s.value for k, s in alone.items()}
    assert alone["invalid:1@all"].value > 30


@pytest.fixture
def scored(pairs, trial, tmp_path):
    body = "if inputs['sample'] == 's2': raise ValueError('licence')\nreturn np.full((h, w), 5.0)"
    methods = [pairs.noisy("one"), pairs.method("fails", body)]
    run(trial(), pairs.data, methods, tmp_path / "run", workers=0)
    return tmp_path / "run"


def test_a_rescored_run_can_be_scored_again(scored, trial, tmp_path):
    skip = trial(missing="skip")
    once = rescore(scored, skip, tmp_path / "once", workers=0)
    twice = rescore(tmp_path / "once", trial(), tmp_path / "twice", workers=0)
    first = load_run(scored)
    assert mae(twice, "one") == mae(first, "one") == mae(once, "one")
    assert twice.results["one", 0].to_json() == first.results["one", 0].to_json()
    assert "licence" in twice.results["fails", 0].failed["s2"]


def test_a_lost_estimate_is_not_a_failure_of_the_method(scored, trial, tmp_path):
    shutil.rmtree(scored / "estimates" / "one" / "s1")
    with pytest.raises(BadData, match=r"one: s1: .*estimates/one/s1: has no estimate"):
        rescore(scored, trial(missing="skip"), tmp_path / "again", workers=0)


def test_scores_of_other_estimates_are_not_mixed(scored, pairs, trial, tmp_path):
    other = tmp_path / "other"
    run(trial(), pairs.data, [pairs.noisy("one", 9.0)], other, workers=0)
    rescore(scored, trial(missing="skip"), tmp_path / "again", workers=0)
    with pytest.raises(BadData, match="holds scores of other estimates"):
        rescore(other, trial(missing="skip"), tmp_path / "again", workers=0)
    with pytest.raises(BadData, match="holds scores of other estimates"):
        run(trial(missing="skip"), pairs.data, ["constant"], tmp_path / "again", workers=0)


def test_pictures_and_oracles_are_refused_when_the_data_changed(scored, pairs):
    maps = RunMaps(load_run(scored))
    assert maps.all_prepared("s1")
    truth = dg.read_map(pairs.data / "truth" / "s1.pfm")
    dg.write_map(pairs.data / "truth" / "s1.pfm", truth + 1)
    with pytest.raises(BadData, match="its truth has changed since the run"):
        RunMaps(load_run(scored)).all_prepared("s1")


def test_an_estimate_of_another_sample_is_not_taken(pairs, trial, tmp_path):
    """As on a disk that does not tell `a` from `A`."""
    folder = tmp_path / "run"
    run(trial(), pairs.data, [pairs.noisy("one")], folder, workers=0)
    right = mae(load_run(folder), "one")
    shutil.rmtree(folder / "items")
    (folder / "scores.parquet").unlink()
    shutil.rmtree(folder / "estimates/one/s1")
    shutil.copytree(folder / "estimates/one/s2", folder / "estimates/one/s1")
    assert mae(run(trial(), pairs.data, [pairs.noisy("one")], folder, workers=0), "one") == right


@pytest.mark.parametrize(
    "other",
    ["S1", unicodedata.normalize("NFD", "s\u00e9"), "s\u017f1"],
    ids=["case", "NFD", "fold"],
)
def test_names_that_some_disks_cannot_tell_apart_are_refused(pairs, trial, tmp_path, other):
    first = {"S1": "s1", "s\u017f1": "ss1"}.get(other, "s\u00e9")
    for side in ("left", "right"):
        shutil.copy(pairs.data / side / "s3.png", pairs.data / side / f"{first}.png")
        shutil.copy(pairs.data / side / "s3.png", pairs.data / side / f"{other}.png")
    for name in (first, other):
        shutil.copy(pairs.data / "truth" / "s3.pfm", pairs.data / "truth" / f"{name}.pfm")
    with pytest.raises(BadData, match="would be one folder on some disks"):
        run(trial(), pairs.data, ["constant"], tmp_path / "run", workers=0)


@pytest.mark.long
def test_a_method_leaves_nothing_behind_for_the_next(pairs, trial, tmp_path):
    rude = pairs.method(
        "rude",
        "import os, random, sys\nos.environ['DEPTH'] = '9'\nos.chdir('/')\nnp.seterr(all='raise')\n"
        "sys.path.insert(0, '/nowhere')\nrandom.seed(5)\nnp.random.seed(5)\n"
        "return np.ones((h, w))",
    )
    shy = pairs.method(
        "shy",
        "import os, sys\nassert 'DEPTH' not in os.environ and os.getcwd() != '/'\n"
        "assert '/nowhere' not in sys.path and np.geterr()['over'] != 'raise'\n"
        "return 5 + np.random.normal(size=(h, w))",
    )
    beside = run(trial(), pairs.data, [rude, shy], tmp_path / "a", workers=1, only=["s1", "s2"])
    alone = run(trial(), pairs.data, [shy], tmp_path / "b", workers=1, only=["s1", "s2"])
    assert not beside.results["shy", 0].failed
    assert mae(beside, "shy") == mae(alone, "shy")


def test_an_input_that_cannot_be_read_is_nobodys_failure(pairs, trial, tmp_path):
    (pairs.data / "left" / "s1.png").write_bytes(b"garbage")
    for n, method in enumerate(("bm", pairs.noisy("bare"))):
        with pytest.raises(BadData, match=r"s1\.png"):
            run(trial(), pairs.data, [method], tmp_path / f"run{n}", workers=0)
        assert len(list((tmp_path / f"run{n}" / "items").glob("*.json"))) == 9


def test_a_relative_folder_of_data_and_a_method_that_moves(pairs, trial, tmp_path, monkeypatch):
    monkeypatch.chdir(pairs.data.parent)
    mover = pairs.method("mover", "import os\nos.chdir('/')\nreturn np.ones((h, w))")
    done = run(trial(), pairs.data.name, [mover], tmp_path / "run", workers=1)
    assert not done.results["mover", 0].failed


@pytest.mark.long
def test_a_method_that_was_never_finished_keeps_nobody_from_the_others(pairs, trial, tmp_path):
    folder, first = tmp_path / "run", pairs.noisy("one")
    run(trial(), pairs.data, [first], folder, workers=0)
    broken = pairs.method("two", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        run(trial(), pairs.data, [first, broken], folder, workers=0)
    assert [entrant.label for entrant in load_run(folder).entrants] == ["one"]
    assert [e.label for e in run(trial(), pairs.data, [first], folder, workers=0).entrants] == [
        "one"
    ]
    mended = pairs.noisy("two", 4.0)
    both = run(trial(), pairs.data, [first, mended], folder, workers=0)
    assert [entrant.label for entrant in both.entrants] == ["one", "two"]
    run(trial(), pairs.data, [first, mended], tmp_path / "at-once", workers=0)
    for name in ("scores.parquet", "samples.parquet", "curves.parquet"):
        assert (folder / name).read_bytes() == (tmp_path / "at-once" / name).read_bytes()


def test_a_folder_of_a_run_that_was_killed_at_its_first_step(pairs, trial, tmp_path):
    (tmp_path / "run" / "items").mkdir(parents=True)
    (tmp_path / "run" / ".run.json.1-ab.part").write_text("{")
    (tmp_path / "run" / "run.lock").touch()
    run(trial(), pairs.data, ["constant"], tmp_path / "run", workers=0)
    assert not list((tmp_path / "run").rglob(".*.part"))


def test_retrying_calls_the_method_again(pairs, trial, tmp_path):
    flag = tmp_path / "fixed"
    body = f"import os\ncut = 0 if os.path.exists({str(flag)!r}) else 1\n"
    name = pairs.method("cuts", body + "return np.ones((h, w - cut))")
    call = {"workers": 0, "only": ["s0"]}
    first = run(trial(), pairs.data, [name], tmp_path / "run", **call)
    assert "39x24" in first.results["cuts", 0].failed["s0"]
    flag.touch()
    again = run(trial(), pairs.data, [name], tmp_path / "run", retry_failed=True, **call)
    assert not again.results["cuts", 0].failed


@pytest.mark.parametrize("workers", [0, 1])
def test_what_a_method_says_is_cut_and_made_fit_for_tables(pairs, trial, tmp_path, workers):
    bodies = {
        "odd": "raise OSError('no file ' + chr(0xDCFF))",
        "long": "raise ValueError('x' * 5_000_000)",
    }
    methods = [pairs.method(name, body) for name, body in bodies.items()]
    done = run(trial(), pairs.data, methods, tmp_path / "run", workers=workers, only=["s0"])
    assert "no file \\udcff" in done.results["odd", 0].failed["s0"]
    assert len(done.results["long", 0].failed["s0"]) <= 1000
    assert max(p.stat().st_size for p in (tmp_path / "run" / "items").iterdir()) < 20_000


@pytest.mark.parametrize("workers", [0, 1])
def test_odd_extras_are_no_failure(pairs, trial, tmp_path, workers):
    body = (
        "from depthgauge import Estimate\n"
        "odd = {'usage': {'a': 1}, 'path': 5, 'steps': 10**500, 'note': chr(0xDCFF), 7: 8}\n"
        "return Estimate(np.ones((h, w), np.float32), 'disparity', extras=odd)"
    )
    done = run(
        trial(), pairs.data, [pairs.method("odd", body)], tmp_path / "run", workers=workers,
        only=["s0"],
    )  # fmt: skip
    assert not done.results["odd", 0].failed


def test_a_failed_method_where_the_sample_cannot_be_aligned(pairs, trial, tmp_path):
    from depthgauge.io import write_image

    for n in range(1, 10):  # s0 has no mask
        (pairs.data / "masks" / "flat").mkdir(parents=True, exist_ok=True)
        write_image(pairs.data / "masks/flat" / f"s{n}.png", np.full((24, 40), 255, np.uint8))
    made = trial(align={"kind": "scale", "fit_on": "flat"})
    methods = [pairs.noisy("good"), pairs.method("bad", "raise ValueError('no')")]
    done = run(made, pairs.data, methods, tmp_path / "run", workers=0)
    assert "s0" not in done.samples
    assert sorted(done.results["bad", 0].failed) == [f"s{n}" for n in range(1, 10)]
    assert any(text.startswith("s0: ") for text in done.results["bad", 0].left_out)


def test_a_metric_with_values_of_its_own_survives_the_tables(pairs, trial, tmp_path, monkeypatch):
    from depthgauge.metrics import metric
    from depthgauge.units import Unit

    list(METRICS)

    @metric(
        "midway", unit=next(iter(Unit)), better="lower", bounds=(0, np.inf), of=("disparity",),
        cite="common", formula="1", revision=1,
    )  # fmt: skip
    class Midway:
        """The middle of the largest and the smallest error, and the mean."""

        def measure(estimate, truth, region):
            errors = np.abs(estimate - truth)[region & np.isfinite(estimate)]
            sums = np.array([errors.sum(dtype=np.float64)])
            return State(errors.size, 0, sums, np.sort(errors))

        def finish(state, *, missing):
            return float(state.sums[0] / state.count + state.values[0] + state.values[-1])

    monkeypatch.setitem(METRICS._things, "midway", METRICS["midway"])
    try:
        made = trial(pool="pixel", scores=[{"metric": "midway"}, {"metric": "quantile"}])
        done = run(made, pairs.data, [pairs.noisy("one")], tmp_path / "run", workers=0)
        alone = dg.evaluate(made, pairs.data, tmp_path / "run" / "estimates" / "one")
        assert dict(done.results["one", 0].summary) == dict(alone.summary)
        assert dict(done.results["one", 0].samples) == dict(alone.samples)
    finally:
        METRICS._things.pop("midway", None)
        METRICS._homes.pop("midway", None)


@pytest.fixture
def guard(pairs, trial, tmp_path):
    """A guard and tasks of one method that waits for a moment."""
    from depthgauge.datasets import DATASETS

    name = pairs.method("waits", "import time; time.sleep(0.1)\nreturn np.ones((h, w))")
    protocol = trial()
    samples = list(DATASETS["folder"].samples(pairs.data))
    (tmp_path / "run" / "items").mkdir(parents=True)
    methods = find_methods([name])
    context = Context(tmp_path / "run", Rules.of(protocol, samples), "folder", methods)
    tasks = [
        Task(task_id(protocol.hash, "waits", methods[0].options_hash, 0, s.id), 0, 0, s)
        for s in samples
    ]
    made = Guard(context)
    yield made, tasks
    made.close()


@pytest.mark.long
def test_a_worker_that_dies_idle_is_started_again(guard):
    made, tasks = guard
    assert len(list(made.run(tasks[:1]))) == 1
    os.kill(made._worker._process.pid, signal.SIGKILL)
    time.sleep(0.3)
    events = list(made.run(tasks[1:4]))
    assert [event.failed for event in events] == ["", "", ""]
    # Of all three: on a busy machine some events are seen late, and the next ones right after them.
    assert sum(event.seconds for event in events) >= 0.2


@pytest.mark.parametrize(("kills", "survives"), [(2, True), (3, False)])
def test_a_worker_that_is_killed_while_it_starts_is_started_again(
    guard, monkeypatch, kills, survives
):
    made, tasks = guard
    started = []
    begin = _guard._Worker.__init__

    def killed(worker, context):
        begin(worker, context)
        started.append(worker)
        if len(started) <= kills:
            worker._process.kill()

    monkeypatch.setattr(_guard._Worker, "__init__", killed)
    if survives:
        assert [event.failed for event in made.run(tasks[:1])] == [""]
    else:
        with pytest.raises(WorkerLost, match=r"could not be started: .*SIGKILL"):
            list(made.run(tasks[:1]))
    assert len(started) == 3


def test_a_child_that_keeps_the_pipe_does_not_hide_a_death(pairs, trial, tmp_path):
    note = tmp_path / "child"
    body = (
        "import os, time\nchild = os.fork()\nif child == 0:\n    time.sleep(600)\n    os._exit(0)\n"
        f"open({str(note)!r}, 'w').write(str(child))\nos._exit(3)"
    )
    began = time.monotonic()
    done = run(
        trial(), pairs.data, [pairs.method("forks", body)], tmp_path / "run", workers=1,
        only=["s0"], time_limit_s=500,
    )  # fmt: skip
    assert "exit code 3" in done.results["forks", 0].failed["s0"]
    assert time.monotonic() - began < 300
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(note.read_text()), signal.SIGKILL)


@pytest.mark.long
def test_a_method_whose_file_changes_on_the_way_says_so_in_one_sentence(guard, pairs):
    made, tasks = guard
    (pairs.root / "waits.py").write_text("def estimate(inputs):\n    return 1\n")
    events = list(made.run(tasks))
    assert len(events) == len(tasks)
    for event in events:  # no item is written: nobody's sample is lost by it
        assert "the file has changed since the run began" in event.broken
        assert "Traceback" not in event.broken


@pytest.mark.parametrize("times", [2, pytest.param(12, marks=pytest.mark.long)])
def test_a_process_that_ran_methods_ends_well(pairs, tmp_path, times):
    """Reading tables must not leave threads of Arrow that abort the process at its end."""
    script = (
        "import sys, depthgauge as dg\n"
        "from depthgauge.benchmarks import make_protocol\n"
        "p = make_protocol({'id': 't', 'version': 1, 'dataset': 'folder', 'quantity': 'disparity',"
        " 'pool': 'image', 'scores': [{'metric': 'mae'}]}, 't')\n"
        "dg.run(p, sys.argv[1], ['constant'], sys.argv[2], workers=0)\n"
    )
    for n in range(times):
        call = [sys.executable, "-c", script, str(pairs.data), str(tmp_path / f"run{n % 2}")]
        ended = subprocess.run(call, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


def test_seeds_can_be_added_later(pairs, trial, tmp_path):
    name = pairs.noisy("one")
    run(trial(), pairs.data, [name], tmp_path / "run", workers=0)
    more = run(trial(), pairs.data, [name], tmp_path / "run", workers=0, seeds=3)
    assert more.entrants[0].seeds == (0, 1, 2)
    run(trial(), pairs.data, [name], tmp_path / "whole", workers=0, seeds=3)
    for table in ("scores.parquet", "samples.parquet"):
        assert (tmp_path / "run" / table).read_bytes() == (tmp_path / "whole" / table).read_bytes()
    fewer = run(trial(), pairs.data, [name], tmp_path / "run", workers=0)
    assert fewer.entrants[0].seeds == (0, 1, 2)


def test_run_json_says_how_it_was_made(pairs, trial, tmp_path):
    run(trial(), pairs.data, ["constant"], tmp_path / "run", workers=0, time_limit_s=77)
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    (method,) = info["methods"]
    assert (method["threads"], method["time_limit_s"], method["kept"]) == (1, 77, True)
    assert info["unfinished"] == []
    assert info["finished"]


def test_one_method_and_one_sample_may_be_given_bare(pairs, trial, tmp_path):
    done = run(trial(), pairs.data, "constant", tmp_path / "run", workers=0, only="s1")
    assert done.samples == ("s1",)
