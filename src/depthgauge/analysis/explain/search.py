"""Which protocols give a published number, and how many would by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from depthgauge._canonical import finite_data
from depthgauge._progress import Progress
from depthgauge.analysis.explain.space import Space, Wanted, make_space
from depthgauge.analysis.explain.values import Candidate, all_values
from depthgauge.engine.explaining.measured import measure_settings
from depthgauge.engine.explaining.source import Source
from depthgauge.errors import Misuse

_NEIGHBOURHOOD = 1.5
"""Values within this factor of a number tell how dense protocols are around it."""
_SAME = 12
"""Digits to which values are the same."""


@dataclass(frozen=True)
class Published:
    """A number as somebody printed it: 13.6 is any value in [13.55, 13.65)."""

    text: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, text: str) -> Published:
        """Reads a number and its precision.

        >>> found = Published.of("13.6")
        >>> round(found.low, 6), round(found.high, 6)
        (13.55, 13.65)
        """
        plain = text.strip().rstrip("%").strip()
        try:
            value = float(plain)
        except ValueError:
            raise Misuse(f"'{text}' is not a number; write it as it is printed: 13.6.") from None
        if not math.isfinite(value):
            raise Misuse(f"'{text}' is not a finite number; write it as it is printed: 13.6.")
        digits, _, exponent = plain.lower().partition("e")
        decimals = len(digits.partition(".")[2]) - int(exponent or 0)
        half = 0.5 * 10.0**-decimals
        return cls(text.strip(), value, value - half, value + half)

    def has(self, value: float) -> bool:
        """Whether the value is printed like this; ends may be off by rounding of doubles."""
        slack = 1e-12 * max(1.0, abs(self.value))
        return self.low - slack <= value < self.high - slack


@dataclass(frozen=True)
class Match:
    """A protocol that gives the number."""

    candidate: Candidate
    distance: float
    """From the printed number."""
    same: tuple[Candidate, ...]
    """Less usual protocols with the very same value, such as another rule for missing pixels where
    none is missing."""
    arguments: tuple[str, ...]
    """Of `depthgauge score`."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        body = {**self.candidate.to_json(), "distance": self.distance}
        same = [each.to_json() for each in self.same]
        return {**body, "arguments": list(self.arguments), "same": same}


@dataclass(frozen=True)
class Explanation:
    """What was found for one number and one method."""

    label: str
    number: Published
    matches: tuple[Match, ...]
    """Nearest first; of equally near ones, the most usual first."""
    nearest: tuple[Match, ...]
    """Where nothing matches: the closest protocols."""
    tried: int
    """Protocols with a value."""
    distinct: int
    """Distinct values among them."""
    by_chance: float
    """How many distinct values would lie in the interval by chance, judged by how dense they are
    around it."""

    @property
    def most_usual(self) -> int | None:
        """The place of the match with the fewest unusual choices, if there is any."""
        if not self.matches:
            return None
        places = range(len(self.matches))
        return min(places, key=lambda n: self.matches[n].candidate.departures)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        body: dict[str, Any] = finite_data(
            {
                "method": self.label,
                "number": self.number.text,
                "interval": [self.number.low, self.number.high],
                "tried": self.tried,
                "distinct_values": self.distinct,
                "expected_by_chance": self.by_chance,
                "matches": [each.to_json() for each in self.matches],
                "most_usual": self.most_usual,
                "nearest": [each.to_json() for each in self.nearest],
            }
        )
        return body


@dataclass(frozen=True)
class Agreement:
    """Circumstances under which several numbers of one table come out at once."""

    region: str
    setting: str
    missing: str
    pool: str
    candidates: tuple[Candidate, ...]
    """For each number, in order, the closest metric."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "region": self.region,
            "setting": self.setting,
            "missing": self.missing,
            "pool": self.pool,
            "scores": [each.to_json() for each in self.candidates],
        }


@dataclass(frozen=True)
class Explanations:
    """All of a search."""

    found: tuple[Explanation, ...]
    """By method and number."""
    together: tuple[Agreement, ...]
    """Of several numbers: what gives all of them; the most usual first."""
    not_tried: tuple[str, ...]
    """Settings that these maps do not allow, and why."""
    samples: int

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "schema": 1,
            "samples": self.samples,
            "explanations": [each.to_json() for each in self.found],
            "together": [each.to_json() for each in self.together],
            "not_tried": list(self.not_tried),
        }


def explain(
    numbers: str | Iterable[str],
    source: Source,
    *,
    wanted: Wanted | None = None,
    most: int = 10,
    progress: Progress | None = None,
) -> Explanations:
    """Searches the plausible protocols for published numbers.

    Args:
        numbers: As they are printed, `"13.6"`: their digits say how exact they are.
        source: Samples and estimates.
        wanted: The dimensions that the caller fixes or extends.
        most: How many near protocols are kept where none matches.
        progress: Called after each sample.
    """
    texts = [numbers] if isinstance(numbers, str) else list(numbers)
    if not texts:
        raise Misuse("give at least one number, as it is printed: 13.6.")
    asked = [Published.of(text) for text in texts]
    space = make_space(source, wanted)
    measured = measure_settings(source, space.ids, space.settings, progress)
    found: list[Explanation] = []
    together: list[Agreement] = []
    for label, each in measured.items():
        values = list(all_values(each, space, source.quantity))
        found += [_explained(label, number, values, source, most) for number in asked]
        if len(asked) > 1:
            together += _agreements(asked, values)
    first = next(iter(measured.values()))
    return Explanations(
        tuple(found), tuple(together), tuple(_not_tried(space, first.failed)), len(source.samples)
    )


def _not_tried(space: Space, failed: dict[int, str] | Any) -> Iterable[str]:
    return (f"{space.settings[n].name or 'the maps as they are'}: {failed[n]}" for n in failed)


def _explained(
    label: str, number: Published, values: Sequence[Candidate], source: Source, most: int
) -> Explanation:
    groups: dict[tuple[float, str], list[Candidate]] = {}
    for each in values:
        groups.setdefault((float(f"{each.value:.{_SAME}g}"), each.metric), []).append(each)
    ordered = [sorted(group, key=lambda c: c.departures) for group in groups.values()]
    ordered.sort(key=lambda g: (abs(g[0].value - number.value), g[0].departures, g[0].score))
    hits = [group for group in ordered if number.has(group[0].value)]

    def matches(chosen: Iterable[Sequence[Candidate]]) -> tuple[Match, ...]:
        return tuple(
            Match(
                group[0],
                abs(group[0].value - number.value),
                tuple(group[1:]),
                group[0].arguments(source, label),
            )
            for group in chosen
        )

    distinct = sorted({value for value, _ in groups})
    return Explanation(
        label=label,
        number=number,
        matches=matches(hits),
        nearest=() if hits else matches(ordered[:most]),
        tried=len(values),
        distinct=len(distinct),
        by_chance=expected_by_chance(number, distinct),
    )


def expected_by_chance(number: Published, values: Sequence[float]) -> float:
    """How many of the values would lie in a number's interval if they were spread evenly around it.

    The density is that of the values within a factor of 1.5 of the number, the interval left out.
    """
    if number.value == 0:
        low, high = -10 * number.high, 10 * number.high
    else:
        ends = number.value / _NEIGHBOURHOOD, number.value * _NEIGHBOURHOOD
        low, high = min(*ends, number.low), max(*ends, number.high)
    around = [v for v in values if low <= v <= high and not number.has(v)]
    width = number.high - number.low
    rest = (high - low) - width
    return len(around) * width / rest if rest > 0 else math.nan


def _agreements(asked: Sequence[Published], values: Sequence[Candidate]) -> list[Agreement]:
    """Circumstances in which each number is the value of some metric."""
    groups: dict[tuple[str, str, str, str], list[Candidate]] = {}
    for each in values:
        region, setting, missing, pool = each.circumstances
        for rule in ("bad", "skip") if each.any_rule else (missing,):
            groups.setdefault((region, setting, rule, pool), []).append(each)
    found = []
    for circumstances, members in groups.items():
        best: list[Candidate] = []
        for number in asked:
            hits = [c for c in members if number.has(c.value)]
            if not hits:
                break
            best.append(min(hits, key=lambda c: (c.departures, abs(c.value - number.value))))
        else:
            found.append(Agreement(*circumstances, tuple(best)))
    return sorted(found, key=lambda a: sum(c.departures for c in a.candidates))
