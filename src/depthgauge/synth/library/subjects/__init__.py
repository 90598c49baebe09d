"""Subjects: figures of jointed parts that move through a map, one file per kind.

    kind = SUBJECTS["walker"]
    things, motions = performed(kind, ACTIONS["walk"], seed=3, path=path)

A module joins by having `SUBJECT = SubjectKind(...)`. Every subject can do every action.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from depthgauge._registry import Registry
from depthgauge.synth.library.subjects._actions import ACTIONS, Action, Moment
from depthgauge.synth.library.subjects._joints import (
    Bone,
    Path,
    SubjectKind,
    performed,
    places_of,
)

__all__ = [
    "ACTIONS",
    "SUBJECTS",
    "Action",
    "Bone",
    "Moment",
    "Path",
    "SubjectKind",
    "performed",
    "places_of",
]


def _collect(module: ModuleType) -> Iterator[tuple[str, SubjectKind]]:
    found = getattr(module, "SUBJECT", None)
    if isinstance(found, SubjectKind):
        yield found.name, found


SUBJECTS: Registry[SubjectKind] = Registry(
    "subject", "depthgauge.synth.library.subjects", collect=_collect
)
"""All kinds of subjects by name."""
