"""Finds the method that a user names: `sgbm:block_size=5`, a file or a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depthgauge._options import AnyOptions, Options, checked_options
from depthgauge._registry import nearest
from depthgauge.errors import BadFile, DepthgaugeError, Misuse, Problem
from depthgauge.io.text import read_toml
from depthgauge.methods._load import from_file, from_function
from depthgauge.methods._method import Method
from depthgauge.methods._spec import METHODS, MethodKind, MethodOptions, MethodSpec
from depthgauge.quantities import QUANTITIES

MethodLike = str | Path | Method | Callable[..., Any]
_FILES = (".py", ".toml")
_KEYS = ("method", "command", "label", "quantities", "options")
"""Keys of a method in a TOML file."""


def find_method(text: MethodLike, label: str | None = None) -> Method:
    """The method that a text, a path or a function stands for.

    - `sgbm`, `sgbm:block_size=5,mode=hh`: one of `METHODS`, with options.
    - `command:python infer.py {left} {right} {out}`, `folder:results/x`: methods that take the
      rest of the text unchanged.
    - `path/to/method.toml`, `path/to/method.py`, `path/to/method.py:threshold=3`: a file.
    - `LABEL=...` before any of these: the method's name in tables and folders.
    - a function `f(inputs)` or `f(inputs, options)`.

    The code of a Python file is run in a process of its own, not in this one.

    Args:
        text: One of these, or a method, which is returned.
        label: Its name; overrides the label in the text or file.

    Raises:
        UnknownName: There is no method with this id; the message suggests the nearest.
        Misuse: The text, an option or the label is wrong; the message lists all wrong options.
        BadFile: The file cannot be used.
    """
    if isinstance(text, Method):
        return text if label is None else replace(text, label=label)
    if isinstance(text, (str, Path)):
        if not _is_python(text):
            return find_here(text, label)
        from depthgauge.methods._process import describe_elsewhere

        return describe_elsewhere(str(text), label)
    if not callable(text):
        raise Misuse(
            f"a method is a text, a path or a function, found a {type(text).__name__}; "
            "write for example 'sgbm'."
        )
    kind = from_function(text)
    return _make(kind, "", label, kind.spec.id)


def find_here(text: str | Path, label: str | None = None) -> Method:
    """The same of a text or a path; the code of a Python file is run in this process."""
    return _from_path(text, label) if isinstance(text, Path) else _from_text(text, label)


def _is_python(text: str | Path) -> bool:
    """Whether a method's code is in a Python file, named by itself or by a TOML file."""
    rest = _label_and_rest(text.strip())[1] if isinstance(text, str) else str(text)
    name = rest if _is_file(rest) else rest.partition(":")[0]
    if name.endswith(".py"):
        return True
    if not name.endswith(".toml"):
        return False
    try:
        return str(read_toml(Path(name)).get("method", "")).endswith(".py")
    except DepthgaugeError:
        return False  # whoever reads it next says why


def find_methods(texts: Iterable[MethodLike]) -> tuple[Method, ...]:
    """The methods that these stand for, in this order, without duplicates.

    Raises:
        Misuse: Two different methods have the same label.
    """
    found: dict[str, Method] = {}
    for text in texts:
        method = find_method(text)
        known = found.setdefault(method.label, method)
        if known != method:
            raise Misuse(
                f"two methods have the label '{method.label}' "
                f"({known.source} and {method.source}) but differ; give one of them "
                f"another label: OTHER={text if isinstance(text, (str, Path)) else 'METHOD'}."
            )
    return tuple(found.values())


def _from_path(path: Path, label: str | None) -> Method:
    path = Path(os.path.abspath(path))
    if path.suffix == ".py":
        return _make(from_file(path), "", label, str(path))
    if path.suffix != ".toml":
        raise Misuse(f"{path}: a file with a method ends in .py or .toml.")
    said = read_method_file(path)
    options = anchored(said.options, said.kind.spec.local, path.parent)
    return Method(said.kind, options, said.label if label is None else label, str(path))


def _from_text(text: str, label: str | None) -> Method:
    own, rest = _label_and_rest(text.strip())
    label = own if label is None else label
    name, _, tail = rest.partition(":")
    if _is_file(rest):
        return _from_path(Path(rest), label)
    if name in METHODS or not name.endswith(_FILES):
        return _make(METHODS[name], tail, label, name)
    if name.endswith(".toml") and tail:
        raise Misuse(f"{text}: the options of a TOML method belong in its file, below [options].")
    path = Path(os.path.abspath(name))
    if name.endswith(".toml"):
        return _from_path(path, label)
    return _make(from_file(path), tail, label, str(path))


def _label_and_rest(text: str) -> tuple[str | None, str]:
    """Splits `LABEL=method:...`; after the first `:`, an `=` belongs to the options."""
    label, equals, _ = text.partition(":")[0].partition("=")
    if not equals or _is_file(text):
        return None, text
    return label.strip(), text.partition("=")[2].strip()


def _is_file(text: str) -> bool:
    return text.endswith(_FILES) and Path(text).is_file()


def _make(kind: MethodKind, text: str, label: str | None, source: str) -> Method:
    """A method of a kind with the options after its `:`."""
    spec = kind.spec
    given, wrong = _given(spec, text.strip())
    options, more = make_options(spec, given)
    if wrong or more or options is None:
        raise Misuse(f"method '{spec.id}': {'; '.join(map(str, [*wrong, *more]))}.")
    options = anchored(options, spec.local, Path())
    if label is None:
        name = Path(source).stem if source.endswith(_FILES) else spec.id
        words = in_words(options, given)
        label = options.short_name() or (f"{name}:{words}" if words else name)
    return Method(kind, options, label, source)


def _given(spec: MethodSpec, text: str) -> tuple[dict[str, str], list[Problem]]:
    if spec.text_option:
        return ({spec.text_option: text} if text else {}), []
    return pairs(text)


# A method in a TOML file: `method = "sgbm"` or `command = "..."`, with options and a label.


@dataclass(frozen=True, slots=True)
class MethodFile:
    """The content of such a file."""

    kind: MethodKind
    options: MethodOptions
    label: str


def read_method_file(path: Path) -> MethodFile:
    """Reads a method file; every mistake in it is reported at once.

    Raises:
        BadFile: It cannot be read, or has mistakes.
    """
    raw = read_toml(path)
    wrong = list(_mistakes(raw))
    kind, options = None, None
    try:
        kind = _kind(raw, path.parent)
    except DepthgaugeError as error:
        wrong.append(Problem("method", str(error).rstrip(".")))
    if kind is not None:
        options, more = make_options(kind.spec, _given_options(raw))
        wrong += [replace(p, where=_where(raw, p.where)) for p in more]
    if wrong or kind is None or options is None:
        raise BadFile(f"{path}: {'; '.join(map(str, wrong))}.")
    if "quantities" in raw:
        kind = replace(kind, spec=replace(kind.spec, quantities=tuple(raw["quantities"])))
    return MethodFile(kind, options, raw.get("label", path.stem))


def _mistakes(raw: Mapping[str, Any]) -> Iterator[Problem]:
    for key in raw:
        if key not in _KEYS:
            yield Problem(key, "is not a key", nearest(key, _KEYS) or f"Known: {', '.join(_KEYS)}")
    if ("method" in raw) == ("command" in raw):
        found = "both are given" if "method" in raw else "neither is given"
        yield Problem("method, command", f"exactly one of the two is needed, {found}")
    for key in ("method", "command", "label"):
        if not isinstance(raw.get(key, ""), str):
            yield Problem(key, f"is {raw[key]!r} but must be a text")
    options = raw.get("options", {})
    if not isinstance(options, dict):
        yield Problem("options", f"is {options!r} but must be a table: [options]")
    elif "command" in raw and "template" in options:
        yield Problem("options.template", "is already given by 'command'")
    yield from _quantity_mistakes(raw.get("quantities", []))


def _quantity_mistakes(value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem("quantities", f"is {value!r} but must be a list such as ['disparity']")
        return
    for name in value:
        if name not in QUANTITIES:
            hint = nearest(str(name), QUANTITIES) or f"Known: {', '.join(QUANTITIES)}"
            yield Problem("quantities", f"{name!r} is not a quantity", hint)


def _kind(raw: Mapping[str, Any], folder: Path) -> MethodKind | None:
    if isinstance(raw.get("command"), str):
        return METHODS["command"]
    named = raw.get("method")
    if not isinstance(named, str):
        return None
    return from_file(folder / named) if named.endswith(".py") else METHODS[named]


def _given_options(raw: Mapping[str, Any]) -> dict[str, Any]:
    options = raw.get("options", {})
    given = dict(options) if isinstance(options, dict) else {}
    return {**given, "template": raw["command"]} if "command" in raw else given


def _where(raw: Mapping[str, Any], option: str) -> str:
    return "command" if option == "template" and "command" in raw else f"options.{option}"


# Options as a user writes them.


def make_options(
    spec: MethodSpec, given: Mapping[str, Any]
) -> tuple[MethodOptions | None, list[Problem]]:
    """The options with defaults filled in, or None and all mistakes."""
    options, problems = checked_options(spec.options, given, spec.id)
    hint = f"write {spec.id}:{spec.text_option.upper()}"
    return options, [
        replace(problem, hint=hint)
        if (problem.where, problem.what) == (spec.text_option, "is missing")
        else problem
        for problem in problems
    ]


def pairs(text: str) -> tuple[dict[str, str], list[Problem]]:
    """`block_size=5,mode=hh` as a dict, and the parts that cannot be read.

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
    """The given options in declared order, in the form that `pairs` reads."""
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
    """The options with relative paths among these names resolved against a folder."""
    changed = dict(_absolute(options, names, folder))
    return options.model_copy(update=changed) if changed else options


def _absolute(options: Options, names: tuple[str, ...], folder: Path) -> Iterator[tuple[str, Path]]:
    for name in names:
        value = getattr(options, name)
        if isinstance(value, Path):
            yield name, Path.cwd() / folder / value.expanduser()
