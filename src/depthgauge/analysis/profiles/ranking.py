"""Methods ranked by a profile."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from depthgauge.analysis.board import Board
from depthgauge.analysis.profiles._costs import make_scale
from depthgauge.analysis.profiles._profile import Profile, Weight, find_profile
from depthgauge.analysis.profiles._result import (
    Absent,
    ProfileRanking,
    ProfileRow,
    Swing,
    Verdict,
    Weighed,
)
from depthgauge.analysis.profiles._values import Values, values_of
from depthgauge.analysis.profiles._words import notes_of, why_sentence
from depthgauge.analysis.ranks import min_ranks, rank_keys
from depthgauge.analysis.resampling import Floats
from depthgauge.errors import Unavailable

_DECIMALS = 12
"""Costs that agree to so many are ties; what lies behind is rounding."""
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
    score matches is left out of everything and named in `absent`; a method that lacks a score
    which others have comes last.

    Args:
        scores: A leaderboard, or method -> score id -> value. Of a board, `runtime` and
            `peak_memory` are scores as well.
        profile: Its id, the path of its file, or the profile itself.
        better: score id -> direction, for values whose direction is neither that of a metric of
            this name nor `lower`.

    Raises:
        Unavailable: Not one of the profile's scores is there.
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


def _weigh(profile: Profile, values: Values) -> tuple[list[Weighed], list[Absent]]:
    total = math.fsum(weight.weight for weight in profile.weights)
    whole = _without_series(values.table)
    weighed: list[Weighed] = []
    absent: list[Absent] = []
    for weight in profile.weights:
        share = weight.weight / total
        matched = [i for i in whole if any(fnmatchcase(i, p) for p in weight.scores)]
        told = [score_id for score_id in matched if values.has_any(score_id)]
        weighed += [_weighed(i, weight, share / len(told), values) for i in told]
        if not told:
            why = "no method has a value" if matched else "there is no such score"
            absent.append(Absent(weight, share, why))
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


def _weighed(score_id: str, weight: Weight, share: float, values: Values) -> Weighed:
    unit = values.units[score_id]
    scale = make_scale(values.table[score_id], values.better[score_id], unit, weight.enough)
    return Weighed(score_id, weight.aspect, share, scale, unit)


def _nothing(profile: Profile, values: Values) -> Unavailable:
    wanted = ", ".join(pattern for weight in profile.weights for pattern in weight.scores)
    there = ", ".join(score_id for score_id in values.table if values.has_any(score_id))
    return Unavailable(
        f"profile '{profile.id}' weighs {wanted}, but there is no value of any of them; there are "
        f"values of {there or 'nothing'}."
    )


def _rows(values: Values, weighed: Sequence[Weighed], costs: Floats) -> tuple[ProfileRow, ...]:
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


def _totals(costs: Floats, weighed: Sequence[Weighed], factors: Floats | None = None) -> Floats:
    """The weighted mean of every method's costs."""
    shares = np.array([each.share for each in weighed])
    if factors is not None:
        shares = shares * factors
    return np.asarray(np.round(costs @ (shares / shares.sum()), _DECIMALS))


def _swings(labels: Sequence[str], weighed: Sequence[Weighed], costs: Floats) -> tuple[Swing, ...]:
    """Who else would lead, were one weight half or twice as large; each of them once."""
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
