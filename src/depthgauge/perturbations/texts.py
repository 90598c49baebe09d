"""Perturbations as text: `noise:5`, `noise:5@right`, `gain:0.8@others+jpeg:50`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from depthgauge._registry import nearest
from depthgauge.errors import BadScoreId
from depthgauge.perturbations._effect import EFFECTS, Effect
from depthgauge.perturbations._views import REFERENCES, SELECTIONS

_FORM = "write effect:level or effect:level@views, for instance noise:5 or noise:5@right"


@dataclass(frozen=True, slots=True)
class Part:
    """One effect at one level, on some of the views."""

    effect: str
    """Its name in the registry."""
    level: float
    views: str
    """One of `SELECTIONS`."""
    params: tuple[tuple[str, float], ...] = ()
    """Further parameters that were given, in declared order."""

    @property
    def text(self) -> str:
        """As it is written; the views that an effect takes by default are left out."""
        number = _as_text(self.level)
        number += "".join(f",{name}={_as_text(value)}" for name, value in self.params)
        views = "" if self.views == _default_views(EFFECTS[self.effect]) else f"@{self.views}"
        return f"{self.effect}:{number}{views}"

    @property
    def is_neutral(self) -> bool:
        """Whether it changes nothing."""
        return self.level == EFFECTS[self.effect].neutral


@dataclass(frozen=True, slots=True)
class Perturbation:
    """Effects that are applied one after the other."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The canonical text: equal perturbations have equal texts."""
        return "+".join(part.text for part in self.parts)

    @property
    def revisions(self) -> dict[str, int]:
        """The revision of every effect in it; part of the protocol beside the text."""
        return {part.effect: EFFECTS[part.effect].revision for part in self.parts}

    @property
    def is_neutral(self) -> bool:
        """Whether it changes nothing."""
        return all(part.is_neutral for part in self.parts)

    def without_neutral(self) -> Perturbation:
        """The same without the parts that change nothing."""
        return Perturbation(tuple(part for part in self.parts if not part.is_neutral))

    def __str__(self) -> str:
        return self.text


def parse_perturbation(text: str) -> Perturbation:
    """The perturbation that a text means.

    Args:
        text: `effect:level`, with `@views` where not all views are meant (`all`, `left`, `right`,
            `first`, `second`, `centre`, or `others`: all except the one that the truth belongs to);
            several are joined by `+` and applied in that order. Further parameters of an effect
            follow its level by name: `rain:3,angle=10`.

    Raises:
        UnknownName: There is no such effect.
        BadScoreId: Anything else in the text is wrong.

    >>> parse_perturbation("blur:1.50@all + noise:5@right").text
    'blur:1.5+noise:5@right'
    """
    found = [_levels_of_part(part) for part in text.split("+")]
    for parts in found:
        if len(parts) > 1:
            raise BadScoreId(
                f"perturbation '{text}': one level of {parts[0].effect} is wanted here, not "
                f"{len(parts)}; write {parts[0].text}."
            )
    return Perturbation(tuple(parts[0] for parts in found))


def levels_of(text: str) -> list[Perturbation]:
    """The series of perturbations that a text with several levels means.

    Args:
        text: As for `parse_perturbation`, with one effect that has several levels,
            `noise:0,5,10,20` or `noise:0,5,10@right+jpeg:50`, or none: `noise` stands for the
            levels that the effect suggests.

    Returns:
        One for each level, in the order of the text.

    Raises:
        UnknownName: There is no such effect.
        BadScoreId: Anything else in the text is wrong.

    >>> [one.text for one in levels_of("noise:0,5@right+gain:0.9")]
    ['noise:0@right+gain:0.9', 'noise:5@right+gain:0.9']
    """
    found = [_levels_of_part(part, suggested=True) for part in text.split("+")]
    series = [parts[0].effect for parts in found if len(parts) > 1]
    if len(series) > 1:
        raise BadScoreId(
            f"perturbation '{text}': only one effect of a series may have several levels, but "
            f"{' and '.join(series)} have; give all others one level."
        )
    count = max(len(parts) for parts in found)
    return [
        Perturbation(tuple(parts[i if len(parts) > 1 else 0] for parts in found))
        for i in range(count)
    ]


def _levels_of_part(text: str, suggested: bool = False) -> list[Part]:
    """One part for each level that is listed."""
    head, at, views = (word.strip() for word in text.partition("@"))
    name, colon, listed = (word.strip() for word in head.partition(":"))
    if not name or (colon and not listed) or (at and not views):
        raise BadScoreId(f"perturbation '{text.strip()}': a part is missing; {_FORM}.")
    effect = EFFECTS[name]
    selection = _checked_views(effect, views or _default_views(effect))
    words = listed.split(",") if listed else []
    params = _params(effect, [word for word in words if "=" in word])
    levels = _levels(effect, ",".join(word for word in words if "=" not in word), suggested)
    return [Part(name, level, selection, params) for level in levels]


def _params(effect: Effect, words: list[str]) -> tuple[tuple[str, float], ...]:
    given: dict[str, float] = {}
    for word in words:
        name, _, value = (part.strip() for part in word.partition("="))
        if name in given:
            raise BadScoreId(f"perturbation '{effect.name}' has {name} twice; remove one.")
        given[name] = effect.checked_param(name, value)
    return tuple((name, given[name]) for name in effect.params if name in given)


def _as_text(value: float) -> str:
    return str(np.format_float_positional(value, trim="-"))


def _levels(effect: Effect, listed: str, suggested: bool) -> Iterable[float]:
    if not listed and suggested:
        return effect.levels
    if not listed:
        unit = effect.unit or "level"
        raise BadScoreId(
            f"perturbation '{effect.name}' needs its level: {effect.name}:<{unit}>, for instance "
            f"{effect.name}:{effect.levels[-1]:g}."
        )
    # -0.0 is 0.0: one level, one text.
    levels = [effect.checked_level(word.strip()) + 0.0 for word in listed.split(",")]
    if len(set(levels)) < len(levels):
        raise BadScoreId(f"perturbation '{effect.name}:{listed}' has a level twice; remove one.")
    return levels


def _default_views(effect: Effect) -> str:
    return "others" if effect.moves else "all"


def _checked_views(effect: Effect, views: str) -> str:
    if views not in SELECTIONS:
        known = f"Known: {', '.join(SELECTIONS)}."
        hint = " ".join(word for word in (nearest(views, SELECTIONS), known) if word)
        raise BadScoreId(f"perturbation '{effect.name}': there are no views '{views}'. {hint}")
    if effect.moves and views in {"all", *REFERENCES}:
        raise BadScoreId(
            f"perturbation '{effect.name}' moves what is seen, and the truth would not fit the "
            f"reference view any more; instead of '@{views}' write '@others'."
        )
    return views
