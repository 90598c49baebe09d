"""Where benchmark files are: in this package, and in packages that register them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from depthgauge import _registry
from depthgauge.errors import BadFile, DuplicateName
from depthgauge.io.text import read_toml

HOME = "depthgauge.benchmarks"
"""Our own folder; also the name of an older entry-point group, used before there was one for
all."""
_NO_BENCHMARK = "pyproject.toml"
"""Found beside a module that is used from its source tree."""
_KEYS = {"id", "dataset", "quantity", "scores"}
"""A TOML file of another package with one of these keys is a benchmark; others are ignored."""


def benchmark_paths() -> dict[str, Path]:
    """All benchmark files by id, which is the file's name.

    Raises:
        DuplicateName: Two packages have a file of the same name.
    """
    modules, said = _registry.plug_in_modules(HOME)
    found: dict[str, Path] = {}
    for module in (importlib.import_module(HOME), *modules):
        for path in _benchmark_files(module):
            if found.setdefault(path.stem, path) != path:
                raise DuplicateName(
                    f"benchmark '{path.stem}' is defined in {found[path.stem]} and in {path}; "
                    "rename one."
                )
    _registry.issue(said)
    return dict(sorted(found.items()))


def _benchmark_files(module: ModuleType) -> Iterator[Path]:
    files = {file.resolve() for folder in _folders(module) for file in folder.glob("*.toml")}
    for file in sorted(files):
        if file.name != _NO_BENCHMARK and (module.__name__ == HOME or _is_benchmark(file)):
            yield file


def _folders(module: ModuleType) -> list[Path]:
    """The folder of a package; that of a module only if the old group names it."""
    if hasattr(module, "__path__"):
        return [Path(folder) for folder in module.__path__]
    old = {point.value for point in _registry._plug_ins().select(group=HOME)}
    return [Path(str(module.__file__)).parent] if module.__name__ in old else []


def _is_benchmark(file: Path) -> bool:
    try:
        return bool(_KEYS & set(read_toml(file)))
    except BadFile:
        return True  # a mistake is reported when the benchmark is read, not hidden
