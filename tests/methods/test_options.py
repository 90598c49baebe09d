"""Options: what is taken for what, and what is refused in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field, ValidationError

from depthgauge.errors import Misuse
from depthgauge.methods import METHODS, MethodOptions, MethodSpec, find_method
from depthgauge.methods._find import make_options


class Options(MethodOptions):
    count: int = 3
    factor: float | None = None
    on: bool = False
    kind: Literal["none", "some"] | None = "some"
    name: str | None = None
    place: Path = Path("x")
    sizes: tuple[int, ...] = ()
    anything: Any = None


SPEC = MethodSpec("mine", "Mine", (), (), options=Options)


def made(**given: object) -> MethodOptions:
    options, wrong = make_options(SPEC, given)
    assert not wrong
    return options


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("count", "5", 5),
        ("count", 5.0, 5),
        ("factor", "2.5", 2.5),
        ("factor", 2, 2.0),
        ("factor", "none", None),
        ("on", "true", True),
        ("on", "no", False),
        ("on", True, True),
        ("kind", "none", "none"),
        ("name", "none", "none"),
        ("place", "a/b", Path("a/b")),
        ("sizes", [1, 2], (1, 2)),
        ("anything", True, True),
    ],
)
def test_what_is_taken(name, given, expected):
    found = getattr(made(**{name: given}), name)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("count", True, "count: is true but must be a number"),
        ("factor", False, "factor: is false but must be a number"),
        ("count", "5.5", "count: is '5.5' but must be a whole number"),
        ("count", 5.5, "count: is 5.5 but must be a whole number"),
        ("count", "none", "count: is 'none' but must be a whole number"),
        ("factor", "x", "factor: is 'x' but must be a number"),
        ("factor", float("inf"), "factor: is inf but must be a finite number"),
        ("on", "maybe", "on: is 'maybe' but must be true or false"),
        ("name", 3, "name: is 3 but must be a text"),
        ("kind", "sone", "kind: is 'sone' but must be 'none' or 'some' (Did you mean 'some'?)"),
        ("cuont", 3, "cuont: is not an option of 'mine' (Did you mean 'count'?)"),
    ],
)
def test_what_is_refused(name, given, message):
    options, wrong = make_options(SPEC, {name: given})
    assert options is None
    assert [str(problem) for problem in wrong] == [message]


def test_options_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Options().count = 4


def test_a_check_of_several_options_together():
    from pydantic import model_validator

    class Pair(MethodOptions):
        low: int = 0
        high: int = 1

        @model_validator(mode="after")
        def _ordered(self):
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    _, wrong = make_options(MethodSpec("pair", "", (), (), options=Pair), {"low": 2})
    assert [str(problem) for problem in wrong] == ["options: low is above high"]


def test_limits_are_said():
    class Limited(MethodOptions):
        size: int = Field(default=3, ge=1)

    _, wrong = make_options(MethodSpec("x", "", (), (), options=Limited), {"size": 0})
    assert [str(p) for p in wrong] == ["size: is 0 but must be greater than or equal to 1"]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_option_has_a_sentence(name):
    spec = METHODS[name].spec
    assert spec.title
    assert spec.id == name
    for option, field in spec.options.model_fields.items():
        assert field.description, option
        assert field.description.endswith("."), option
    assert set(spec.local) <= set(spec.options.model_fields)
    assert spec.text_option in {"", *spec.options.model_fields}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bm:block_size=6", "block_size: is 6 but must be odd"),
        ("bm:block_size=3", "block_size: is '3' but must be greater than or equal to 5"),
        ("bm:block_size=257", "block_size: is '257' but must be less than or equal to 255"),
        ("farneback:pyramid_scale=1", "pyramid_scale: is '1' but must be less than 1"),
        ("command:x {out}{", "template: has a single brace in '{out}{'"),
    ],
)
def test_limits_of_our_own_methods(text, message):
    with pytest.raises(Misuse) as caught:
        find_method(text)
    assert message in str(caught.value)
