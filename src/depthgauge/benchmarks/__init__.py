"""Benchmarks: one TOML file each, and the schema that they must satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from depthgauge import _registry
from depthgauge._once import cached_property
from depthgauge.benchmarks._places import HOME, benchmark_paths
from depthgauge.benchmarks.protocol import Protocol, load_protocol, make_protocol
from depthgauge.errors import BadProtocol, Problem
from depthgauge.io.text import read_toml

__all__ = ["BENCHMARKS", "Protocol", "find_benchmark", "load_protocol", "make_protocol"]


_RECIPES = {
    "kitti": "score --truth disp_occ_0 --estimates DIR --metric d1-all' scores two folders, and "
    "docs/protocols.md#kitti-disparity has its development kit's rules as a file",
    "sintel": "score --truth DIR --estimates DIR --metric epe' scores two folders, and "
    "docs/protocols.md#sintel-and-kitti-flow has the recipe as a file",
}
"""What can be run in place of a ready benchmark, by what its name contains."""
_ANY_RECIPE = (
    "score --truth DIR --estimates DIR' scores any two folders, and docs/protocols.md says "
    "how to write a benchmark"
)


def _recipe(name: str, known: Iterable[str]) -> str:
    """How to get numbers if no benchmark has that name or a similar one."""
    any_recipe = "" if _registry.nearest(name, known) else _ANY_RECIPE
    fitting = (text for word, text in _RECIPES.items() if word in name.lower())
    recipe = next(fitting, any_recipe)
    return f"Without a benchmark, 'depthgauge {recipe}." if recipe else ""


def _suite(name: str) -> str:
    """What to run if the name is that of several benchmarks together."""
    from depthgauge.benchmarks.suites import SUITES

    return f"It is a suite: see 'depthgauge suite {name} --help'." if name in SUITES else ""


class _Benchmarks(Mapping[str, Protocol]):
    """Benchmark files by id, which is the file's name; each is read on first use.

    Other distributions join through the entry-point group `depthgauge.plugins`: if an entry point
    names a package, the benchmark files in its folder are registered.
    """

    def __init__(self) -> None:
        self._read: dict[str, Protocol] = {}

    @cached_property
    def _paths(self) -> dict[str, Path]:
        return benchmark_paths()

    def path(self, name: str) -> Path:
        """The file of a benchmark."""
        if name not in self._paths:
            remarks = [_suite(name) or _recipe(name, self), *_registry.failed_plug_ins(HOME)]
            raise _registry.unknown("benchmark", name, self, remarks)
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

    def titles(self) -> dict[str, str]:
        """All names with their titles; nothing else of the files is read, which takes time."""
        return {name: str(read_toml(path).get("title", "")) for name, path in self._paths.items()}

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


BENCHMARKS = _Benchmarks()


def find_benchmark(name: str | Path | Protocol) -> Protocol:
    """A benchmark by its id or the path of its file; `ID@SPLIT` selects another split.

    The split is part of the protocol's hash: numbers on `train` are never mixed with others.

    >>> find_benchmark("booster-balanced").split, find_benchmark("booster-balanced@train").split
    ('test-stereo', 'train')
    """
    if isinstance(name, Protocol):
        return name
    text = str(name)
    if text.endswith(".toml"):
        return load_protocol(Path(name))
    rest, at, split = text.rpartition("@")
    if at and "/" not in split:
        return _on_split(find_benchmark(rest), split)
    return load_protocol(Path(name)) if "/" in text else BENCHMARKS[text]


def _on_split(protocol: Protocol, split: str) -> Protocol:
    from depthgauge.datasets import DATASETS

    splits = DATASETS[protocol.dataset].spec.splits
    if splits and split not in splits:
        raise _registry.unknown(f"{protocol.dataset} split", split, splits)
    return protocol.model_copy(update={"split": split})
