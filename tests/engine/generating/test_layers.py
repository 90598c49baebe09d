"""`make layers`: it goes on where it stopped, on any executor, and refuses other options."""

import shutil
import time

import pytest

pytest.importorskip("embreex", reason="layers need Embree: depthgauge[render]")
pytest.importorskip("mitsuba", reason="pictures need Mitsuba: depthgauge[render]")

from depthgauge.engine.generating import layered_pairs as making
from depthgauge.engine.generating import made_things
from depthgauge.engine.running.executors import EXECUTORS
from depthgauge.engine.running.guard import Guard
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError
from depthgauge.synth.generators import generate
from depthgauge.synth.sets.layers import PairOptions, StageOptions

SMALL = {"pairs": 2, "width": 96, "height": 72, "samples": 8, "seed": 3}


@pytest.fixture
def copy(layered_pairs, tmp_path):
    return shutil.copytree(layered_pairs, tmp_path / "set")


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_finished_set_is_not_made_again(copy, monkeypatch):
    monkeypatch.setattr(making, "make_pair", lambda *a: pytest.fail("a pair was made again"))
    before, seen = contents(copy), []
    made = generate("layers", copy, **SMALL, progress=lambda *a: seen.append(a))
    assert contents(copy) == before
    assert made.samples == ("00000", "00001")
    assert made.facts["cameras_tried"] >= 2
    assert seen == [("starting", 2, 2)]


def test_other_options_are_refused_by_name(copy):
    with pytest.raises(CannotWrite, match=r"other options \(samples\).*--overwrite"):
        generate("layers", copy, **{**SMALL, "samples": 9})


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CannotWrite, match="other files"):
        generate("layers", tmp_path, **SMALL)


@pytest.mark.long
def test_a_pair_that_was_cut_off_is_made_again_with_the_same_bytes(copy):
    before = contents(copy)
    (copy / "00001" / "sample.json").unlink()
    (copy / "00001" / "layered_flow.npz").write_bytes(b"half")
    generate("layers", copy, **SMALL, workers=1)
    assert contents(copy) == before


def test_pairs_that_cannot_be_made_are_named_and_others_stay(tmp_path, monkeypatch):
    done = []

    def make_pair(root, number, options):
        if number == 1:
            raise DepthgaugeError("none of 400 cameras was kept.")
        done.append(number)
        (root / making.sample_id(number)).mkdir()
        (root / making.sample_id(number) / "sample.json").write_text("{}")

    monkeypatch.setattr(making, "make_pair", make_pair)
    monkeypatch.setattr(made_things, "Where", lambda workers, cluster: here)

    class here:  # noqa: N801  # stands for a Where
        @staticmethod
        def choice():
            return "here", {}

    with pytest.raises(BadData, match="pair 1: none of 400 cameras was kept; finished"):
        making.make_pairs(tmp_path / "set", range(3), PairOptions(StageOptions()))
    assert done == [0, 2]


# --- jobs on executors --------------------------------------------------------------------------


class Touching(Jobs):
    """Makes a file for each job; one of them ends its process."""

    def __init__(self, folder):
        self.folder = folder

    def do(self, job):
        if job.id == "bad":
            import os

            os._exit(3)
        if job.id == "wrong":
            raise DepthgaugeError("it cannot be done")
        (self.folder / job.id).write_text(str(time.time_ns()))

    def is_done(self, job):
        return (self.folder / job.id).is_file()


@pytest.mark.parametrize("name", ["here", "processes"])
def test_jobs_run_on_executors_and_one_that_fails_costs_only_itself(tmp_path, name):
    executor = EXECUTORS[name]
    jobs = [Job("one"), Job("wrong"), Job("two")]
    events = {e.task: e for e in executor.run(Touching(tmp_path), jobs, executor.spec.options())}
    assert set(events) == {"one", "wrong", "two"}
    assert "cannot be done" in events["wrong"].broken
    assert {p.name for p in tmp_path.iterdir()} == {"one", "two"}


def test_a_job_that_ends_its_process_twice_is_given_up(tmp_path):
    guard = Guard(Touching(tmp_path))
    try:
        events = {e.task: e for e in guard.run([Job("bad"), Job("one")])}
    finally:
        guard.close()
    assert "exit code 3" in events["bad"].broken
    assert not events["one"].broken
