"""Which folders are hidden from a method, and which have to stay visible because it needs them."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import depthgauge
from depthgauge._confine import hiding_way
from depthgauge.engine.running.task import Context
from depthgauge.errors import Misuse
from depthgauge.methods import Method


def hidden_from(method: Method, context: Context) -> tuple[list[Path], str]:
    """The folders that a method must not see; and why some have to stay visible.

    A folder with the method's code, with a path that its options name, or with the working folder
    stays as it is: without it the method could not run.
    """
    if context.isolate is False:
        return [], ""
    needed = list(_needed(method))
    hidden, why = [], ""
    for folder in _wanted(context).values():
        reasons = [what for path, what in needed if path.is_relative_to(folder)]
        if reasons:
            why = why or f"{folder} holds {reasons[0]}; move one of them"
        else:
            hidden.append(folder)
    return hidden, why


def require_hidden(context: Context) -> None:
    """Where folders must be hidden: refuses a machine or a method with which that cannot be.

    Raises:
        Misuse: It cannot be done here.
    """
    if not context.isolate:
        return
    if not context.isolated:
        raise Misuse("--isolate needs worker processes; leave out --workers 0.")
    if not hiding_way():
        raise Misuse("--isolate: this system has neither user namespaces nor Landlock.")
    for method in context.methods:
        if method.spec.keeps and (why := hidden_from(method, context)[1]):
            raise Misuse(f"--isolate: {why}.")


def described(method: Method, context: Context) -> dict[str, Any]:
    """How a method is kept apart on this machine, for `run.json`."""
    if not context.isolated or not method.spec.keeps:
        return {"isolation": "none", "hidden": [], "hidden_by": ""}
    way = hiding_way() if context.isolate is not False else ""
    folders = hidden_from(method, context)[0] if way else []
    names = [name for name, folder in _wanted(context).items() if folder in folders]
    return {"isolation": "process", "hidden": names, "hidden_by": way if names else ""}


def _wanted(context: Context) -> dict[str, Path]:
    """The folders that nobody should see, by what they are."""
    both = {"data": context.data, "run": context.folder}
    return {name: path.resolve() for name, path in both.items() if path is not None}


def _needed(method: Method) -> Iterator[tuple[Path, str]]:
    """Places without which a method cannot run, and what they are."""
    for path in (sys.prefix, sys.base_prefix, Path(depthgauge.__file__).parent, *sys.path):
        if path:
            yield Path(str(path)).resolve(), "the installation of Python"
    home = method.kind.home
    if isinstance(home, str) and method.kind.code:
        yield Path(home).resolve(), "the code of the method"
    yield Path.cwd().resolve(), "the working folder"
    yield Path(tempfile.gettempdir()).resolve(), "the folder for temporary files"
    for path in _paths(method):
        yield path, f"'{path}', which the options of '{method.label}' name"


def _paths(method: Method) -> Iterator[Path]:
    """Existing files and folders that the options name, also within a command line."""
    texts = list(_texts(method.described()))
    folders = [Path.cwd(), *(Path(text) for text in texts if _exists(Path(text), "is_dir"))]
    for text in texts:
        for word in _words(text):
            for folder in folders:
                path = folder / Path(word)
                if _exists(path):
                    yield path.resolve()


def _texts(thing: Any) -> Iterator[str]:
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict):
        yield from _texts(list(thing.values()))
    elif isinstance(thing, list):
        for each in thing:
            yield from _texts(each)


def _words(text: str) -> set[str]:
    """What may be a path: the whole text, its words, and what follows an `=` in them."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    found = {text, *words, *(word.partition("=")[2] for word in words)}
    return {word for word in found if word and "\0" not in word}


def _exists(path: Path, test: str = "exists") -> bool:
    try:
        return bool(getattr(path, test)())
    except (OSError, ValueError):  # too long a name, for instance
        return False
