"""Options from what a person wrote, with every mistake in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from depthgauge._registry import nearest
from depthgauge.errors import Problem
from depthgauge.methods._spec import MethodOptions, MethodSpec

AnyOptions = TypeVar("AnyOptions", bound=MethodOptions)

_WANTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "path_type": "a path",
    "tuple_type": "a list",
    "list_type": "a list",
}
_LONGEST = 60


def make_options(
    spec: MethodSpec, given: Mapping[str, Any]
) -> tuple[MethodOptions | None, list[Problem]]:
    """The options with the defaults filled in, or None and what is wrong, all of it."""
    try:
        return spec.options.model_validate(dict(given)), []
    except ValidationError as error:
        problems: dict[str, Problem] = {}
        for found in error.errors(include_url=False):
            problem = _problem(spec, found)
            problems.setdefault(problem.where, problem)
        return None, list(problems.values())


def _problem(spec: MethodSpec, found: Any) -> Problem:
    if not found["loc"]:  # of several options together
        return Problem("options", _message(found["msg"]))
    name = str(found["loc"][0])
    if found["type"] == "extra_forbidden":
        known = list(spec.options.model_fields)
        hint = nearest(name, known) or (f"Known: {', '.join(known)}" if known else "It has none")
        return Problem(name, f"is no option of '{spec.id}'", hint)
    if found["type"] == "missing":
        hint = f"write {spec.id}:{name.upper()}" if name == spec.text_option else ""
        return Problem(name, "is missing", hint)
    if found["type"] == "value_error":  # a check of the method's own, which says it all
        return Problem(name, _message(found["msg"]))
    wanted = _WANTED.get(found["type"]) or _message(found["msg"])
    value = found["input"]
    hint = nearest(value, re.findall(r"'([\w-]+)'", wanted)) if isinstance(value, str) else ""
    return Problem(name, f"is {_shown(value)} but must be {wanted}", hint)


def _message(text: str) -> str:
    return text.removeprefix("Input should be ").removeprefix("Value error, ")


def _shown(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def pairs(text: str) -> tuple[dict[str, str], list[Problem]]:
    """`block_size=5,mode=hh` as a dict, and what cannot be read so.

    >>> pairs("block_size=5, mode=hh")
    ({'block_size': '5', 'mode': 'hh'}, [])
    """
    given: dict[str, str] = {}
    wrong: list[Problem] = []
    for part in text.split(",") if text.strip() else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            wrong.append(Problem(repr(part.strip()), "is not of the form name=value"))
        elif name in given:
            wrong.append(Problem(name, "is given twice"))
        else:
            given[name] = value
    return given, wrong


def in_words(options: MethodOptions, given: Mapping[str, Any]) -> str:
    """Those options that were given, in declared order, as `pairs` reads them."""
    return ",".join(
        f"{name}={_as_text(getattr(options, name))}"
        for name in type(options).model_fields
        if name in given
    )


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def anchored(options: AnyOptions, names: tuple[str, ...], folder: Path) -> AnyOptions:
    """The options with the relative paths among those names taken from a folder."""
    changed = dict(_absolute(options, names, folder))
    return options.model_copy(update=changed) if changed else options


def _absolute(
    options: MethodOptions, names: tuple[str, ...], folder: Path
) -> Iterator[tuple[str, Path]]:
    for name in names:
        value = getattr(options, name)
        if isinstance(value, Path):
            yield name, Path.cwd() / folder / value.expanduser()
