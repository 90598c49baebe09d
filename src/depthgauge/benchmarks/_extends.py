"""Benchmarks that are others with some keys changed: `extends = "booster-balanced"`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from depthgauge._registry import nearest
from depthgauge.benchmarks._messages import shown
from depthgauge.benchmarks._places import benchmark_paths
from depthgauge.errors import BadFile, BadProtocol, Problem

KEY = "extends"
_OWN = ("id", "version", "title")
"""Keys that are never taken over."""


def read_benchmark(path: Path) -> dict[str, Any]:
    """The keys of a benchmark file, with those of the one that it extends where it has none.

    A key of the file replaces the whole key of the other: tables and lists are not mixed. The
    other is the file of that name beside it, or a registered benchmark, and may extend a third.

    Raises:
        BadFile: A file cannot be read or is not TOML.
        BadProtocol: There is no such benchmark, or they lead in a circle.
    """
    chain = [path.resolve()]
    raw = _read(path)
    found = dict(raw)
    while KEY in raw:
        base = _base(path, chain[-1].parent, raw[KEY])
        if base in chain:
            names = " > ".join(file.stem for file in [*chain, base])
            raise BadProtocol(str(path), [Problem(KEY, f"leads back to itself: {names}")])
        chain.append(base)
        raw = _read(base)
        found = {**{k: v for k, v in raw.items() if k not in _OWN}, **found}
    found.pop(KEY, None)
    return found


def _base(path: Path, folder: Path, name: Any) -> Path:
    if not isinstance(name, str):
        what = f"is {shown(name)} but must be the id of a benchmark"
        raise BadProtocol(str(path), [Problem(KEY, what)])
    beside = folder / f"{name}.toml"
    if "/" not in name and beside.is_file():
        return beside.resolve()
    known = benchmark_paths()
    if name not in known:
        hint = nearest(name, known) or f"known: {', '.join(known)}"
        raise BadProtocol(str(path), [Problem(KEY, f"there is no benchmark {shown(name)}", hint)])
    return known[name]


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: is not TOML ({error}).") from error
