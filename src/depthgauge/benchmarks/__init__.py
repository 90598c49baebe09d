"""Benchmarks: one TOML file each, and the schema that they must satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from depthgauge._registry import unknown
from depthgauge.benchmarks.protocol import Protocol, load_protocol, make_protocol

__all__ = ["BENCHMARKS", "Protocol", "find_benchmark", "load_protocol", "make_protocol"]


class _Benchmarks(Mapping[str, Protocol]):
    """The package's own benchmark files by id; each is read when it is asked for."""

    kind = "benchmark"

    def __init__(self) -> None:
        self._folder = Path(str(files(__name__)))
        self._read: dict[str, Protocol] = {}

    def __getitem__(self, name: str) -> Protocol:
        if name not in self._read:
            path = self._folder / f"{name}.toml"
            if name not in set(self):
                raise unknown("benchmark", name, self)
            self._read[name] = load_protocol(path)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._folder.glob("*.toml")))

    def __len__(self) -> int:
        return sum(1 for _ in self)


BENCHMARKS = _Benchmarks()


def find_benchmark(name: str | Path | Protocol) -> Protocol:
    """A benchmark by its id or by the path of a benchmark file."""
    if isinstance(name, Protocol):
        return name
    text = str(name)
    if text.endswith(".toml") or "/" in text:
        return load_protocol(Path(name))
    return BENCHMARKS[text]
