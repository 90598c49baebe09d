"""Checks of declarations, made when a thing registers: one sentence that names the file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from depthgauge._registry import nearest
from depthgauge.errors import BadDeclaration

Problems = Iterable[str]


def refuse(kind: str, name: object, place: object, problems: Problems) -> None:
    """Raises one error with everything that is wrong with a declaration, and its place.

    Args:
        kind: What is declared: a metric, a region ...
        name: What it is called.
        place: The function, class or module that declares it.
        problems: The mistakes; if there are none, nothing is raised.

    Raises:
        BadDeclaration: Something is wrong.
    """
    found = list(dict.fromkeys(problems))
    if found:
        raise BadDeclaration(f"{place_of(place)}: {kind} {name!r}: {'; '.join(found)}.")


def place_of(thing: object) -> str:
    """The file of a function, class or module, and the line of a function.

    >>> place_of(refuse).rpartition("/")[2].partition(":")[0]
    '_declared.py'
    """
    code = getattr(inspect.unwrap(thing) if callable(thing) else thing, "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    try:
        return str(inspect.getsourcefile(thing))  # type: ignore[arg-type]  # raises for others
    except TypeError:
        return str(getattr(thing, "__module__", thing))


def name_problems(name: object, dashes: bool = False) -> Iterator[str]:
    """Whether a name can stand in ids, expressions, file names and on command lines."""
    pattern = r"[a-z][a-z0-9_]*" if not dashes else r"[a-z0-9][a-z0-9_-]*"
    if not isinstance(name, str) or not re.fullmatch(pattern, name):
        signs = "digits, '-' and '_'" if dashes else "digits and '_'"
        yield (
            f"its name may have only lower-case letters, {signs} "
            "(':', '@' and ',' separate the parts of score ids)"
        )


def choice_problems(field: str, value: object, allowed: Iterable[str]) -> Iterator[str]:
    """Whether a value is one of some words."""
    known = list(allowed)
    if value not in known:
        hint = nearest(str(value), known)
        words = f"{field} is {value!r} but must be one of {', '.join(known)}"
        yield f"{words} ({hint})" if hint else words


def names_problems(field: str, value: object) -> Iterator[str]:
    """Whether a value is a tuple of names; a single text is not."""
    if isinstance(value, str):
        yield f"{field} is {value!r} but must be a tuple: write {field}=({value!r},)"
    elif not isinstance(value, (tuple, list)) or not all(isinstance(v, str) for v in value):
        yield f"{field} is {value!r} but must be a tuple of names"


def revision_problems(revision: object) -> Iterator[str]:
    """Whether a revision counts from 1."""
    if not isinstance(revision, int) or isinstance(revision, bool) or revision < 1:
        yield f"revision is {revision!r} but counts from 1"


def text_problems(**texts: object) -> Iterator[str]:
    """Whether the texts for people exist."""
    for field, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            missing = "it has no docstring" if field == "doc" else f"{field} is missing"
            yield f"{missing}; say it in a sentence" if field == "doc" else missing


def signature_problems(function: Callable[..., Any], leading: int, what: str = "") -> Iterator[str]:
    """Whether everything after the first few parameters is keyword-only."""
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    label = what or getattr(function, "__name__", "it")
    if len(positional) < leading:
        yield f"{label} must take {leading} positional argument(s), found {len(positional)}"
    for parameter in positional[leading:]:
        yield (
            f"{label}: the parameter '{parameter.name}' must be keyword-only; put '*' in front of "
            f"it: ({', '.join([*(p.name for p in positional[:leading]), '*', parameter.name])})"
        )


def spec_problems(spec: Any, module: object, function: str) -> Iterator[str]:
    """Whether a module's `SPEC` has an id, a title and a revision, and the function beside it."""
    yield from name_problems(spec.id, dashes=True)
    yield from text_problems(title=spec.title)
    yield from revision_problems(spec.revision)
    for field in ("quantities", "needs", "splits", "local"):
        if hasattr(spec, field):
            yield from names_problems(field, getattr(spec, field))
    if not callable(getattr(module, function, None)):
        yield f"beside its SPEC the module must have the function {function}"


def keywords_of(function: Callable[..., Any]) -> tuple[set[str], bool]:
    """The keyword-only parameters of a function, and whether it takes any others."""
    parameters = inspect.signature(function).parameters.values()
    names = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    return names, any(p.kind is p.VAR_KEYWORD for p in parameters)
