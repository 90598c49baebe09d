"""Executors are plug-ins: a name, options, and a function that runs tasks."""

import numpy as np
import pytest

from depthgauge._options import Options
from depthgauge.engine.running.executors import EXECUTORS, Executor, ExecutorSpec, here
from depthgauge.engine.running.run import Where, run
from depthgauge.errors import Misuse, UnknownName
from depthgauge.synth.sets.stereo_scenes import write_scenes


class BackwardsOptions(Options):
    """Options of `backwards`."""

    pause_s: float = 0.0
    """Waits before each task."""


@pytest.fixture
def backwards():
    """An executor of another package: the last task first."""
    order = []

    def tasks_backwards(context, tasks, options):
        order.append(options.pause_s)
        for event in here.run(context, tasks[::-1], options):
            order.append(event.task)
            yield event

    spec = ExecutorSpec("backwards", "The last task first", options=BackwardsOptions)
    EXECUTORS.add("backwards", Executor(spec, tasks_backwards), __name__)
    yield order
    EXECUTORS.drop(__name__)


def flat(inputs):
    return np.full(inputs["left_image"].shape[:2], 9.0, np.float32)


def test_an_executor_of_another_package_gives_the_same_bytes(tmp_path, backwards):
    write_scenes(tmp_path / "data", size_px=(64, 48))
    call = ("stereo-scenes", tmp_path / "data", [flat])
    run(*call, tmp_path / "one", workers=0, only=["boxes", "fence"])
    again = {"executor": "backwards:pause_s=0.5", "only": ["boxes", "fence"]}
    run(*call, tmp_path / "two", **again)
    assert backwards[0] == 0.5
    assert len(backwards) == 3
    one, two = (tmp_path / name / "scores.parquet" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_wrong_executors_are_named_before_anything_runs(backwards):
    with pytest.raises(UnknownName, match="no executor 'forwards'"):
        Where(executor="forwards")
    with pytest.raises(Misuse, match="pause"):
        Where(executor="backwards:pause=3")


def test_workers_and_clusters_are_executors():
    assert Where(workers=0).choice() == ("here", {})
    assert Where(workers=3).choice() == ("processes", {"workers": 3})
    assert Where(cluster="tcp://a:1").choice() == ("dask", {"address": "tcp://a:1"})
    assert {"here", "processes", "dask"} <= set(EXECUTORS)
