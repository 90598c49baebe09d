"""Where two protocols differ, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from depthgauge._shorten import first_few
from depthgauge.benchmarks import Protocol

ABSENT = "absent"
"""Stands for a field that one of the two does not have."""

_FIRST = (
    "quantity", "dataset", "split", "twin", "missing", "pool", "align", "truth_scale",
    "estimate_resize", "crop", "truth", "estimate", "interpolate", "interpolate_constant",
    "options", "regions", "given_regions", "scores",
)  # fmt: skip
"""What changes numbers most comes first, then revisions of code, then names and versions."""
_LAST = ("id", "version")


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field of a protocol that is not the same."""

    path: str
    """Dotted: `align.kind`, `scores.badpix:2@all.revision`."""
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.path} is {self.old} in the first and {self.new} in the second"


def diff_protocols(old: Protocol, new: Protocol) -> tuple[FieldDifference, ...]:
    """Every field in which the resolved protocols differ, the most important first.

    Scores are matched by id: a score that only one protocol has is a single difference.
    """
    found = _walk("", _by_id(old.resolved()), _by_id(new.resolved()))
    return tuple(sorted(found, key=_importance))


def name_differences(differences: Sequence[FieldDifference], most: int = 5) -> str:
    """The first few differences as part of a sentence, and how many more there are."""
    return first_few([str(each) for each in differences], most, "; ")


def _by_id(form: dict[str, Any]) -> dict[str, Any]:
    if "scores" not in form:
        return form
    return {**form, "scores": {score["id"]: score for score in form["scores"]}}


def _walk(path: str, old: Any, new: Any) -> Iterator[FieldDifference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            inner = f"{path}.{key}" if path else key
            yield from _walk(inner, old.get(key, ABSENT), new.get(key, ABSENT))
    elif old != new:
        yield FieldDifference(path, _shown(old), _shown(new))


def _shown(value: Any) -> Any:
    # A whole table only says that it exists.
    return "present" if isinstance(value, dict) else value


def _importance(each: FieldDifference) -> tuple[int, str]:
    top = each.path.partition(".")[0]
    if top in _FIRST:
        # Another revision of a score is a change of code, not of the benchmark's rules.
        place = len(_FIRST) if each.path.endswith(".revision") else _FIRST.index(top)
    else:
        place = len(_FIRST) + (2 if top in _LAST else 1)
    return place, each.path
