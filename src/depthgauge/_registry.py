"""Registries that fill themselves: a folder is its own list of metrics, regions, datasets ...

Nothing is imported until a name is looked up or the names are listed. Other distributions join
through one entry-point group, `depthgauge.plugins`: an entry point names a module, and every
registry takes from it what is its own. A plug-in that cannot be used is named in a warning, and
everything else works.
"""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any, Generic, TypeVar

from depthgauge.errors import DepthgaugeError, DuplicateName, UnknownName

T = TypeVar("T")

GROUP = "depthgauge.plugins"
"""The entry-point group of everything that another distribution can add."""

_MOST_LISTED = 12
"""An error lists up to this many names; beyond that, it says how to list them."""
_MOST_NEAREST = 3
_LISTABLE = ("metric", "region", "dataset", "method", "benchmark")


class PluginWarning(UserWarning):
    """A plug-in of another distribution cannot be used; everything else works."""


_LOCK = threading.RLock()
"""One for all registries: a plug-in may join several of them while it is imported."""
if hasattr(os, "register_at_fork"):
    # No process is forked in the middle of a walk, which nobody would finish in it.
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )
_REGISTRIES: list[Registry[Any]] = []
_FAILURES: dict[str, str] = {}
"""The plug-in modules that cannot be imported, with a sentence that says why."""


@cache
def _plug_ins() -> Any:
    """The entry points of all distributions; searched only once, because that takes a while."""
    from importlib.metadata import entry_points

    return entry_points()


def nearest(name: str, known: Iterable[str]) -> str:
    """`Did you mean ...?` for a name that is close to a known one, else nothing.

    >>> nearest("badpx", ["badpix", "mae"])
    "Did you mean 'badpix'?"
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else ""


def unknown(kind: str, name: str, known: Iterable[str], remarks: Iterable[str] = ()) -> UnknownName:
    """The error for a name that no registry knows: the nearest names, and all if they are few."""
    names = sorted(known)
    hint = nearest(name, names)
    listed = f"Known: {', '.join(names)}."
    if len(names) > _MOST_LISTED:
        hint = _nearest_few(name, names)
        more = f"and {len(names) - _MOST_LISTED} more"
        listed = f"Known: {', '.join(names[:_MOST_LISTED])} {more}."
        if kind in _LISTABLE:
            listed = f"'depthgauge list {kind}s' shows all {len(names)}."
    parts = [f"no {kind} '{name}'.", hint, listed, *remarks]
    return UnknownName(" ".join(part for part in parts if part))


def _nearest_few(name: str, names: Iterable[str]) -> str:
    """At most three of the nearest names: those that look similar or begin in the same way."""
    known = {each.lower(): each for each in names}
    folded = name.lower()
    close = difflib.get_close_matches(folded, known, n=_MOST_NEAREST, cutoff=0.6)
    close += [each for each in known if folded and each.startswith(folded)]
    found = [f"'{known[each]}'" for each in dict.fromkeys(close)][:_MOST_NEAREST]
    if not found:
        return ""
    *first, last = found
    return f"Did you mean {', '.join(first)} or {last}?" if first else f"Did you mean {last}?"


def plug_in_modules(old_group: str = "") -> tuple[list[ModuleType], list[Warning]]:
    """The modules of other distributions, and the warnings about them.

    Args:
        old_group: A group that was used before there was one for everything. It is still read, with
            a warning.

    Returns:
        The modules that could be imported, and the warnings, which the caller issues at its end.
    """
    modules, said = [], _old_group_warnings(old_group)
    for point in _points(old_group):
        if point.value in _FAILURES:
            continue
        try:
            modules.append(importlib.import_module(point.value))
        except Exception as error:  # any error of a plug-in; the others must work
            for registry in _REGISTRIES:  # remove what it registered before: all or nothing
                registry.drop(point.value)
            _FAILURES[point.value] = _sentence(point.value, error, old_group)
            said.append(PluginWarning(_FAILURES[point.value]))
    return modules, said


def failed_plug_ins(old_group: str = "") -> list[str]:
    """A sentence about each plug-in that could not be imported."""
    return [_FAILURES[p.value] for p in _points(old_group) if p.value in _FAILURES]


def issue(said: Iterable[Warning]) -> None:
    """Issues warnings that were collected where nothing may be interrupted."""
    for warning in said:
        warnings.warn(warning, stacklevel=4)


def _points(old_group: str) -> list[Any]:
    """Entry points of the group and of the old one, each module once."""
    found = {
        point.value: point
        for group in (old_group, GROUP)
        for point in (_plug_ins().select(group=group) if group else ())
    }
    return [found[value] for value in sorted(found)]


def _old_group_warnings(old_group: str) -> list[Warning]:
    points = _plug_ins().select(group=old_group) if old_group else ()
    lines = ", ".join(f'{point.name} = "{point.value}"' for point in points)
    if not lines:
        return []
    text = (
        f"the entry-point group '{old_group}' is read for one more release; write {lines} "
        f'under [project.entry-points."{GROUP}"].'
    )
    return [DeprecationWarning(text)]


def _sentence(module: str, error: Exception, old_group: str) -> str:
    """Why a plug-in cannot be used."""
    name = next(point.name for point in _points(old_group) if point.value == module)
    ours = isinstance(error, DepthgaugeError)
    reason = str(error) if ours else f"{type(error).__name__}: {error}"
    return f"The plug-in '{name}' ({module}) cannot be used: {reason.rstrip('.')}."


def _public_modules(package: str) -> list[str]:
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return sorted(f"{package}.{m.name}" for m in found if not m.name.startswith("_"))


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name, found in the modules of one package on first use.

    A module joins by calling `add` when it is imported (a decorator does), or, where `collect` is
    given, by what `collect(module)` returns. Modules whose names start with `_` are not walked.
    Other distributions join through the entry-point group `depthgauge.plugins`; an entry point
    names a module, which is treated like one of the folder's own. So `collect` is shown modules
    that hold other kinds of things, and returns nothing for them. `also` names modules of ours that
    are outside the folder: those of higher floors, which the registry's own room must not import.
    `groups` names subfolders that are walked like the folder itself.
    `check(thing)` raises if a declaration names things of other registries that do not exist; it
    is called when all modules are known, because a plug-in may contain both.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        collect: Callable[[ModuleType], Iterable[tuple[str, T]]] | None = None,
        also: Iterable[str] = (),
        check: Callable[[T], None] | None = None,
        groups: Iterable[str] = (),
    ) -> None:
        self.kind = kind
        self._package = package
        self._collect = collect
        self._also = tuple(also)
        self._packages = (package, *(f"{package}.{group}" for group in groups))
        self._check = check
        self._things: dict[str, T] = {}
        self._homes: dict[str, str] = {}
        self._joined: set[str] = set()
        self._refused: list[str] = []
        self._walking = False
        self._walked = False
        self.changes = 0
        """Grows whenever something joins or leaves: what was made before may be made anew."""
        _REGISTRIES.append(self)

    def add(self, name: str, thing: T, home: str) -> None:
        """Registers a thing; a second one with the same name is rejected.

        Args:
            name: What it is called.
            thing: What is registered.
            home: The module that it comes from.
        """
        if not home.startswith(f"{self._package}."):
            # Ours come first, so that the error is about the newcomer.
            self._folder()
        self._put(name, thing, home)
        if self._walked and self._check:
            try:
                self._check(thing)
            except Exception:
                self._take_out(name)
                raise

    def drop(self, home: str) -> None:
        """Removes everything that a module has registered."""
        for name in [name for name, place in self._homes.items() if place == home]:
            self._take_out(name)

    def _take_out(self, name: str) -> None:
        del self._things[name], self._homes[name]
        self.changes += 1

    def _put(self, name: str, thing: T, home: str) -> None:
        if name in self._things:
            raise DuplicateName(
                f"{self.kind} '{name}' is defined in {self._homes[name]} and in {home}; rename one."
            )
        self._things[name] = thing
        self._homes[name] = home
        self.changes += 1

    def _walk(self) -> None:
        if self._walked:
            return
        with _LOCK:
            if self._walked or self._walking:  # walking: a module asks while it is imported
                return
            self._walking = True
            try:
                said = self._walk_once()
            finally:
                self._walking = False
            self._walked = True
        issue(said)

    def _walk_once(self) -> list[Warning]:
        for module in self._folder():
            self._join(module)
        modules, said = plug_in_modules(self._package)
        for module in modules:
            try:
                self._join(module)
            except Exception as error:  # as in `plug_in_modules`
                self.drop(module.__name__)
                self._refused.append(_sentence(module.__name__, error, self._package))
                said.append(PluginWarning(self._refused[-1]))
        return [*said, *self._checked(self._check)] if self._check else said

    def _checked(self, check: Callable[[T], None]) -> Iterator[Warning]:
        """Checks everything; wrong declarations of plug-ins are removed and named."""
        for name, home in sorted(self._homes.items()):
            try:
                check(self._things[name])
            except DepthgaugeError as error:
                if home.startswith(f"{self._package}."):
                    raise
                self._take_out(name)
                self._refused.append(f"A part of the plug-in {home} cannot be used: {error}")
                yield PluginWarning(self._refused[-1])

    def _folder(self) -> list[ModuleType]:
        """The modules of the registry's own folder, and those named beside it, imported."""
        names = [name for package in self._packages for name in _public_modules(package)]
        return [importlib.import_module(name) for name in (*names, *self._also)]

    def _join(self, module: ModuleType) -> None:
        name = module.__name__
        if name in self._joined:
            return  # the walk before this one broke off at a module that cannot be imported
        for key, thing in self._collect(module) if self._collect else ():
            self._put(key, thing, name)
        self._joined.add(name)

    def __getitem__(self, name: str) -> T:
        self._walk()
        try:
            return self._things[name]
        except KeyError:
            remarks = [*failed_plug_ins(self._package), *self._refused]
            raise unknown(self.kind, name, self._things, remarks) from None

    def __contains__(self, name: object) -> bool:
        self._walk()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._walk()
        return iter(sorted(self._things))

    def __len__(self) -> int:
        self._walk()
        return len(self._things)
