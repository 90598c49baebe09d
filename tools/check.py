"""`make check`: checks what changed, in under a minute; `make test` checks everything.

Changed is what differs from the branch that the work will join, and what is not committed. Ruff and
mypy look at the changed files, pytest runs their tests: a changed test itself, and of a changed
module the tests that mirror it. The rules of the house are always checked, and the generated pages
where something that they are made of has changed.

    python -m tools.check              what differs from main
    python -m tools.check HEAD         what is not committed
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOUSE = "tests/test_house.py"
_PAGES = ("tests/docs/test_generated.py",)
_MANY = 12
"""More test files than this are those of a large change: `make test` is for it."""


def changed_files(base: str) -> list[str]:
    """Files that differ from `base` or are new, and still exist."""
    merge_base = _git("merge-base", base, "HEAD").strip() if base != "HEAD" else "HEAD"
    names = [
        *_git("diff", "--name-only", merge_base).splitlines(),
        *_git("ls-files", "--others", "--exclude-standard").splitlines(),
    ]
    return sorted({name for name in names if (ROOT / name).is_file()})


def find_tests(names: Iterable[str], root: Path = ROOT) -> list[str]:
    """The test files of some changed files.

    A module `src/depthgauge/io/png.py` has `tests/io/test_png.py`; a private one, or one without
    such a file, the tests beside that place that import it.
    """
    found = {test for name in names for test in _tests_of(name, root)}
    return sorted(found - {HOUSE})


def _tests_of(name: str, root: Path) -> Iterator[str]:
    path = Path(name)
    if path.suffix != ".py":
        return
    if path.parts[0] == "tests":
        if path.name.startswith("test_"):
            yield name
        return
    room = _room(path)
    mirrored = root / "tests" / room / f"test_{path.stem.removeprefix('_')}.py"
    if mirrored.is_file():
        yield str(mirrored.relative_to(root))
        return
    dotted = ".".join(path.with_suffix("").parts).removeprefix("src.")
    folder = root / "tests" / room
    for test in sorted(folder.glob("test_*.py")) if folder.is_dir() else ():
        if _imports(test.read_text(encoding="utf-8"), dotted):
            yield str(test.relative_to(root))


def _room(path: Path) -> Path:
    """`src/depthgauge/io/png.py` is in `io`, `tools/check.py` in `tools`."""
    if path.parts[0] == "src":
        return Path(*path.parts[2:-1])
    return path.parent


def _imports(text: str, module: str) -> bool:
    package, _, name = module.rpartition(".")
    return (
        f"{module} import" in text
        or f"import {module}" in text
        or (f"from {package} import" in text and name in text)
    )


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def commands(names: list[str]) -> Iterator[list[str]]:
    """What must be run for some changed files, the quickest first."""
    python = [sys.executable, "-m"]
    sources = [name for name in names if name.endswith(".py") and (ROOT / name).is_file()]
    if sources:
        yield [*python, "ruff", "check", *sources]
        yield [*python, "ruff", "format", "--check", *sources]
    typed = [name for name in sources if name.startswith("src/")]
    if typed:
        yield [*python, "mypy", *typed]
    tests = find_tests(names)
    if len(tests) > _MANY:
        sys.stdout.write(f"{len(tests)} test files are concerned; run make test as well.\n")
        tests = tests[:_MANY]
    pages = _PAGES if any(name.startswith(("src/", "docs/", "tools/")) for name in names) else ()
    wanted = list(dict.fromkeys([HOUSE, *pages, *tests]))
    yield [*python, "pytest", "-q", "-x", "-m", "not long", *wanted]


def main(arguments: list[str]) -> int:
    """Runs the commands one after the other and stops at the first that fails."""
    names = changed_files(arguments[0] if arguments else "main")
    if not names:
        sys.stdout.write("Nothing has changed.\n")
        return 0
    sys.stdout.write(f"{len(names)} changed files.\n")
    for command in commands(names):
        shown = " ".join(command[2:6]) + (" ..." if len(command) > 6 else "")
        sys.stdout.write(f"> {shown}\n")
        sys.stdout.flush()
        if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
