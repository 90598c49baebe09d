"""The options that steps were last given are used again when all steps are done."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import FilePath

from depthgauge._options import Options
from depthgauge.capture import pipeline
from depthgauge.capture.registry import CaptureStep, StepPlan, StepSpec, step_function
from depthgauge.capture.step_options import plain_options, remember, remembered
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadData, Misuse
from depthgauge.sessions import Board, Session


class CleanOptions(Options):
    """Options of a step."""

    by_hand: FilePath | None = None
    """A file."""
    filter: str = "planes"
    """A word."""
    range_px: tuple[float, float] | None = None
    """Two numbers."""


SPEC = StepSpec("tidy", "Tidying", "Tidies up.", options=CleanOptions)


@pytest.fixture
def tidy(monkeypatch):
    """The function of a step, which is the only one that `run_steps` knows."""

    def plan(task, options):
        return StepPlan(lambda folder: StepOutput({"filter": options.filter}))

    step = CaptureStep(SPEC, step_function(SPEC, plan))
    monkeypatch.setattr(pipeline, "STEPS", {"tidy": step})
    monkeypatch.setattr(pipeline, "step_names", lambda: ("tidy",))
    return step.run


@pytest.fixture
def place(tmp_path):
    return SimpleNamespace(
        session=Session(tmp_path, "s", Board()), work=tmp_path / "work", file=tmp_path / "hand.json"
    )


def test_options_come_back_with_paths(tmp_path, monkeypatch):
    (tmp_path / "hand.json").touch()
    monkeypatch.chdir(tmp_path)
    given = CleanOptions(by_hand=Path("hand.json"), range_px=(1, 2))
    remember(tmp_path, "clean", given)
    remember(tmp_path, "check", CleanOptions(filter="planes"))
    monkeypatch.chdir("/")
    found = remembered(tmp_path)
    assert found == {
        "clean": {"by_hand": tmp_path / "hand.json", "range_px": [1.0, 2.0]},
        "check": {"filter": "planes"},
    }
    again = CleanOptions.checked(found["clean"], "clean")
    assert again.range_px == given.range_px
    assert plain_options(again) == {
        "by_hand": "hand.json",
        "filter": "planes",
        "range_px": [1.0, 2.0],
    }
    remember(tmp_path, "clean", CleanOptions(by_hand=None))
    assert remembered(tmp_path)["clean"] == {}


def test_a_file_of_the_earlier_name_is_read(tmp_path):
    old = {"clean": {"by_hand": {"file": "/hand.json"}, "filter": "none"}, "rectify": {}}
    (tmp_path / "told.json").write_text(json.dumps(old))
    expected = {"clean": {"by_hand": Path("/hand.json"), "filter": "none"}, "rectify": {}}
    assert remembered(tmp_path) == expected
    remember(tmp_path, "rectify", Options())
    assert remembered(tmp_path) == expected
    (tmp_path / "told.json").unlink()
    assert remembered(tmp_path) == expected, "the new file has everything"


def test_all_steps_run_with_defaults(tmp_path):
    assert remembered(tmp_path) == {}


@pytest.mark.parametrize("name", ["told.json", "step_options.json"])
@pytest.mark.parametrize("text", ["", "[]", '{"clean": 3}'])
def test_a_damaged_file_is_one_sentence(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadData, match=rf"{name}: cannot be read"):
        remembered(tmp_path)


def test_a_step_called_from_python_is_remembered(tidy, place):
    place.file.touch()
    assert tidy(place.session, place.work, filter="none", by_hand=place.file).fresh
    (step,) = pipeline.run_steps(place.session, place.work)
    assert not step.fresh
    assert step.options == {"by_hand": "hand.json", "filter": "none", "range_px": None}
    (step,) = pipeline.run_steps(place.session, place.work, options={"tidy": {"filter": "plain"}})
    assert step.options["filter"] == "plain"
    assert step.options["by_hand"] == "hand.json", "other options stay"
    (step,) = pipeline.run_steps(place.session, place.work, defaults=True)
    assert step.options == {"by_hand": None, "filter": "planes", "range_px": None}
    (step,) = pipeline.run_steps(place.session, place.work)
    assert not step.fresh, "the defaults are what it was last given"


def test_a_step_that_fails_is_not_remembered(tidy, place):
    tidy(place.session, place.work, filter="plain")
    with pytest.raises(Misuse, match=r"by_hand: .* must be a file that exists"):
        tidy(place.session, place.work, by_hand=place.file)
    assert remembered(place.work) == {"tidy": {"filter": "plain"}}


def test_nothing_is_written_where_nothing_changes(tidy, place):
    tidy(place.session, place.work, filter="plain")
    file = place.work / "step_options.json"
    before = file.stat().st_mtime_ns, file.stat().st_ino
    assert not tidy(place.session, place.work, filter="plain").fresh
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before


def test_a_killed_step_keeps_its_options(place, monkeypatch):
    """Ctrl-C and `kill -9` end the process in the middle; errors are something else."""
    ends = [KeyboardInterrupt(), BadData("no"), None]

    def plan(task, options):
        def make(folder):
            if (end := ends.pop(0)) is not None:
                raise end
            return StepOutput({"filter": options.filter})

        return StepPlan(make)

    step = CaptureStep(SPEC, step_function(SPEC, plan))
    monkeypatch.setattr(pipeline, "STEPS", {"tidy": step})
    monkeypatch.setattr(pipeline, "step_names", lambda: ("tidy",))
    with pytest.raises(KeyboardInterrupt):
        step.run(place.session, place.work, filter="plain")
    assert remembered(place.work) == {"tidy": {"filter": "plain"}}
    with pytest.raises(BadData):
        step.run(place.session, place.work, filter="none")
    assert remembered(place.work) == {"tidy": {"filter": "plain"}}, "an error gives them back"
    (done,) = pipeline.run_steps(place.session, place.work)
    assert done.options["filter"] == "plain"


def test_a_first_step_that_fails_leaves_no_options(place):
    def plan(task, options):
        def make(folder):
            raise BadData("no")

        return StepPlan(make)

    with pytest.raises(BadData):
        step_function(SPEC, plan)(place.session, place.work, filter="none")
    assert remembered(place.work) == {}


def test_options_survive_kill_9(place, tmp_path):
    """A real process, killed from outside while its step is made."""
    script = f"""
import time
from pathlib import Path
from pydantic import Field
from depthgauge._options import Options
from depthgauge.capture.registry import StepPlan, StepSpec, step_function
from depthgauge.sessions import Board, Session

class TidyOptions(Options):
    memory_gib: float = Field(default=2.0, description="A number.")

def plan(task, options):
    def make(folder):
        print("making", flush=True)
        time.sleep(60)
    return StepPlan(make)

spec = StepSpec("tidy", "Tidying", "Tidies up.", options=TidyOptions)
session = Session(Path({str(tmp_path)!r}), "s", Board())
step_function(spec, plan)(session, Path({str(place.work)!r}), memory_gib=0.01)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        said = process.stdout.readline()
        process.kill()
    assert said == b"making\n"
    assert remembered(place.work) == {"tidy": {"memory_gib": 0.01}}
