"""Strict pydantic models of JSON lines; every mistake becomes one `BadFile` sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from depthgauge.errors import BadFile
from depthgauge.io.json_lines import kind_of, parse_object, shown

SCHEMA = 1
MOST_POINTS = 20_000
"""Most points of one line or polygon."""
MOST_LETTERS = 500
"""Most letters of one id or name."""
MOST_COORDINATE_PX = 1e6
_EXPECTED, _WRONG = "expected", "wrong"
"""Types of our own errors: what a field should be, or a whole sentence about an object."""


class StrictModel(BaseModel):
    """Nothing is converted, unknown fields are errors, numbers are finite."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=StrictModel)


def parse_line(where: str, line: bytes, model: type[Model]) -> Model:
    """Reads one line of JSON as a model.

    Raises:
        BadFile: It is not one, or it has another `schema`; the sentence begins with `where`.
    """
    return validate(where, parse_object(where, line), model)


def validate(where: str, data: Mapping[str, Any], model: type[Model]) -> Model:
    """Reads the fields of a JSON object as a model.

    Raises:
        BadFile: Something is wrong with them; the sentence begins with `where`.
    """
    schema = data.get("schema", SCHEMA)
    if "version" in model.model_fields and (type(schema) is not int or schema != SCHEMA):
        raise BadFile(
            f"{where}: has schema {shown(schema)}, but this version reads schema {SCHEMA}; "
            "update depthgauge or get the file again."
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadFile(
            f"{where}: {_sentence(error.errors(include_url=False)[0], data, model)}."
        ) from None


def expected(what: str) -> PydanticCustomError:
    """The error for a field whose value is not `what`."""
    return PydanticCustomError(_EXPECTED, "{what}", {"what": what})


def wrong(sentence: str) -> PydanticCustomError:
    """The error for an object whose fields do not fit together."""
    return PydanticCustomError(_WRONG, "{what}", {"what": sentence})


def between(least: float, most: float, what: str) -> AfterValidator:
    """A number within limits, named as `what`."""

    def check(value: float) -> float:
        if least <= value <= most:
            return value
        raise expected(what)

    return AfterValidator(check)


def whole(least: int, most: int) -> BeforeValidator:
    """A whole number within limits."""

    def check(value: Any) -> Any:
        if type(value) is int and least <= value <= most:
            return value
        raise expected(f"a whole number from {least} to {most}")

    return BeforeValidator(check)


def is_time(text: str) -> bool:
    """Whether a text is an ISO 8601 time with its zone.

    >>> is_time("2026-01-31T09:30:00Z"), is_time("2026-01-31T09:30:00"), is_time("noon")
    (True, False, False)
    """
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _time(text: str) -> str:
    if text and not is_time(text):
        raise expected("an ISO 8601 time with its zone, such as 2026-01-31T09:30:00+00:00")
    return text


_POINT, _POINTS, _VECTOR = "2 numbers", "a list of points", "3 numbers"

Text = Annotated[str, Field(max_length=MOST_LETTERS)]
Name = Annotated[str, Field(min_length=1, max_length=MOST_LETTERS)]
Time = Annotated[str, Field(max_length=MOST_LETTERS), AfterValidator(_time)]
"""ISO 8601 with its zone, or empty."""
Seconds = Annotated[float, between(0, 1e12, "0 to 1e+12")]
_Coordinate = Annotated[float, Field(ge=-MOST_COORDINATE_PX, le=MOST_COORDINATE_PX)]
# JSON has lists, which a strict tuple refuses; what is in them stays strict.
_Pair = Annotated[tuple[_Coordinate, _Coordinate], Field(strict=False)]
PointField = Annotated[_Pair, Field(description=_POINT)]
PointsField = Annotated[
    tuple[_Pair, ...],
    Field(strict=False, max_length=MOST_POINTS, description=_POINTS),
    FailFast(),
]
VectorField = Annotated[tuple[float, float, float], Field(strict=False, description=_VECTOR)]


def _sentence(error: ErrorDetails, data: Mapping[str, Any], model: type[StrictModel]) -> str:
    """What is wrong, after the names of the objects that hold it."""
    names = [part for part in error["loc"] if isinstance(part, str)]
    if error["type"] == _WRONG:
        return ": ".join([*names, error["msg"]])
    name = names[-1] if names else ""
    if name in model.model_fields and model.model_fields[name].description:
        said = _said_of_numbers(error, name, data, str(model.model_fields[name].description))
    else:
        said = _SAID.get(error["type"], _unforeseen)(name, error["input"], error)
    return ": ".join([*names[:-1], said])


def _said_of_numbers(error: ErrorDetails, name: str, data: Mapping[str, Any], what: str) -> str:
    """What is wrong with a point, a vector or a list of points."""
    kind, found, loc = error["type"], error["input"], error["loc"]
    if kind in ("less_than_equal", "greater_than_equal"):
        point: Any = data
        for part in loc[:-1]:
            point = point[part]
        x, y = (float(value) for value in point)
        return (
            f"'{name}' holds the point ({x:g}, {y:g}), which is nowhere near a picture; "
            f"coordinates are at most {MOST_COORDINATE_PX:g} px"
        )
    if kind in _SAID and not (kind == "missing" and isinstance(loc[-1], int)):
        return _SAID[kind](name, found, error)
    if what == _POINTS and len(loc) == 1:
        if isinstance(found, list):
            return f"'{name}' has {len(found)} points, but at most {MOST_POINTS} are read"
        return f"'{name}' is {kind_of(found)}, expected {what}"
    held = f"a list of {len(found)}" if isinstance(found, list) else kind_of(found)
    return f"'{name}' holds {held}, expected {_POINT if what == _POINTS else what}"


def _number(name: str, found: Any, _: ErrorDetails) -> str:
    # True is an int in Python, but not in JSON.
    if type(found) in (int, float):
        return f"'{name}' holds a number that is too large"
    return f"'{name}' holds {kind_of(found)}, expected a number"


def _literal(name: str, found: Any, error: ErrorDetails) -> str:
    words = re.findall(r"'([^']*)'", error["ctx"]["expected"])
    held = shown(found) if isinstance(found, str) else kind_of(found)
    return f"'{name}' is {held}, expected one of {', '.join(words)}"


def _other(name: str, found: Any, error: ErrorDetails) -> str:
    held = shown(found) if type(found) in (int, float, str) else kind_of(found)
    return f"'{name}' is {held}, expected {error['msg']}"


def _unforeseen(name: str, found: Any, error: ErrorDetails) -> str:
    return f"'{name}' is {kind_of(found)}, which cannot be read ({error['type']})"


_SAID: Mapping[str, Callable[[str, Any, ErrorDetails], str]] = {
    "missing": lambda name, *_: f"lacks the field '{name}'",
    "extra_forbidden": lambda name, *_: f"has a field {shown(name)} that schema {SCHEMA} lacks",
    "string_unicode": lambda name, *_: (
        f"{repr(name) if name else 'a field name'} holds half a character (a lone surrogate)"
    ),
    "string_type": lambda name, found, _: f"'{name}' is {kind_of(found)}, expected a text",
    "string_too_short": lambda name, *_: f"'{name}' is empty",
    "string_too_long": lambda name, found, _: (
        f"'{name}' has {len(found)} letters, but at most {MOST_LETTERS} are read"
    ),
    "bool_type": lambda name, found, _: f"'{name}' is {kind_of(found)}, expected true or false",
    "model_type": lambda name, found, _: f"'{name}' is {kind_of(found)}, expected an object",
    "float_type": _number,
    "finite_number": _number,
    "literal_error": _literal,
    _EXPECTED: _other,
}
"""By pydantic's type of an error: the sentence about a field and what it holds."""
