"""A method in a TOML file: `method = "sgbm"` or `command = "..."`, with options and a label."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depthgauge._registry import nearest
from depthgauge.errors import BadFile, DepthgaugeError, Problem
from depthgauge.methods._load import from_file
from depthgauge.methods._options import make_options
from depthgauge.methods._spec import METHODS, MethodKind, MethodOptions
from depthgauge.quantities import QUANTITIES

_KEYS = ("method", "command", "label", "quantities", "options")


@dataclass(frozen=True, slots=True)
class MethodFile:
    """What such a file says."""

    kind: MethodKind
    options: MethodOptions
    label: str


def read_method_file(path: Path) -> MethodFile:
    """Reads a method file; every mistake in it is reported at once.

    Raises:
        BadFile: It cannot be read, or has mistakes.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: is not TOML ({error}).") from error
    wrong = list(_mistakes(raw))
    kind, options = None, None
    try:
        kind = _kind(raw, path.parent)
    except DepthgaugeError as error:
        wrong.append(Problem("method", str(error).rstrip(".")))
    if kind is not None:
        options, more = make_options(kind.spec, _given(raw))
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
        found = "both are there" if "method" in raw else "neither is there"
        yield Problem("method, command", f"one of the two is needed, {found}")
    for key in ("method", "command", "label"):
        if not isinstance(raw.get(key, ""), str):
            yield Problem(key, f"is {raw[key]!r} but must be a text")
    options = raw.get("options", {})
    if not isinstance(options, dict):
        yield Problem("options", f"is {options!r} but must be a table: [options]")
    elif "command" in raw and "template" in options:
        yield Problem("options.template", "is said already by 'command'")
    yield from _quantity_mistakes(raw.get("quantities", []))


def _quantity_mistakes(value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem("quantities", f"is {value!r} but must be a list such as ['disparity']")
        return
    for name in value:
        if name not in QUANTITIES:
            hint = nearest(str(name), QUANTITIES) or f"Known: {', '.join(QUANTITIES)}"
            yield Problem("quantities", f"{name!r} is no quantity", hint)


def _kind(raw: Mapping[str, Any], folder: Path) -> MethodKind | None:
    if isinstance(raw.get("command"), str):
        return METHODS["command"]
    named = raw.get("method")
    if not isinstance(named, str):
        return None
    return from_file(folder / named) if named.endswith(".py") else METHODS[named]


def _given(raw: Mapping[str, Any]) -> dict[str, Any]:
    options = raw.get("options", {})
    given = dict(options) if isinstance(options, dict) else {}
    return {**given, "template": raw["command"]} if "command" in raw else given


def _where(raw: Mapping[str, Any], option: str) -> str:
    return "command" if option == "template" and "command" in raw else f"options.{option}"
