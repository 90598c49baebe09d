"""From what a person writes to a method: `sgbm:block_size=5`, a file, a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from depthgauge.errors import Misuse, Problem
from depthgauge.methods._load import from_file, from_function
from depthgauge.methods._method import Method
from depthgauge.methods._options import anchored, in_words, make_options, pairs
from depthgauge.methods._spec import METHODS, MethodKind, MethodSpec
from depthgauge.methods._toml import read_method_file

MethodLike = str | Path | Method | Callable[..., Any]
_FILES = (".py", ".toml")


def find_method(text: MethodLike, label: str | None = None) -> Method:
    """The method that is meant.

    - `sgbm`, `sgbm:block_size=5,mode=hh`: one of `METHODS`, with options.
    - `command:python infer.py {left} {right} {out}`, `folder:results/x`: those that take the rest
      of the text as it is.
    - `path/to/method.toml`, `path/to/method.py`, `path/to/method.py:threshold=3`: a file.
    - `LABEL=...` before any of these: its name in tables and folders.
    - a function `f(inputs)` or `f(inputs, options)`.

    Args:
        text: One of these, or a method, which is returned.
        label: Its name; goes before one that the text or a file has.

    Raises:
        UnknownName: There is no method of that id; the nearest is named.
        Misuse: The text, an option or the label is not right; all wrong options are named.
        BadFile: The file cannot be used.
    """
    if isinstance(text, Method):
        return text if label is None else replace(text, label=label)
    if isinstance(text, Path):
        return _from_path(text, label)
    if isinstance(text, str):
        return _from_text(text, label)
    if not callable(text):
        raise Misuse(
            f"a method is a text, a path or a function, found a {type(text).__name__}; "
            "write for example 'sgbm'."
        )
    kind = from_function(text)
    return _make(kind, "", label, kind.spec.id)


def find_methods(texts: Iterable[MethodLike]) -> tuple[Method, ...]:
    """The methods that are meant, in that order; one that is named twice is there once.

    Raises:
        Misuse: Two different ones have the same label.
    """
    found: dict[str, Method] = {}
    for text in texts:
        method = find_method(text)
        known = found.setdefault(method.label, method)
        if known != method:
            raise Misuse(
                f"two methods have the label '{method.label}' "
                f"({known.source} and {method.source}) but are not the same; give one of them "
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
        raise Misuse(f"{text}: the options of a TOML method stand in its file, below [options].")
    path = Path(os.path.abspath(name))
    if name.endswith(".toml"):
        return _from_path(path, label)
    return _make(from_file(path), tail, label, str(path))


def _label_and_rest(text: str) -> tuple[str | None, str]:
    """`LABEL=method:...` in two; after the first `:` an `=` belongs to the options."""
    label, equals, _ = text.partition(":")[0].partition("=")
    if not equals or _is_file(text):
        return None, text
    return label.strip(), text.partition("=")[2].strip()


def _is_file(text: str) -> bool:
    return text.endswith(_FILES) and Path(text).is_file()


def _make(kind: MethodKind, text: str, label: str | None, source: str) -> Method:
    """A method of a kind with the options that stand after its `:`."""
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
