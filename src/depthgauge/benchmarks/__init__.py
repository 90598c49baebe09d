"""Benchmarks: one TOML file each, and the schema that they must satisfy."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from depthgauge import _registry
from depthgauge.benchmarks.protocol import Protocol, load_protocol, make_protocol
from depthgauge.errors import BadProtocol, DuplicateName, Problem

__all__ = ["BENCHMARKS", "Protocol", "find_benchmark", "load_protocol", "make_protocol"]

_NO_BENCHMARK = "pyproject.toml"
"""Lies beside a module that is used from where it is developed."""


class _Benchmarks(Mapping[str, Protocol]):
    """Benchmark files by id, which is the file's name; each is read when it is asked for.

    Other distributions join through the entry-point group `depthgauge.benchmarks`; an entry point
    names a package or module, and every TOML file in its folder is a benchmark.
    """

    def __init__(self) -> None:
        self._read: dict[str, Protocol] = {}

    @cached_property
    def _paths(self) -> dict[str, Path]:
        points = _registry._plug_ins().select(group=__name__)
        found: dict[str, Path] = {}
        for module in sorted({__name__, *(point.value for point in points)}):
            for path in _benchmark_files(module):
                if found.setdefault(path.stem, path) != path:
                    raise DuplicateName(
                        f"benchmark '{path.stem}' is defined in {found[path.stem]} and in {path}; "
                        "rename one."
                    )
        return dict(sorted(found.items()))

    def path(self, name: str) -> Path:
        """The file of a benchmark."""
        if name not in self._paths:
            raise _registry.unknown("benchmark", name, self)
        return self._paths[name]

    def __getitem__(self, name: str) -> Protocol:
        if name not in self._read:
            path = self.path(name)
            protocol = load_protocol(path)
            if protocol.id != name:
                what = f"is '{protocol.id}' but the file is {path.name}"
                raise BadProtocol(str(path), [Problem("id", what, "make them the same")])
            self._read[name] = protocol
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _benchmark_files(name: str) -> list[Path]:
    module = importlib.import_module(name)
    folders = getattr(module, "__path__", None) or [Path(str(module.__file__)).parent]
    files = {file.resolve() for folder in folders for file in Path(folder).glob("*.toml")}
    return sorted(file for file in files if file.name != _NO_BENCHMARK)


BENCHMARKS = _Benchmarks()


def find_benchmark(name: str | Path | Protocol) -> Protocol:
    """A benchmark by its id or by the path of a benchmark file."""
    if isinstance(name, Protocol):
        return name
    text = str(name)
    if text.endswith(".toml") or "/" in text:
        return load_protocol(Path(name))
    return BENCHMARKS[text]
