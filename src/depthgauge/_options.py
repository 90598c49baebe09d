"""Options of anything that has some: one strict class, from which everything else is made.

A class of options is the only place where they are written down:

    class BlurOptions(Options):
        sigma_px: float = Field(default=1.0, gt=0.0)
        \"\"\"Standard deviation of the blur.\"\"\"

The command line (`depthgauge.cli._options.options_of`), the keywords of the Python function
(`signature_from`), the tables of the docs and the hash of a run all come from it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Any, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from depthgauge._registry import nearest
from depthgauge.errors import Misuse, Problem

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
    "path_not_file": "a file that exists",
    "path_not_directory": "a folder that exists",
    "tuple_type": "a list",
    "list_type": "a list",
}
_LONGEST = 60

AnyOptions = TypeVar("AnyOptions", bound="Options")
R = TypeVar("R")


class Options(BaseModel):
    """Options: one field each, with its default and a sentence below it.

    Numbers may be given as texts (`"5"`, from a command line) but not as true or false; `"none"`
    is None if a field may be None. Nothing is rounded and no key is ignored.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _from_text(cls, value: Any, info: ValidationInfo) -> Any:
        parts = _parts(cls.model_fields[str(info.field_name)].annotation)
        if isinstance(value, bool) and {int, float} & set(parts) and bool not in parts:
            raise ValueError(f"is {str(value).lower()} but must be a number")
        if value == "none" and NoneType in parts and not {str, "none"} & set(parts):
            return None
        return value

    @classmethod
    def checked(cls, given: Mapping[str, Any], owner: str) -> Self:
        """The options with the defaults filled in.

        Args:
            given: Values by name.
            owner: Whose options they are; a mistake is reported with it.

        Raises:
            Misuse: One sentence with every mistake.
        """
        options, problems = checked_options(cls, given, owner)
        if options is None:
            raise Misuse(f"{owner}: {'; '.join(str(problem) for problem in problems)}.")
        return options


@dataclass(frozen=True, slots=True)
class CommandLine:
    """How a field is shown on the command line, where its name and type do not say it.

    It stands in the annotation: `size_px: Annotated[int, CommandLine("--size")] = 512`.
    """

    flag: str = ""
    """In place of the field's name; `--size`, or `--size/-s`."""
    metavar: str = ""
    """What stands for the value in the help."""
    hidden: bool = False
    """Not on the command line: only Python can set it."""


def checked_options(
    cls: type[AnyOptions], given: Mapping[str, Any], owner: str
) -> tuple[AnyOptions | None, list[Problem]]:
    """The options with the defaults filled in, or None and everything that is wrong."""
    try:
        return cls.model_validate(dict(given)), []
    except ValidationError as error:
        problems: dict[str, Problem] = {}
        for found in error.errors(include_url=False):
            problem = _problem(cls, found, owner)
            problems.setdefault(problem.where, problem)
        return None, list(problems.values())


def _problem(cls: type[Options], found: Any, owner: str) -> Problem:
    if not found["loc"]:  # of several options together
        return Problem("options", _message(found["msg"]))
    name = str(found["loc"][0])
    if found["type"] == "extra_forbidden":
        known = list(cls.model_fields)
        hint = nearest(name, known) or (f"Known: {', '.join(known)}" if known else "It has none")
        return Problem(name, f"is not an option of '{owner}'", hint)
    if found["type"] == "missing":
        return Problem(name, "is missing")
    if found["type"] == "value_error":  # from the class's own check, which is complete
        return Problem(name, _message(found["msg"]))
    wanted = _WANTED.get(found["type"]) or _message(found["msg"])
    value = found["input"]
    hint = nearest(value, re.findall(r"'([\w-]+)'", wanted)) if isinstance(value, str) else ""
    return Problem(name, f"is {_shown(value)} but must be {wanted}", hint)


def _message(text: str) -> str:
    return text.removeprefix("Input should be ").removeprefix("Value error, ")


def _shown(value: Any) -> str:
    if isinstance(value, Path):
        return repr(str(value))  # whole: it may be long, and its end says most
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _parts(annotation: Any) -> list[Any]:
    """The types and literals that a field may be: `int | None` is int and NoneType."""
    inner = get_args(annotation)
    return [part for each in inner for part in _parts(each)] if inner else [annotation]


def signature_from(cls: type[Options]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Gives a function that takes `options` the fields of their class as keywords.

    The function is written with one parameter `options`; who calls it writes the fields, which are
    checked, or hands over `options` that were checked already (as the command line does). Its
    signature and its docstring show the fields.

    >>> class Size(Options):
    ...     width: int = 4
    ...     '''Columns.'''
    >>> @signature_from(Size)
    ... def area(height: int, options: Size) -> int:
    ...     '''Pixels of an image.'''
    ...     return height * options.width
    >>> area(2), area(2, width=5), area(2, options=Size(width=6))
    (8, 10, 12)
    >>> area(2, with_=3)
    Traceback (most recent call last):
    depthgauge.errors.Misuse: area: with_: is not an option of 'area' (Did you mean 'width'?).
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        own = inspect.signature(function)
        if "options" not in own.parameters:
            raise TypeError(f"{function.__qualname__} must have a parameter 'options'")
        if clash := sorted(set(own.parameters) & set(cls.model_fields)):
            raise TypeError(f"{function.__qualname__} and {cls.__name__} both have {clash}")
        taken = [name for name in own.parameters if name != "options"]
        in_order = [
            n for n in taken if own.parameters[n].kind is not inspect.Parameter.KEYWORD_ONLY
        ]
        name = function.__name__

        @wraps(function)
        def call(*args: Any, options: Options | None = None, **keywords: Any) -> R:
            rest = {key: keywords.pop(key) for key in taken if key in keywords}
            if options is not None and keywords:
                raise Misuse(f"{name}: give options or {', '.join(sorted(keywords))}, not both.")
            whole = cls.checked(keywords, name) if options is None else options
            if not isinstance(whole, cls):
                raise Misuse(f"{name}: options must be {cls.__name__}, not {type(whole).__name__}.")
            positional = dict(zip(in_order, args, strict=False))
            if len(args) > len(in_order) or set(positional) & set(rest):
                own.bind(*args, **rest, options=whole)  # Python's own words for it
            return function(**positional, **rest, options=whole)

        call.__signature__ = _signature(own, cls)  # type: ignore[attr-defined]  # inspect reads it
        call.__doc__ = _documented(function.__doc__, cls)
        return call

    return decorate


def _signature(own: inspect.Signature, cls: type[Options]) -> inspect.Signature:
    """The function's own parameters, and the fields as keywords in place of `options`."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    rest = [p for p in own.parameters.values() if p.name != "options"]
    fields = [
        inspect.Parameter(
            name,
            keyword,
            annotation=field.annotation,
            default=inspect.Parameter.empty
            if field.is_required()
            else field.get_default(call_default_factory=True, validated_data={}),
        )
        for name, field in cls.model_fields.items()
    ]
    chosen = inspect.Parameter("options", keyword, default=None, annotation=cls | None)
    before = [p for p in rest if p.kind is not keyword]
    after = [p for p in rest if p.kind is keyword]
    return own.replace(parameters=[*before, *fields, *after, chosen])


def _documented(doc: str | None, cls: type[Options]) -> str:
    """The docstring with a sentence about each field at its end."""
    lines = [
        f"    {name}: {field.description or ''}".rstrip()
        for name, field in cls.model_fields.items()
    ]
    return "\n".join([inspect.cleandoc(doc or ""), "", "Options:", *lines])
