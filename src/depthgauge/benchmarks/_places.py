"""Where benchmark files lie: in this package, and in packages that join."""

from __future__ import annotations

import importlib
from pathlib import Path

from depthgauge import _registry
from depthgauge.errors import DuplicateName

GROUP = "depthgauge.benchmarks"
"""The entry-point group; an entry point names a package or module, and every TOML file in its
folder is a benchmark."""
_NO_BENCHMARK = "pyproject.toml"
"""Lies beside a module that is used from where it is developed."""


def benchmark_paths() -> dict[str, Path]:
    """All benchmark files by id, which is the file's name.

    Raises:
        DuplicateName: Two packages have a file of one name.
    """
    points = _registry._plug_ins().select(group=GROUP)
    found: dict[str, Path] = {}
    for module in sorted({GROUP, *(point.value for point in points)}):
        for path in _benchmark_files(module):
            if found.setdefault(path.stem, path) != path:
                raise DuplicateName(
                    f"benchmark '{path.stem}' is defined in {found[path.stem]} and in {path}; "
                    "rename one."
                )
    return dict(sorted(found.items()))


def _benchmark_files(name: str) -> list[Path]:
    module = importlib.import_module(name)
    folders = getattr(module, "__path__", None) or [Path(str(module.__file__)).parent]
    files = {file.resolve() for folder in folders for file in Path(folder).glob("*.toml")}
    return sorted(file for file in files if file.name != _NO_BENCHMARK)
