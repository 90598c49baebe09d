"""Writes a new metric, region, dataset ... and its test from a template that passes all checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge._registry import GROUP
from depthgauge.errors import BadData, Misuse
from depthgauge.io import write_text
from depthgauge.io.text import read_text, read_toml

TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 30
_SNAKE, _KEBAB = re.compile(r"[a-z][a-z0-9_]*"), re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Kind:
    """Where things of a kind are, and how they are named."""

    name: str
    folder: str
    """Below `src/depthgauge`."""
    tests: str
    """Below `tests`."""
    names: re.Pattern[str]
    suffix: str = "py"


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("metric", "metrics", "metrics", _SNAKE),
        Kind("region", "regions", "regions", _SNAKE),
        Kind("dataset", "datasets", "datasets", _KEBAB),
        Kind("method", "methods", "methods", _KEBAB),
        Kind("benchmark", "benchmarks", "benchmarks", _KEBAB, "toml"),
        Kind("generator", "synth/generators", "synth", _KEBAB),
    )
}


@dataclass(frozen=True)
class Written:
    """What was written, and what comes next."""

    kind: str
    name: str
    files: tuple[Path, ...]
    changed: tuple[Path, ...]
    """Files that were there and have a new line."""
    next_steps: tuple[str, ...]
    """Commands and sentences."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "schema": 1,
            "kind": self.kind,
            "name": self.name,
            "files": [str(path) for path in self.files],
            "changed": [str(path) for path in self.changed],
            "next": list(self.next_steps),
        }


def write_new(
    kind: str,
    name: str,
    *,
    package: Path | None = None,
    repository: Path | None = None,
    title: str = "",
) -> Written:
    """Writes the file and its test.

    Args:
        kind: One of `KINDS`.
        name: Its name in the registry: `slope_error` of metrics and regions, `my-camera` of others.
        package: The folder of a package of one's own; made if it is not there.
        repository: The root of depthgauge's repository, where there is no package.
        title: What it is, in a few words; by default the name in words.

    Raises:
        Misuse: The kind or the name cannot be used, or is taken.
        BadData: The repository is not one, or a file is there already.
    """
    declared = _checked(kind, name)
    words = {**_words(name), **_titled(title)}
    place = (
        _in_package(declared, words, package) if package else _inside(declared, words, repository)
    )
    texts = {
        place.source: _filled(f"{kind}.{declared.suffix}.txt", words),
        place.test: _filled(f"{kind}_test.py.txt", words),
    }
    for path in texts:
        if path.exists():
            raise BadData(f"{path}: is there already; choose another name.")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    made, changed = place.finish()
    return Written(kind, name, (*texts, *made), changed, place.next_steps)


@dataclass(frozen=True)
class _Place:
    source: Path
    test: Path
    finish: Callable[[], tuple[tuple[Path, ...], tuple[Path, ...]]]
    """Writes what else is needed; returns new files and changed ones."""
    next_steps: tuple[str, ...]


def _checked(kind: str, name: str) -> Kind:
    if kind not in KINDS:
        raise Misuse(f"there is no template for '{kind}'; there are {', '.join(KINDS)}.")
    declared = KINDS[kind]
    if not declared.names.fullmatch(name) or name.endswith(("-", "_")) or len(name) > _LONGEST:
        between = "_" if declared.names is _SNAKE else "-"
        raise Misuse(
            f"a {kind}'s name has at most {_LONGEST} lower-case letters and digits, with "
            f"'{between}' between words, such as my{between}{kind}; not '{name}'."
        )
    if name in _taken(kind):
        raise Misuse(f"there is a {kind} '{name}' already; choose another name.")
    return declared


def _taken(kind: str) -> Any:
    from depthgauge.benchmarks import BENCHMARKS
    from depthgauge.datasets import DATASETS
    from depthgauge.methods import METHODS
    from depthgauge.metrics import METRICS
    from depthgauge.regions import REGIONS
    from depthgauge.synth.generators import GENERATORS

    return {
        "metric": METRICS,
        "region": REGIONS,
        "dataset": DATASETS,
        "method": METHODS,
        "benchmark": BENCHMARKS,
        "generator": GENERATORS,
    }[kind]


def _words(name: str) -> dict[str, str]:
    """What templates have in place of `<<...>>`."""
    plain = name.replace("-", " ").replace("_", " ")
    return {
        "name": name,
        "module": name.replace("-", "_"),
        "title": plain,
        "Title": plain[0].upper() + plain[1:],
        "Class": "".join(word.capitalize() for word in plain.split()),
    }


def _titled(title: str) -> dict[str, str]:
    """The words of a title that was given."""
    if not title:
        return {}
    if len(title) > 2 * _LONGEST or not title.isprintable() or set(title) & set("\"'\\<>"):
        raise Misuse(f"a title has at most {2 * _LONGEST} plain characters; not '{title}'.")
    return {"title": title, "Title": title}


def _filled(template: str, words: Mapping[str, str]) -> str:
    return re.sub(r"<<(\w+)>>", lambda found: words[found[1]], read_text(TEMPLATES / template))


def _inside(kind: Kind, words: Mapping[str, str], repository: Path | None) -> _Place:
    """In depthgauge itself: a folder is its own registry."""
    root = (repository or Path.cwd()).absolute()
    source = root / "src" / "depthgauge"
    if not (source / "_registry.py").is_file():
        raise BadData(
            f"{root}: is not depthgauge's repository; go there, or write into a package of your "
            "own with --package DIR."
        )
    stem = words["name"] if kind.suffix == "toml" else words["module"]
    test = root / "tests" / kind.tests / f"test_{words['module']}.py"
    steps = [f"python -m pytest -n 0 {test.relative_to(root)}"]
    if kind.name == "benchmark":
        steps.append("python -m depthgauge.benchmarks.lock")
    steps += ["make docs", "make check"]
    return _Place(
        source / kind.folder / f"{stem}.{kind.suffix}", test, lambda: ((), ()), tuple(steps)
    )


def _in_package(kind: Kind, words: Mapping[str, str], package: Path) -> _Place:
    """In a package of one's own, which an entry point makes known."""
    root = package.absolute()
    project = root / "pyproject.toml"
    name = _import_name(root, project)
    home = root / "src" / name
    module = words["module"]
    test = root / "tests" / f"test_{module}.py"
    if kind.name == "benchmark":
        source = home / "benchmarks" / f"{words['name']}.toml"
        point = ("benchmarks", f"{name}.benchmarks")
    else:
        source = home / f"{module}.py"
        point = (module, f"{name}.{module}")

    def finish() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        made = list(_inits(home, source))
        there = project.is_file()
        text = read_text(project) if there else _new_project(root.name, name)
        after = _with_entry_point(text, *point)
        if after != text or not there:
            write_text(project, after)
        new = () if there else (project,)
        return (*made, *new), (project,) if there and after != text else ()

    steps = (f"pip install -e {root}", f"python -m pytest {test}", "depthgauge list")
    return _Place(source, test, finish, steps)


def _import_name(root: Path, project: Path) -> str:
    """The name of the package: that of the only folder in src, else made from the folder's."""
    found = sorted(p.parent.name for p in (root / "src").glob("*/__init__.py"))
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise BadData(f"{root / 'src'}: has several packages ({', '.join(found)}); keep one.")
    said = read_toml(project).get("project", {}).get("name", "") if project.is_file() else ""
    name = re.sub(r"\W+", "_", str(said or root.name)).strip("_").lower()
    if not name.isidentifier() or name == "depthgauge":
        raise Misuse(f"{root}: its name cannot be that of a package; choose another folder.")
    return name


def _inits(home: Path, source: Path) -> list[Path]:
    made = []
    for folder, text in (
        (home, '"""Plug-ins for depthgauge."""\n'),
        (source.parent, '"""Benchmarks: the TOML files beside this one."""\n'),
    ):
        path = folder / "__init__.py"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
            made.append(path)
    return made


def _new_project(folder: str, name: str) -> str:
    distribution = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-") or name
    return f"""[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{distribution}"
version = "0.1"
dependencies = ["depthgauge"]

[project.entry-points."{GROUP}"]

[tool.hatch.build.targets.wheel]
packages = ["src/{name}"]
"""


def _with_entry_point(text: str, name: str, value: str) -> str:
    """The text of a pyproject.toml with one more entry point; all else stays as it is."""
    header = f'[project.entry-points."{GROUP}"]'
    line = f'{name} = "{value}"'
    if line in text:
        return text
    if header not in text:
        return f"{text.rstrip()}\n\n{header}\n{line}\n"
    before, _, after = text.partition(header)
    return f"{before}{header}\n{line}{after}"
