"""Methods ranked by a profile."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.bootstrap.resampling import Floats
from depthgauge.analysis.profiles._costs import make_scale
from depthgauge.analysis.profiles._profile import (
    PEAK_MEMORY,
    PROFILES,
    RUNTIME,
    Profile,
    Weight,
    find_profile,
)
from depthgauge.analysis.profiles._result import (
    ProfileRanking,
    ProfileRow,
    Swing,
    UnusedWeight,
    Verdict,
    WeighedScore,
)
from depthgauge.analysis.ranks import min_ranks, rank_keys
from depthgauge.errors import CannotCompare, Unavailable
from depthgauge.metrics import METRICS
from depthgauge.units import Unit

_DECIMALS = 12
"""Costs that agree to this many decimals are ties; the rest is rounding."""
_FACTORS = (0.5, 2.0)
_LONGEST = 6
"""Numbered regions that still count one by one (materials, layers); more are bins of an axis."""


def rank_by_profile(
    scores: Board | Mapping[str, Mapping[str, float]],
    profile: str | Path | Profile,
    *,
    better: Mapping[str, str] | None = None,
) -> ProfileRanking:
    """Methods in the order of a user's priorities, with the reasons.

    Each weight is shared equally among the scores that its patterns match. A method's cost is the
    weighted mean of its costs in these scores (`_costs.py` says what a cost is). A weight that no
    score matches is left out and named in `absent`; a method that lacks a score that others have
    comes last.

    Args:
        scores: A leaderboard, or method -> score id -> value. With a board, `runtime` and
            `peak_memory` are scores too.
        profile: Its id, the path of its file, or the profile itself.
        better: score id -> direction, for values whose direction is neither that of a metric of
            this name nor `lower`.

    Raises:
        Unavailable: None of the profile's scores exists.
    """
    profile = find_profile(profile)
    values = values_of(scores, better or {})
    weighed, absent = _weigh(profile, values)
    costs = np.array(
        [[each.scale.cost(values.table[each.id][label]) for each in weighed]
         for label in values.labels]
    )  # fmt: skip
    swings = _swings(values.labels, weighed, costs)
    return ProfileRanking(
        profile=profile,
        rows=_rows(values, weighed, costs),
        scores=tuple(weighed),
        absent=tuple(absent),
        covered=1.0 - math.fsum(each.share for each in absent),
        swings=swings,
        notes=notes_of(profile, absent, swings, len(values.labels)),
    )


def _weigh(profile: Profile, values: Values) -> tuple[list[WeighedScore], list[UnusedWeight]]:
    total = math.fsum(weight.weight for weight in profile.weights)
    whole = _without_series(values.table)
    weighed: list[WeighedScore] = []
    absent: list[UnusedWeight] = []
    for weight in profile.weights:
        share = weight.weight / total
        matched = [i for i in whole if any(fnmatchcase(i, p) for p in weight.scores)]
        told = [score_id for score_id in matched if values.has_any(score_id)]
        weighed += [_weighed(i, weight, share / len(told), values) for i in told]
        if not told:
            why = "no method has a value" if matched else "there is no such score"
            absent.append(UnusedWeight(weight, share, why))
    if not weighed:
        raise _nothing(profile, values)
    covered = math.fsum(each.share for each in weighed)
    return [replace(each, share=each.share / covered) for each in weighed], absent


def _without_series(score_ids: Iterable[str]) -> list[str]:
    """The scores without those of long numbered families of regions.

    The bins of one scene would outweigh the scores of all scenes.
    """
    known = list(score_ids)
    stems = [re.sub(r"_\d+$", "", name) if "@" in name else name for name in known]
    return [n for n, stem in zip(known, stems, strict=True) if stems.count(stem) <= _LONGEST]


def _weighed(score_id: str, weight: Weight, share: float, values: Values) -> WeighedScore:
    unit = values.units[score_id]
    scale = make_scale(values.table[score_id], values.better[score_id], unit, weight.enough)
    return WeighedScore(score_id, weight.aspect, share, scale, unit)


def _nothing(profile: Profile, values: Values) -> Unavailable:
    wanted = ", ".join(pattern for weight in profile.weights for pattern in weight.scores)
    there = ", ".join(score_id for score_id in values.table if values.has_any(score_id))
    return Unavailable(
        f"profile '{profile.id}' weighs {wanted}, but none of them has a value; there are values "
        f"of {there or 'nothing'}."
    )


def _rows(values: Values, weighed: Sequence[WeighedScore], costs: Floats) -> tuple[ProfileRow, ...]:
    totals = _totals(costs, weighed)
    ranks = min_ranks(rank_keys(totals, "lower")).tolist()
    rows = []
    for label, rank, total, own in zip(
        values.labels, ranks, totals.tolist(), costs.tolist(), strict=True
    ):
        verdicts = [
            Verdict(each, values.table[each.id][label], cost)
            for each, cost in zip(weighed, own, strict=True)
        ]
        lacks = tuple(dict.fromkeys(v.score.id for v in verdicts if math.isnan(v.cost)))
        verdicts.sort(key=lambda v: (math.isnan(v.cost), -abs(v.effect)))
        why = why_sentence(label, rank, len(values.labels), verdicts, lacks)
        rows.append(ProfileRow(label, rank, total, tuple(verdicts), lacks, why))
    return tuple(sorted(rows, key=lambda row: (row.rank, row.label)))


def _totals(
    costs: Floats, weighed: Sequence[WeighedScore], factors: Floats | None = None
) -> Floats:
    """The weighted mean of every method's costs."""
    shares = np.array([each.share for each in weighed])
    if factors is not None:
        shares = shares * factors
    return np.asarray(np.round(costs @ (shares / shares.sum()), _DECIMALS))


def _swings(
    labels: Sequence[str], weighed: Sequence[WeighedScore], costs: Floats
) -> tuple[Swing, ...]:
    """Which other methods would lead if one weight were halved or doubled; each is listed once."""
    leaders = _leaders(labels, _totals(costs, weighed))
    found: dict[str, Swing] = {}
    for aspect in dict.fromkeys(each.aspect for each in weighed):
        for factor in _FACTORS:
            factors = np.array([factor if each.aspect == aspect else 1.0 for each in weighed])
            for label in _leaders(labels, _totals(costs, weighed, factors)):
                if label not in leaders:
                    found.setdefault(label, Swing(label, aspect, factor))
    return tuple(found.values())


def _leaders(labels: Sequence[str], totals: Floats) -> list[str]:
    known = totals[~np.isnan(totals)]
    best = known.min() if known.size else math.nan
    return [label for label, total in zip(labels, totals.tolist(), strict=True) if total == best]


MOSTLY = 0.5
"""A profile with less coverage is shown only on request."""


def choose_profiles(
    board: Board, wanted: Iterable[str | Path | Profile] | None = None
) -> tuple[ProfileRanking, ...]:
    """Rankings by these profiles; by default all profiles that are mostly covered by scores.

    Raises:
        Unavailable: Nothing that a wanted profile weighs is scored.
        CannotCompare: The methods are of several tiers.
    """
    if sum(not row.oracle for row in board.rows) < 2:
        return ()
    if board.tiers and wanted is not None:
        raise CannotCompare(
            f"methods of {len(board.tiers)} tiers were given different inputs, so no profile ranks "
            f"them; choose one tier, such as --tier {board.tiers[0]}."
        )
    if board.tiers:
        return ()
    if wanted is not None:
        return tuple(rank_by_profile(board, profile) for profile in wanted)
    found = (_known(board, name) for name in PROFILES)
    return tuple(each for each in found if each is not None and each.covered >= MOSTLY)


def _known(board: Board, name: str) -> ProfileRanking | None:
    try:
        return rank_by_profile(board, name)
    except Unavailable:
        return None


@dataclass(frozen=True, slots=True)
class Values:
    """Everything that a profile may weigh."""

    labels: tuple[str, ...]
    """The methods, sorted."""
    table: Mapping[str, Mapping[str, float]]
    """score id -> method -> value, NaN where there is none."""
    better: Mapping[str, str]
    units: Mapping[str, str]

    def has_any(self, score_id: str) -> bool:
        """Whether any method has a value of it."""
        return not all(math.isnan(value) for value in self.table[score_id].values())


def values_of(
    scores: Board | Mapping[str, Mapping[str, float]], better: Mapping[str, str]
) -> Values:
    """The values of a board (without oracles, with time and memory), or of a mapping."""
    return _of_board(scores) if isinstance(scores, Board) else _of_mapping(scores, better)


def _of_board(board: Board) -> Values:
    rows = sorted((row for row in board.rows if not row.oracle), key=lambda row: row.label)
    table = {
        column.id: {row.label: row.cells[column.id].value for row in rows}
        for column in board.columns
    }
    better = {column.id: column.better for column in board.columns}
    units = {column.id: column.unit for column in board.columns}
    costs = (
        (RUNTIME, "s", {row.label: row.time_s for row in rows}),
        (PEAK_MEMORY, "MB", {row.label: row.peak_memory_mb for row in rows}),
    )
    for name, unit, values in costs:
        if name not in table:  # a public benchmark may score it itself
            table[name], better[name], units[name] = values, "lower", unit
    return Values(tuple(row.label for row in rows), table, better, units)


def _of_mapping(scores: Mapping[str, Mapping[str, float]], better: Mapping[str, str]) -> Values:
    labels = tuple(sorted(scores))
    ids = list(dict.fromkeys(score_id for values in scores.values() for score_id in values))
    table = {
        score_id: {label: float(scores[label].get(score_id, math.nan)) for label in labels}
        for score_id in ids
    }
    metrics = {score_id: METRICS.get(_metric_name(score_id)) for score_id in ids}
    known = {score_id: metric for score_id, metric in metrics.items() if metric is not None}
    directions = {score_id: metric.better for score_id, metric in known.items()}
    percent = {score_id for score_id, metric in known.items() if metric.unit is Unit.PERCENT}
    return Values(
        labels=labels,
        table=table,
        better={i: better.get(i) or directions.get(i, "lower") for i in ids},
        units={i: "%" if i in percent else "" for i in ids},
    )


def _metric_name(score_id: str) -> str:
    return score_id.partition("@")[0].partition(":")[0]


_MOST = 2
"""The number of aspects named on either side."""
_LEAST = 1e-3
"""Smaller effects are not mentioned."""


def why_sentence(
    label: str, rank: int, methods: int, verdicts: Sequence[Verdict], lacks: Sequence[str]
) -> str:
    """The strengths and weaknesses of a method, relative to the median method."""
    if lacks:
        return f"{label} comes last, because it has no value of {', '.join(lacks)}."
    by_aspect: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_aspect.setdefault(verdict.score.aspect, []).append(verdict)
    pros, cons = (_listed(by_aspect, sign) for sign in (1, -1))
    place = f"{label} is number {rank} of {methods}"
    if not pros and not cons:
        return f"{place}: it is as good as the median method in everything that is weighed."
    said = [f"for it: {pros}" if pros else "it has no strength"]
    said += [f"against it: {cons}" if cons else "it has no weakness"]
    return f"{place}; {'; '.join(said)}."


def notes_of(
    profile: Profile, absent: Sequence[UnusedWeight], swings: Sequence[Swing], methods: int
) -> tuple[str, ...]:
    """What a reader must know: what is missing, and how stable the first place is."""
    return tuple([*_about_absent(profile, absent), *_about_the_first(swings, methods)])


def _about_absent(profile: Profile, absent: Sequence[UnusedWeight]) -> Iterator[str]:
    if absent:
        share = 100.0 * math.fsum(each.share for each in absent)
        yield (
            f"{len(absent)} of {len(profile.weights)} weights, {share:.0f} % of the profile, could "
            "not be used; only the others count."
        )
    for each in absent:
        patterns = ", ".join(each.weight.scores)
        yield f"Not weighed: {each.weight.aspect} ({patterns}): {each.why}."


def _about_the_first(swings: Sequence[Swing], methods: int) -> Iterator[str]:
    if methods < 2:
        yield "There is one method, so there is nothing to rank."
    elif not swings:
        yield "The first place stays when any one weight is halved or doubled."
    for each in swings:
        how = "twice" if each.factor > 1 else "half"
        yield f"{each.label} would come first if the weight of '{each.aspect}' were {how} as large."


def _listed(by_aspect: dict[str, list[Verdict]], sign: int) -> str:
    """The aspects with the largest effect of that sign, each with its strongest score."""
    moved = {
        aspect: sign * math.fsum(verdict.effect for verdict in verdicts)
        for aspect, verdicts in by_aspect.items()
    }
    strongest = sorted(moved, key=lambda aspect: -moved[aspect])[:_MOST]
    return " and ".join(
        _named(max(by_aspect[aspect], key=lambda verdict: sign * verdict.effect))
        for aspect in strongest
        if moved[aspect] > _LEAST
    )


def _named(verdict: Verdict) -> str:
    score = verdict.score
    value, median = (
        " ".join(word for word in (f"{number:.3g}", score.unit) if word)
        for number in (verdict.value, score.scale.median)
    )
    return f"{score.aspect} ({score.id} {value}, median {median})"
