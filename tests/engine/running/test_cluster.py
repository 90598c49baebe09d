"""The same run on a real dask scheduler with two workers."""

import json
import platform
import subprocess
import sys
import time

import pytest

from depthgauge.engine.running.run import run
from depthgauge.errors import DepthgaugeError

pytest.importorskip("distributed", reason="needs the extra: pip install 'depthgauge[cluster]'")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler and two workers, processes of their own as on a cluster."""
    folder = tmp_path_factory.mktemp("dask")
    contact = folder / "scheduler.json"
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    join = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(contact)]
    logs = open(folder / "log", "w")  # noqa: SIM115  # closed below
    quiet = {"stdout": logs, "stderr": logs, "cwd": folder}
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(contact)]
    processes = [subprocess.Popen([*begin, *options], **quiet)]
    for _ in range(2):
        worker = [*join, "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        processes.append(subprocess.Popen(worker, **quiet))
    end = time.monotonic() + 300
    while not contact.exists():
        assert time.monotonic() < end, (folder / "log").read_text()
        time.sleep(0.1)
    yield json.loads(contact.read_text())["address"]
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        process.wait(300)
    logs.close()


def tables(folder):
    names = ("scores.parquet", "samples.parquet", "curves.parquet")
    return [(folder / name).read_bytes() for name in names]


def test_a_cluster_gives_the_same_bytes(scheduler, pairs, trial, tmp_path):
    methods = [pairs.noisy("one"), pairs.noisy("other", 2.0)]
    run(trial(), pairs.data, methods, tmp_path / "here", workers=0)
    steps = []
    run(
        trial(),
        pairs.data,
        methods,
        tmp_path / "there",
        cluster=scheduler,
        progress=lambda *step: steps.append(step),
    )
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
    assert steps[-1][1:] == (20, 20)
    told = json.loads((tmp_path / "there" / "run.json").read_text())["machines"]
    assert [machine["host"] for machine in told] == [platform.node()]


def test_a_crash_on_the_cluster_costs_its_sample(scheduler, pairs, trial, tmp_path):
    body = "import os\nif inputs['sample'] == 's3': os._exit(9)\nreturn np.ones((h, w))"
    hang = "if inputs['sample'] == 's1':\n    while True: pass\nreturn np.ones((h, w))"
    methods = [pairs.method("dies", body), pairs.method("hangs", hang)]
    done = run(trial(), pairs.data, methods, tmp_path / "run", cluster=scheduler, time_limit_s=2)
    assert list(done.results["dies", 0].failed) == ["s3"]
    assert "exit code 9" in done.results["dies", 0].failed["s3"]
    assert list(done.results["hangs", 0].failed) == ["s1"]


def test_a_full_disk_on_the_cluster_is_one_sentence(scheduler, pairs, trial, tmp_path):
    body = (
        "import os, shutil\n"
        f"shutil.rmtree({str(tmp_path / 'run' / 'items')!r}, ignore_errors=True)\n"
        "return np.ones((h, w))"
    )
    rude = [pairs.method("rude", body)]
    where = {"cluster": scheduler, "isolate": False}
    with pytest.raises(DepthgaugeError, match="cannot be written"):
        run(trial(), pairs.data, rude, tmp_path / "run", **where)


def test_nobody_there_is_one_sentence(pairs, trial, tmp_path, monkeypatch):
    monkeypatch.setattr("depthgauge.engine.running.executors.dask._CONNECT_S", 1)
    with pytest.raises(DepthgaugeError, match="no dask scheduler answers"):
        run(trial(), pairs.data, ["constant"], tmp_path / "run", cluster="tcp://127.0.0.1:9")
