"""What is declared wrongly is refused when it registers, in one sentence that names the file."""

import math
import re
import types

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks.score_ids import make_spec, parse_metric
from depthgauge.datasets import DatasetSpec
from depthgauge.datasets import _dataset as datasets
from depthgauge.errors import BadDeclaration, BadScoreId
from depthgauge.methods import MethodOptions, MethodSpec
from depthgauge.methods import _spec as methods
from depthgauge.metrics import METRICS, Recipe, metric
from depthgauge.metrics.terms import ABS, mean
from depthgauge.perturbations import EFFECTS, effect, parse_perturbation, perturb_image
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS, SHARED_MAPS, derived, region, shared_map
from depthgauge.types import State
from depthgauge.units import Unit

GOOD = {
    "unit": Unit.QUANTITY,
    "better": "lower",
    "bounds": (0, math.inf),
    "of": ("disparity",),
    "cite": "us",
    "formula": "mean |e|",
}


@pytest.fixture(autouse=True)
def put_back(monkeypatch):
    """Whatever registers is gone after the test."""
    for registry in (METRICS, REGIONS, SHARED_MAPS, EFFECTS):
        assert len(registry)
        monkeypatch.setattr(registry, "_things", dict(registry._things))
        monkeypatch.setattr(registry, "_homes", dict(registry._homes))


def plain() -> Recipe:
    """A mean."""
    return mean(ABS)


def refusal(register, thing) -> str:
    with pytest.raises(BadDeclaration) as caught:
        register(thing)
    text = str(caught.value)
    assert re.match(rf"{re.escape(__file__)}(:\d+)?: ", text), text
    return text.partition(": ")[2].partition(": ")[2]


def test_a_good_one_is_taken_and_its_revision_is_one():
    metric("fine", **GOOD)(plain)
    assert METRICS["fine"].revision == 1
    assert dg.score([[1.0]], [[0.0]], "fine")["fine@all"].value == 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"unit": "px"},
            "unit is 'px' but must be a Unit; write Unit.QUANTITY, the unit of the quantity "
            "itself (px, m).",
        ),
        ({"unit": "%"}, "unit is '%' but must be a Unit; write Unit.PERCENT."),
        ({"better": "smaller"}, "better is 'smaller' but must be one of lower, higher, zero."),
        (
            {"better": "lowr"},
            "better is 'lowr' but must be one of lower, higher, zero (Did you mean 'lower'?).",
        ),
        ({"bounds": (100, 0)}, "bounds are (100, 0) but the smaller one comes first."),
        ({"bounds": 3}, "bounds are 3 but must be two numbers, such as (0, math.inf)."),
        (
            {"of": "disparity"},
            "of is 'disparity' but must be a tuple: write of=('disparity',).",
        ),
        (
            {"of": ("dispairty",)},
            f"of is 'dispairty' but must be one of {', '.join(sorted(QUANTITIES))} "
            "(Did you mean 'disparity'?).",
        ),
        ({"needs": "rig"}, "needs is 'rig' but must be a tuple: write needs=('rig',)."),
        ({"cite": ""}, "cite is missing."),
        ({"revision": 0}, "revision is 0 but counts from 1."),
        ({"choices": {"rule": ("a",)}}, "choices has rule, which is not a parameter."),
        (
            {"better": "smaller", "unit": "px", "bounds": (1, 0)},
            "unit is 'px' but must be a Unit; write Unit.QUANTITY, the unit of the quantity "
            "itself (px, m); better is 'smaller' but must be one of lower, higher, zero; bounds "
            "are (1, 0) but the smaller one comes first.",
        ),
    ],
)
def test_a_metric_that_is_declared_wrongly(change, words):
    assert refusal(metric("wrong", **{**GOOD, **change}), plain).rstrip(".") == words.rstrip(".")
    assert "wrong" not in METRICS


@pytest.mark.parametrize("name", ["bad:name", "bad@name", "a,b", "Upper", "", "with space", "2d"])
def test_names_that_cannot_stand_in_an_id(name):
    assert refusal(metric(name, **GOOD), plain).startswith("its name may have only lower-")
    assert "its name may" in refusal(region(name), lambda truth: truth)
    bounds = {"unit": "px", "neutral": 0, "levels": (0, 1), "bounds": (0, 1)}
    assert "its name may" in refusal(effect(name, **bounds), lambda image, *, level: image)


def test_a_parameter_that_is_not_keyword_only():
    def loose(limit: float = 1.0) -> Recipe:
        """A mean."""
        return mean(ABS)

    assert refusal(metric("wrong", **GOOD), loose) == (
        "loose: the parameter 'limit' must be keyword-only; put '*' in front of it: (*, limit)."
    )
    assert "'size' must be keyword-only" in refusal(region("wrong"), lambda truth, size: truth)


def test_a_metric_without_a_docstring():
    words = "it has no docstring; say it in a sentence."
    assert refusal(metric("wrong", **GOOD), lambda: mean(ABS)) == words


class Steps:
    """Two steps."""

    @staticmethod
    def measure(estimate, truth, region, *, limit: float = 1.0) -> State:
        return State(1, 0, np.zeros(1))

    @staticmethod
    def finish(state, *, missing, limit):
        return 0.0


def test_steps_that_fit_each_other_are_taken():
    metric("steps", **GOOD)(Steps)
    assert dict(METRICS["steps"].params) == {"limit": 1.0}


@pytest.mark.parametrize(
    ("finish", "words"),
    [
        (
            lambda state, *, missing: 0.0,
            "finish takes no keyword limit; it takes missing and what measure takes.",
        ),
        (
            lambda state, *, limit: 0.0,
            "finish takes no keyword missing; it takes missing and what measure takes.",
        ),
        (lambda *, missing, limit: 0.0, "finish must take 1 positional argument(s), found 0."),
    ],
)
def test_a_finish_that_lacks_something(finish, words):
    wrong = type("Wrong", (Steps,), {"__doc__": "Two steps.", "finish": staticmethod(finish)})
    assert refusal(metric("wrong", **GOOD), wrong) == words


def test_steps_that_are_not_there():
    nothing = type("Wrong", (), {"__doc__": "Nothing."})
    with pytest.raises(BadDeclaration, match=r"the class has no measure\(estimate, truth, region"):
        metric("wrong", **GOOD)(nothing)
    half = type("Wrong", (), {"__doc__": "Half.", "measure": staticmethod(Steps.measure)})
    assert (
        refusal(metric("wrong", **GOOD), half) == "the class has no finish(state, *, missing, ...)."
    )
    needy = {**GOOD, "needs": ("rig",)}
    assert (
        refusal(metric("wrong", **needy), Steps) == "it needs rig but measure takes no keyword rig."
    )


# --- regions and shared maps ----------------------------------------------------------------------


def test_a_region_of_some_quantities_only():
    @region("close", of=("disparity",), needs=("disparity",))
    def close(truth, *, disparity, limit: float = 2.0):
        """Large disparities."""
        return disparity > limit

    maps = [[1.0, 1.0]], [[1.0, 4.0]]
    found = dg.score(*maps, "mae", regions={"here": "close"})
    assert (found["mae@here"].value, found["mae@here"].count) == (3.0, 1)
    with pytest.raises(dg.DepthgaugeError, match="region 'close' is for disparity, not for depth"):
        dg.score(*maps, "mae", regions={"here": "close"}, quantity="depth")


@pytest.mark.parametrize("register", [region, shared_map])
def test_a_region_that_is_declared_wrongly(register):
    assert "needs is 'rig' but must be a tuple" in refusal(
        register("wrong", needs="rig"), lambda truth, *, rig: truth
    )
    words = refusal(register("wrong", of=("dept",)), lambda truth: truth)
    assert words.startswith("of is 'dept' but must be one of")
    assert "'depth'?" in words
    assert refusal(register("wrong", revision="2"), lambda truth: truth) == (
        "revision is '2' but counts from 1."
    )


def test_the_old_name_of_shared_maps_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match="'derived' is called 'shared_map' now"):

        @derived("my_edges", makes="edges", needs=("quantity",))
        def my_edges(truth, *, quantity):
            """Nothing."""

    assert SHARED_MAPS["my_edges"].provides == "edges"


# --- perturbations --------------------------------------------------------------------------------

LEVELS = {"unit": "px", "neutral": 0, "levels": (0, 1), "bounds": (0, 9)}


def test_a_perturbation_may_have_several_parameters():
    @effect("shift", **LEVELS)
    def shift(image, *, level, rng, up: float = 0.0, down: float = 0.0):
        """Brighter by the level, and by what is up and down."""
        assert 0 <= rng.random() < 1
        return image + level + up - down

    image = np.full((2, 2), 100, np.uint8)
    assert perturb_image(image, "shift:3")[0, 0] == 103
    assert perturb_image(image, "shift:3,down=2")[0, 0] == 101
    found = parse_perturbation("shift: 3, down=2, up=1.50 @ right")
    assert found.text == "shift:3,up=1.5,down=2@right"
    assert parse_perturbation(found.text) == found
    for text, words in {
        "shift:3,dwn=2": "'shift' has no parameter 'dwn'. Did you mean 'down'?",
        "shift:3,down=x": "'shift': down is a number, not 'x'.",
        "shift:3,down=1,down=2": "'shift' has down twice",
    }.items():
        with pytest.raises(BadScoreId, match=re.escape(words)):
            parse_perturbation(text)


@pytest.mark.parametrize(
    ("change", "function", "words"),
    [
        ({"levels": (1, 0)}, lambda i, *, level: i, "its levels must start with the neutral one."),
        ({"bounds": (9, 0)}, lambda i, *, level: i, "bounds are (9, 0) but the smaller one comes"),
        ({"levels": (0, 10)}, lambda i, *, level: i, "its level 10 is out of its bounds."),
        ({}, lambda i: i, "it must take the keyword level (and rng if it is random)."),
        ({}, lambda i, *, level, a: i, "its parameter a must have a number as its default."),
    ],
)
def test_a_perturbation_that_is_declared_wrongly(change, function, words):
    assert words in refusal(effect("wrong", **{**LEVELS, **change}), function)


# --- modules with a SPEC --------------------------------------------------------------------------


def module(**content):
    made = types.ModuleType("theirs")
    made.__file__ = __file__
    vars(made).update(content)
    return made


def test_a_method_that_is_declared_wrongly():
    class Silent(MethodOptions):
        size: int = 3

    spec = MethodSpec("My:Method", "", "disparity", (), revision=0, options=Silent)
    words = refusal(lambda m: list(methods._collect(m)), module(SPEC=spec))
    for part in (
        "its name may have only lower-case letters, digits, '-' and '_'",
        "title is missing",
        "revision is 0",
        "quantities is 'disparity' but must be a tuple",
        "beside its SPEC the module must have the function estimate",
        "write a sentence below its option size",
    ):
        assert part in words


def test_a_dataset_that_is_declared_wrongly():
    spec = DatasetSpec("mine", "Mine", ("depth",), "all", "", "", "", "")
    words = refusal(lambda m: list(datasets._collect(m)), module(SPEC=spec))
    assert "splits is 'all' but must be a tuple: write splits=('all',)" in words
    assert "the module must have the function samples" in words


# --- parameters in score ids ----------------------------------------------------------------------


def test_parameters_may_be_given_by_name():
    assert parse_metric("d1:share=0.1") == ("d1", {"share": "0.1"})
    assert parse_metric("d1:3,share=0.1") == ("d1", {"threshold": "3", "share": "0.1"})
    name, given = parse_metric("badpix:threshold=3")
    assert make_spec(name, given, "all").id == make_spec("badpix", {"threshold": 3}, "all").id
    found = dg.score([[5.0, 1.0]], [[1.0, 1.0]], ["badpix:threshold=3"])
    assert found["badpix:3@all"].value == 50.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("badpix:thresh=3", "badpix has no parameter 'thresh'. Did you mean 'threshold'?"),
        ("d1:share=1,3", "values without a name come before those with one"),
        ("d1:3,threshold=4", "gives threshold twice"),
    ],
)
def test_parameters_that_do_not_fit(text, words):
    with pytest.raises(BadScoreId, match=re.escape(words)):
        parse_metric(text)
