"""How ranks depend on the protocol: one table over thresholds, regions, rules and alignments.

Every row departs from the first one in a single way, so that a change of rank has one cause; the
cause is said in numbers that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from depthgauge._canonical import finite_data
from depthgauge._progress import Progress
from depthgauge._tables import show_number
from depthgauge.analysis.explain.space import Space, Wanted, make_space
from depthgauge.analysis.explain.values import Candidate, all_values
from depthgauge.analysis.ranks import rank_values
from depthgauge.benchmarks.score_ids import parse_metric
from depthgauge.engine.explaining.measured import SettingScores, measure_settings
from depthgauge.engine.explaining.source import Source
from depthgauge.errors import Misuse
from depthgauge.metrics import METRICS

_METRICS: Mapping[str, tuple[str, ...]] = {
    "disparity": (
        *("badpix:2", "badpix:0.5", "badpix:1", "badpix:3", "badpix:4", "d1:3,0.05", "mae", "rms"),
    ),
    "depth": ("absrel", "delta:1.25", "rms", "rmse_log", "mae"),
    "flow": ("epe", "npx:1", "npx:3", "fl:3,0.05"),
}
"""The first is that of the row from which all others depart."""


@dataclass(frozen=True)
class RankedProtocol:
    """All methods under one protocol."""

    score: str
    words: str
    differs: str
    """The dimension in which it departs from the first row: `metric`, `region`, `missing`,
    `pool` or `setting`; empty for the first row."""
    better: str
    values: Mapping[str, float]
    """By label; NaN where a method has none."""
    ranks: Mapping[str, int]
    """By label, 1 is best; equal values share the better rank."""
    keys: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        names = ("score", "words", "differs", "better", "values", "ranks", "keys")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class RankChange:
    """A method whose rank is another one under another protocol, and why."""

    label: str
    rank: int
    other_rank: int
    first: str
    """The score of the first protocol."""
    protocol: str
    """The other protocol, in words that may follow a rank: `under mae@all`."""
    rival: str
    """A method that passes it, or that it passes."""
    because: str

    def __str__(self) -> str:
        return (
            f"{self.label} is {ordinal(self.rank)} under {self.first}, "
            f"{ordinal(self.other_rank)} {self.protocol}, because {self.because}"
        )


@dataclass(frozen=True)
class RankTable:
    """Methods under several protocols."""

    protocols: tuple[RankedProtocol, ...]
    """The first is the one from which the others depart."""
    changes: tuple[RankChange, ...]
    """The largest first."""
    labels: tuple[str, ...]
    samples: int

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        body: dict[str, Any] = finite_data(
            {
                "schema": 1,
                "samples": self.samples,
                "methods": list(self.labels),
                "protocols": [each.to_json() for each in self.protocols],
                "changes": [
                    {**{n: getattr(c, n) for n in c.__dataclass_fields__}, "text": str(c)}
                    for c in self.changes
                ],
            }
        )
        return body


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 11th.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def rank_table(
    source: Source,
    *,
    method: str | None = None,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> RankTable:
    """Ranks of methods under the plain protocol and under every single departure from it.

    Args:
        source: Samples, and the estimates of at least two methods.
        method: The only one whose changes are explained; all by default.
        wanted: The dimensions that the caller fixes or extends; the first of each is the plain one.
        progress: Called after each sample.
    """
    labels = tuple(source.methods)
    if len(labels) < 2:
        raise Misuse("ranks need at least two methods; give several folders or a run.")
    if method is not None and method not in labels:
        raise Misuse(f"there is no method '{method}' here; there are {', '.join(labels)}.")
    chosen = wanted or Wanted()
    if not chosen.metrics:
        chosen = replace(chosen, metrics=_METRICS.get(source.quantity, ()))
    space = make_space(source, chosen)
    measured = measure_settings(source, space.ids, space.settings, progress)
    tables = {
        label: {_key(c): c for c in all_values(found, space, source.quantity) if not c.shown}
        for label, found in measured.items()
    }
    rows = list(_rows(space, tables))
    found: dict[tuple[str, frozenset[str]], RankChange] = {}
    for row in rows[1:]:
        for label in [method] if method else labels:
            for change in _changes(rows[0], row, label, measured):
                # Two methods that change places are one sentence.
                found.setdefault((change.protocol, frozenset((label, change.rival))), change)
    ordered = sorted(found.values(), key=lambda c: -abs(c.rank - c.other_rank))
    return RankTable(tuple(rows), tuple(ordered), labels, len(source.samples))


_Key = tuple[str, str, str, str]


def _key(candidate: Candidate) -> _Key:
    missing = "bad" if candidate.any_rule else candidate.missing
    return candidate.score, candidate.setting.name, missing, candidate.pool


def _rows(space: Space, tables: Mapping[str, Mapping[_Key, Candidate]]) -> Iterator[RankedProtocol]:
    """The plain protocol, then each that differs from it in one dimension only."""
    first = (space.ids[0], space.settings[0].name, space.missing[0], space.pools[0])
    yield _row(first, "", tables)
    metric, _, region = space.ids[0].partition("@")
    for score in space.ids[1:]:
        other, _, where = score.partition("@")
        if (other == metric) != (where == region):
            differs = "region" if other == metric else "metric"
            yield from _known_row((score, *first[1:]), differs, tables)
    for missing in space.missing[1:]:
        yield from _known_row((first[0], first[1], missing, first[3]), "missing", tables)
    for pool in space.pools[1:]:
        yield from _known_row((*first[:3], pool), "pool", tables)
    for setting in space.settings[1:]:
        rule = "interpolate" if setting.fills else first[2]
        yield from _known_row((first[0], setting.name, rule, first[3]), "setting", tables)


def _known_row(
    key: _Key, differs: str, tables: Mapping[str, Mapping[_Key, Candidate]]
) -> Iterator[RankedProtocol]:
    if any(key in found for found in tables.values()):
        yield _row(key, differs, tables)


def _row(key: _Key, differs: str, tables: Mapping[str, Mapping[_Key, Candidate]]) -> RankedProtocol:
    known = [found[key] for found in tables.values() if key in found]
    if not known:
        raise Misuse(f"no method has a value of {key[0]}; name other metrics or regions.")
    values = {
        label: found[key].value if key in found else math.nan for label, found in tables.items()
    }
    better = METRICS[parse_metric(known[0].metric)[0]].better
    return RankedProtocol(
        score=key[0],
        words=_words(known[0], differs),
        differs=differs,
        better=better,
        values=values,
        ranks=rank_values(values, better),
        keys=known[0].setting.keys,
    )


def _words(candidate: Candidate, differs: str) -> str:
    if differs in ("metric", "region"):
        return candidate.score
    if differs == "missing":
        return "missing pixels left out"
    if differs == "pool":
        return f"pooled by {candidate.pool}"
    if differs == "setting":
        return candidate.setting.name
    return f"{candidate.score}; {candidate.words()}"


def _changes(
    first: RankedProtocol,
    row: RankedProtocol,
    label: str,
    measured: Mapping[str, SettingScores],
) -> Iterator[RankChange]:
    """The change of one method's rank, if there is one, with the rival that shows it best."""
    before, after = first.ranks[label], row.ranks[label]
    if before == after:
        return
    rivals = [
        other
        for other in first.ranks
        if other != label and (first.ranks[other] - before) * (row.ranks[other] - after) < 0
    ]
    if not rivals:
        return
    rival = min(rivals, key=lambda other: (abs(row.ranks[other] - after), other))
    because = _because(first, row, measured[label], measured[rival], rival)
    start = {"metric": "under ", "region": "under ", "pool": ""}.get(row.differs, "with ")
    words = f"{start}{row.words}"
    yield RankChange(label, before, after, first.score, words, rival, because)


def _because(
    first: RankedProtocol, row: RankedProtocol, own: SettingScores, other: SettingScores, rival: str
) -> str:
    """What was measured that makes two methods change places."""
    shares = _missing_share(own), _missing_share(other)
    absent = (
        f"{shares[0]:.1f} % of its pixels have no estimate, and {shares[1]:.1f} % of those of "
        f"{rival}"
    )
    if row.differs in ("missing", "setting") and "align" not in row.keys:
        return absent
    if row.differs == "region":
        outside = [_outside(each, first.score, row.score) for each in (own, other)]
        if all(math.isfinite(value) for value in outside):
            where = row.score.partition("@")[2]
            return (
                f"outside of '{where}' it fails at {outside[0]:.1f} % of the pixels, and {rival} "
                f"at {outside[1]:.1f} %"
            )
        return f"the two differ most elsewhere than in '{row.score.partition('@')[2]}'"
    if row.differs == "metric":
        return _of_metrics(first, row, own, other, rival, absent)
    if row.differs == "pool":
        worst = _worst_sample(own, first)
        return f"its samples do not weigh the same; its worst is {worst}" if worst else absent
    return f"an alignment forgives more of its errors than of those of {rival}"


def _of_metrics(
    first: RankedProtocol,
    row: RankedProtocol,
    own: SettingScores,
    other: SettingScores,
    rival: str,
    absent: str,
) -> str:
    """Another threshold counts other errors; a mean counts only pixels that have an estimate."""
    old, new = (parse_metric(score.partition("@")[0]) for score in (first.score, row.score))
    limits = [params.get("threshold") for _, params in (old, new)]
    if old[0] == new[0] and all(limits):
        low, high = sorted(map(float, map(str, limits)))
        between = [
            abs(_plain(each, first.score) - _plain(each, row.score)) for each in (own, other)
        ]
        return (
            f"{between[0]:.1f} % of its pixels are off by {low:g} to {high:g}, and "
            f"{between[1]:.1f} % of those of {rival}"
        )
    if math.isinf(METRICS[new[0]].worst):
        return f"{new[0]} is over estimated pixels only: {absent}"
    return f"{new[0]} weighs errors in another way"


def _plain(measured: SettingScores, score: str) -> float:
    """The value over all pixels of all samples, from totals."""
    total, n = _total(measured, score)
    return 100 * total / n if n else math.nan


def _outside(measured: SettingScores, score: str, inner: str) -> float:
    """The percentage of failures among the pixels of one region that are not in another."""
    total, n = _total(measured, score)
    inside, m = _total(measured, inner)
    return 100 * (total - inside) / (n - m) if n > m else math.nan


def _total(measured: SettingScores, score: str) -> tuple[float, int]:
    """Sums of a percentage over all samples: failures, and pixels."""
    found = [each[score] for each in measured.scores[0].values() if score in each]
    if any(each.total is None or each.unit != "%" for each in found):
        return math.nan, 0
    return math.fsum(each.total or 0.0 for each in found), sum(
        each.count + each.missing for each in found
    )


def _missing_share(measured: SettingScores) -> float:
    count = missing = 0
    for scores in measured.scores[0].values():
        found = next((s for name, s in scores.items() if name.endswith("@all")), None)
        if found is not None:
            count, missing = count + found.count, missing + found.missing
    return 100 * missing / (count + missing) if count + missing else math.nan


def _worst_sample(measured: SettingScores, first: RankedProtocol) -> str:
    values = {
        name: found[first.score].value
        for name, found in measured.scores[0].items()
        if first.score in found and math.isfinite(found[first.score].value)
    }
    if first.better != "lower" or not values:
        return ""
    name = max(values, key=lambda n: values[n])
    return f"{name} with {show_number(values[name])}"


def sentences(table: RankTable, most: int) -> Sequence[str]:
    """The largest changes, one sentence each."""
    return [f"{change}." for change in table.changes[:most]]
