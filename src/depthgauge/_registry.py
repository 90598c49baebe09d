"""Registries that fill themselves: a folder is its own list of metrics, regions, datasets ...

Nothing is imported until a name is looked up or the names are listed.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Generic, TypeVar

from depthgauge.errors import DuplicateName, UnknownName

T = TypeVar("T")


@cache
def _plug_ins() -> Any:
    """What other distributions bring; looking through all of them takes a while, so once."""
    from importlib.metadata import entry_points

    return entry_points()


def nearest(name: str, known: Iterable[str]) -> str:
    """`Did you mean ...?` for a name that is close to a known one, else nothing.

    >>> nearest("badpx", ["badpix", "mae"])
    "Did you mean 'badpix'?"
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else ""


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name that no registry knows; it names the nearest and lists the rest."""
    names = sorted(known)
    parts = [f"no {kind} '{name}'.", nearest(name, names), f"Known: {', '.join(names)}."]
    return UnknownName(" ".join(part for part in parts if part))


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name, found in the modules of one package on first use.

    A module joins by calling `add` when it is imported (a decorator does), or, where `collect` is
    given, by what `collect(module)` returns. Modules whose names start with `_` are not walked.
    Other distributions join through the entry-point group of the package's name; an entry point
    names a module, which is treated like one of the folder's own.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        collect: Callable[[object], Iterable[tuple[str, T]]] | None = None,
    ) -> None:
        self.kind = kind
        self._package = package
        self._collect = collect
        self._things: dict[str, T] = {}
        self._homes: dict[str, str] = {}
        self._joined: set[str] = set()
        self._lock = threading.RLock()
        self._walked = False

    def add(self, name: str, thing: T, home: str) -> None:
        """Registers a thing; a second one of that name is refused, whoever brings it."""
        if name in self._things:
            raise DuplicateName(
                f"{self.kind} '{name}' is defined in {self._homes[name]} and in {home}; rename one."
            )
        self._things[name] = thing
        self._homes[name] = home

    def _walk(self) -> None:
        if not self._walked:
            with self._lock:
                self._walk_once()

    def _walk_once(self) -> None:
        if self._walked:
            return
        package = importlib.import_module(self._package)
        names = [
            f"{self._package}.{found.name}"
            for found in pkgutil.iter_modules(package.__path__)
            if not found.name.startswith("_")
        ]
        names += [point.value for point in _plug_ins().select(group=self._package)]
        for name in sorted(names):
            if name in self._joined:
                continue  # the walk before this one broke off at a module that cannot be imported
            module = importlib.import_module(name)
            if self._collect is not None:
                for key, thing in self._collect(module):
                    self.add(key, thing, name)
            self._joined.add(name)
        self._walked = True

    def __getitem__(self, name: str) -> T:
        self._walk()
        try:
            return self._things[name]
        except KeyError:
            raise unknown(self.kind, name, self._things) from None

    def __contains__(self, name: object) -> bool:
        self._walk()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._walk()
        return iter(sorted(self._things))

    def __len__(self) -> int:
        self._walk()
        return len(self._things)
