"""Which of a benchmark's named expressions a text uses."""

from __future__ import annotations

from collections.abc import Mapping

from depthgauge.regions import REGIONS
from depthgauge.regions.expressions import Atom, parse


def names_used(text: str, named: Mapping[str, str]) -> set[str]:
    """The named expressions behind a text, directly or through others.

    A name that stands for itself (`glass = "glass"`) is the dataset's own region; a registered
    region takes precedence over any other meaning of its name.

    >>> sorted(names_used("a & all", {"a": "b | visible", "b": "glass", "c": "a"}))
    ['a', 'b']
    """
    found: set[str] = set()
    waiting = [text]
    while waiting:
        names = parse(waiting.pop()).names() & named.keys() - found - REGIONS.keys()
        new = {name for name in names if parse(named[name]) != Atom(name)}
        found |= new
        waiting += [named[name] for name in new]
    return found
