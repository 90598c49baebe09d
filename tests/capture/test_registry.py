"""Steps and engines as plug-ins: found, ordered by what they declare, and checked."""

import inspect
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from depthgauge._options import Options
from depthgauge._registry import PluginWarning, Registry
from depthgauge.capture import pipeline, registry
from depthgauge.capture.registry import STEPS, StepSpec, step_function, step_names
from depthgauge.capture.spacetime import engine as matching
from depthgauge.capture.steps import StepOutput, do_step, read_step
from depthgauge.errors import BadData, BadDeclaration, UnknownName
from depthgauge.sessions import Board, Session

ORDER = (
    "calibrate",
    "register",
    "rectify",
    "spacetime",
    "refine",
    "clean",
    "check",
    "warp",
    "audit",
)

COUNT = '''
from pydantic import Field
from depthgauge._options import Options
from depthgauge.capture.registry import StepPlan, StepSpec
from depthgauge.capture.steps import StepOutput

class CountOptions(Options):
    times: int = Field(default=2, ge=1)
    """By what the count is multiplied."""

SPEC = StepSpec("count", "Counting", "Counts.", options=CountOptions, after=("rectify",))

def plan(task, options):
    """Counts the letters of a file."""
    text = task.before["rectify"].folder / "text.txt"

    def make(folder):
        task.progress("counting", 1, 1)
        return StepOutput({"letters": options.times * len(text.read_text())})

    return StepPlan(make)
'''


@pytest.fixture
def join(tmp_path, monkeypatch):
    """Registers modules of another distribution."""
    monkeypatch.syspath_prepend(tmp_path)
    assert set(STEPS) == set(ORDER)

    def joined(**modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        points = [EntryPoint(name, name, "depthgauge.plugins") for name in modules]
        monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: EntryPoints(points))
        fresh = Registry("step", "depthgauge.capture", collect=registry._collect)
        monkeypatch.setattr(registry, "STEPS", fresh)
        monkeypatch.setattr(pipeline, "STEPS", fresh)
        return fresh

    return joined


def test_the_order_follows_from_what_steps_declare():
    assert step_names() == ORDER
    for name in ORDER:
        spec = STEPS[name].spec
        before = ORDER[: ORDER.index(name)]
        assert set(spec.after) <= set(before)
        assert set(spec.after_if_done) <= set(before)


def test_a_step_of_another_package_is_done_with_all_others(join, tmp_path, monkeypatch):
    join(counting_steps=COUNT)
    assert step_names() == (*ORDER[:3], "count", *ORDER[3:])
    session, work = Session(tmp_path, "s", Board()), tmp_path / "work"

    def make(folder):
        (folder / "text.txt").write_text("abc")
        return StepOutput({})

    count = registry.STEPS["count"].run
    with pytest.raises(BadData, match="step 'rectify' is not done yet"):
        count(session, work)
    do_step(work, "rectify", make, options={}, revision=1)
    told = []
    step = count(session, work, times=3, progress=lambda *what: told.append(what))
    assert step.figures == {"letters": 9}
    assert told == [("counting", 1, 1)]
    assert read_step(work, "count").after == {"rectify": read_step(work, "rectify").key}
    assert not count(session, work, times=3).fresh
    assert count(session, work, times=1).figures == {"letters": 3}
    monkeypatch.setattr(pipeline, "step_names", lambda: ("count",))
    (step,) = pipeline.run_steps(session, work)
    assert (step.figures, step.fresh) == ({"letters": 3}, False), "with the options of last time"
    (step,) = pipeline.run_steps(session, work, defaults=True)
    assert step.figures == {"letters": 6}


def test_a_step_has_its_options_as_keywords():
    spec = STEPS["clean"].spec
    for function in (STEPS["clean"].run, step_function(spec, lambda task, options: None)):
        found = inspect.signature(function).parameters
        assert list(found)[:2] == ["session", "work"]
        assert set(spec.options.model_fields) < set(found)
        assert found["sigma_px"].default == 0.75
    for name, field in spec.options.model_fields.items():
        assert f"{name}: {field.description}" in STEPS["clean"].run.__doc__


@pytest.mark.parametrize("after", ["nowhere", "count"])
def test_a_step_without_a_place_is_named_and_the_others_work(join, after):
    join(counting_steps=COUNT.replace('after=("rectify",)', f'after=("{after}",)'))
    with pytest.warns(
        PluginWarning, match=f"The step 'count' is left out: it comes after '{after}'"
    ):
        assert step_names() == ORDER


def test_a_step_without_a_function_is_named_and_the_others_work(join):
    join(counting_steps=COUNT.replace("def plan", "def prepare"))
    with pytest.warns(PluginWarning, match="counting_steps has a SPEC but no function `plan`"):
        assert step_names() == ORDER


class _Required(Options):
    size: int
    """A size."""


class _Undescribed(Options):
    size: int = 1


class _Taken(Options):
    work: int = 1
    """A size."""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "A step"}, "lower-case letters"),
        ({"title": ""}, "needs a title"),
        ({"line": "Two\nlines."}, "a line that says what it does"),
        ({"revision": 0}, "revision must be 1 or more"),
        ({"options": dict}, "must be a class of Options"),
        ({"options": _Required}, "option 'size' has no default"),
        ({"options": _Undescribed}, "option 'size' has no docstring"),
        ({"options": _Taken}, "option 'work' must have another name"),
    ],
)
def test_wrong_declarations_are_refused(given, said):
    right = {"name": "count", "title": "Count", "line": "Counts."}
    StepSpec(**right)
    with pytest.raises(BadDeclaration, match=said):
        StepSpec(**{**right, **given})


def test_unknown_steps_are_named(tmp_path):
    session = Session(tmp_path, "s", Board())
    with pytest.raises(UnknownName, match="Did you mean 'clean'"):
        next(pipeline.run_steps(session, tmp_path, until="cleen"))
    with pytest.raises(UnknownName, match="Did you mean 'audit'"):
        next(pipeline.run_steps(session, tmp_path, options={"audits": {}}))


ENGINE = """
from depthgauge.capture.spacetime.engine import EngineSpec
from depthgauge.capture.spacetime.engines.classical import Classical

SPEC = EngineSpec("mild", "Classical, with small penalties.")

def engine():
    return Classical(step_penalty=1)

OLD = Classical(step_penalty=2)
"""


def test_an_engine_of_another_package_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mild_matching.py").write_text(ENGINE)
    points = EntryPoints([EntryPoint("m", "mild_matching", "depthgauge.plugins")])
    monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: points)
    fresh = Registry("engine", "depthgauge.capture.spacetime.engines", collect=matching._collect)
    monkeypatch.setattr(matching, "ENGINES", fresh)
    assert matching.engine_named("mild").step_penalty == 1
    assert matching.engine_named("classical").step_penalty == 20


def test_an_engine_of_the_old_group_works_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "older_matching.py").write_text(ENGINE + "WRONG = 3\n")
    group = "depthgauge.spacetime_engines"
    points = EntryPoints(
        [EntryPoint(name.lower(), f"older_matching:{name}", group) for name in ("OLD", "WRONG")]
    )
    monkeypatch.setattr("importlib.metadata.entry_points", points.select)
    with pytest.warns(DeprecationWarning, match="is read for one more release"):
        assert matching.engine_named("old").step_penalty == 2
    with (
        pytest.warns(DeprecationWarning, match="is read for one more release"),
        pytest.raises(BadData, match="'wrong' is not a matching engine"),
    ):
        matching.engine_named("wrong")
