"""The names that a shell completes, read without importing the registries.

A key press must be answered at once, and the registries take numpy and pydantic with them. So names
are read off the sources; a test compares them with the registries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_HOUSE = Path(__file__).parents[1]
_DECLARED = re.compile(
    r'^(?:@(?:metric|region|shared_map|effect)\(|SPEC = \w+\()\s*(?:id=)?"([^"]+)"', re.MULTILINE
)

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names_of(kind: str) -> list[str]:
    """All names of `metrics`, `regions` (shared maps too), `methods` ... or `benchmarks`."""
    if kind == "benchmarks":
        return sorted(path.stem for path in (_HOUSE / kind).glob("*.toml"))
    modules = (path for path in (_HOUSE / kind).rglob("*.py") if not path.name.startswith("_"))
    texts = (path.read_text(encoding="utf-8") for path in modules)
    return sorted(name for text in texts for name in _DECLARED.findall(text))


def completes(*kinds: str, files: bool = False) -> Complete:
    """Completes names of these kinds; files if none matches and files are allowed."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = _starting_with(incomplete, (name for kind in kinds for name in names_of(kind)))
        if files and not found:
            return [CompletionItem(incomplete, type="file")]
        return found

    return complete


def _starting_with(start: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(start)]
