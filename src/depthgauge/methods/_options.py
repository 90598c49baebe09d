"""Options from what a person wrote, with every mistake in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from depthgauge._options import AnyOptions, Options, checked_options
from depthgauge.errors import Problem
from depthgauge.methods._spec import MethodOptions, MethodSpec


def make_options(
    spec: MethodSpec, given: Mapping[str, Any]
) -> tuple[MethodOptions | None, list[Problem]]:
    """The options with the defaults filled in, or None and what is wrong, all of it."""
    options, problems = checked_options(spec.options, given, spec.id)
    hint = f"write {spec.id}:{spec.text_option.upper()}"
    return options, [
        replace(problem, hint=hint)
        if (problem.where, problem.what) == (spec.text_option, "is missing")
        else problem
        for problem in problems
    ]


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


def _absolute(options: Options, names: tuple[str, ...], folder: Path) -> Iterator[tuple[str, Path]]:
    for name in names:
        value = getattr(options, name)
        if isinstance(value, Path):
            yield name, Path.cwd() / folder / value.expanduser()
