"""Whether people agree with themselves, with each other and with a metric (Honauer 2019, 6.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._canonical import finite_data
from depthgauge.analysis.rankings import (
    MetricScores,
    Ranking,
    ranks_from_scores,
    read_rankings,
    read_scores,
)
from depthgauge.analysis.ranks import kendall_tau, spearman_rho
from depthgauge.errors import BadData, Misuse

Ranks = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Correlation:
    """How well two orders, or many pairs of orders on average, agree."""

    tau: float
    """Mean of Kendall's tau-b over the pairs: 1 the same order, 0 no relation, -1 the reverse. NaN
    if no pair has one."""
    rho: float
    """Mean of Spearman's rho."""
    pairs: int
    """Pairs of rankings that went into the means."""
    undefined: int = 0
    """Pairs that have no coefficient and were left out: fewer than two methods were ranked by both,
    or one ranking is all ties."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """All rankings of one experiment in one variant, and a metric's if there is one."""

    experiment: str
    variant: str
    methods: tuple[str, ...]
    graders: tuple[str, ...]
    within: Correlation
    """Every two rankings of the same grader."""
    between: Correlation
    """Every two rankings of different graders."""
    with_metric: Correlation
    """Every ranking with that of the metric; no pairs if none was given."""
    within_grader: Mapping[str, Correlation]
    """`within`, grader by grader."""
    grader_with_metric: Mapping[str, Correlation]
    """`with_metric`, grader by grader."""
    mean_ranks: Mapping[str, float]
    """Each method's rank, averaged over the graders (each counts once, regardless of the number of
    repeats); NaN if nobody ranked it."""


def correlate(first: Ranks, second: Ranks) -> Correlation:
    """Kendall's tau-b and Spearman's rho of two orders of the same methods.

    Only the order counts: how ties are numbered does not matter. Methods that one of them did not
    rank (NaN) are left out of both.

    Raises:
        BadData: They do not rank the same methods.

    >>> correlate({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2})
    Correlation(tau=0.3333333333333333, rho=0.5, pairs=1, undefined=0)
    """
    _check_methods([("the first", first), ("the second", second)])
    both = [name for name in first if not math.isnan(first[name] + second[name])]
    a, b = ([ranks[name] for name in both] for ranks in (first, second))
    tau, rho = kendall_tau(a, b), spearman_rho(a, b)
    return Correlation(tau, rho, 0, 1) if math.isnan(tau) else Correlation(tau, rho, 1)


def measure_agreement(rankings: Iterable[Ranking], metric: Ranks | None = None) -> Agreement:
    """How well the rankings of one experiment and variant agree.

    Args:
        rankings: By one or more graders, with or without repeats.
        metric: The ranks that a metric gives, see `ranks_from_scores`.

    Raises:
        Misuse: There are none, or they belong to different experiments or variants.
        BadData: They do not rank the same methods.
    """
    rankings = list(rankings)
    experiment, variant = _one_experiment(rankings)
    named = [(_name(ranking), ranking.ranks) for ranking in rankings]
    _check_methods([*named, ("the metric", metric)] if metric is not None else named)
    by_grader: dict[str, list[Ranks]] = {}
    for ranking in rankings:
        by_grader.setdefault(ranking.grader, []).append(ranking.ranks)
    within = {
        grader: [correlate(a, b) for a, b in itertools.combinations(own, 2)]
        for grader, own in by_grader.items()
    }
    between = [
        correlate(a, b)
        for one, other in itertools.combinations(by_grader.values(), 2)
        for a, b in itertools.product(one, other)
    ]
    with_metric = {
        grader: [correlate(ranks, metric) for ranks in own] if metric is not None else []
        for grader, own in by_grader.items()
    }
    return Agreement(
        experiment=experiment,
        variant=variant,
        methods=tuple(rankings[0].ranks),
        graders=tuple(by_grader),
        within=_mean(_flat(within)),
        between=_mean(between),
        with_metric=_mean(_flat(with_metric)),
        within_grader={grader: _mean(found) for grader, found in within.items()},
        grader_with_metric={grader: _mean(found) for grader, found in with_metric.items()},
        mean_ranks=_mean_ranks(by_grader),
    )


def measure_agreements(
    rankings: Iterable[Ranking], metrics: Mapping[str, Ranks] | None = None
) -> dict[tuple[str, str], Agreement]:
    """The agreement of every experiment and variant, in the order of the rankings.

    Args:
        rankings: Rankings of any number of experiments.
        metrics: experiment -> the ranks that its metric gives, for those that have one.

    Raises:
        Misuse: A metric is given for an experiment without rankings.
        BadData: Rankings of one experiment do not rank the same methods.
    """
    groups: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in rankings:
        groups.setdefault((ranking.experiment, ranking.variant), []).append(ranking)
    metrics = metrics or {}
    if strange := sorted(set(metrics) - {experiment for experiment, _ in groups}):
        raise Misuse(
            f"there are no rankings of '{strange[0]}' to compare its metric with, only of: "
            f"{', '.join(sorted({experiment for experiment, _ in groups}))}."
        )
    return {key: measure_agreement(group, metrics.get(key[0])) for key, group in groups.items()}


@dataclass(frozen=True, slots=True)
class Study:
    """A ranking study: what people said, what metrics say, and how well they agree."""

    rankings: tuple[Ranking, ...]
    scores: Mapping[str, MetricScores]
    """By experiment; not all need a metric."""
    metric_ranks: Mapping[str, Ranks]
    agreements: tuple[Agreement, ...]
    """One for each experiment and variant, in the order of the file."""

    def to_json(self) -> dict[str, Any]:
        """As plain data; NaN is null."""
        found: dict[str, Any] = finite_data(
            {
                "schema": 1,
                "experiments": [asdict(each) for each in self.agreements],
                "metrics": {
                    name: {**asdict(self.scores[name]), "ranks": dict(ranks)}
                    for name, ranks in self.metric_ranks.items()
                },
                "rankings": [asdict(each) for each in self.rankings],
            }
        )
        return found


def measure_study(
    rankings: str | Path | Iterable[Ranking],
    scores: str | Path | Mapping[str, MetricScores] | None = None,
    *,
    decimals: int | None = 1,
    ties: str = "average",
) -> Study:
    """A study of one or more experiments.

    Args:
        rankings: Rankings by people, or the CSV or JSON file with them.
        scores: Scores of metrics by experiment, or the file with them; None: people only.
        decimals: Scores that are equal when rounded to this are ties; None: no rounding.
        ties: How ties of scores are ranked, see `ranks_from_scores`.

    Raises:
        BadFile: A file cannot be read, or a row of it is wrong.
        BadData: Rankings and scores of one experiment are not of the same methods.
        Misuse: There are scores of an experiment that nobody ranked.
    """
    people = read_rankings(rankings) if isinstance(rankings, (str, Path)) else list(rankings)
    if isinstance(scores, (str, Path)):
        scores = read_scores(scores)
    known = dict(scores or {})
    ranks = {
        name: ranks_from_scores(one.scores, decimals=decimals, better=one.better, ties=ties)
        for name, one in known.items()
    }
    found = measure_agreements(people, ranks)
    return Study(tuple(people), known, ranks, tuple(found.values()))


def _one_experiment(rankings: Sequence[Ranking]) -> tuple[str, str]:
    found = sorted({(ranking.experiment, ranking.variant) for ranking in rankings})
    if len(found) != 1:
        named = "; ".join(", ".join(word for word in key if word) for key in found) or "none"
        raise Misuse(f"agreement is between rankings of one experiment and variant, not: {named}.")
    return found[0]


def _name(ranking: Ranking) -> str:
    words = [ranking.grader, ranking.experiment, ranking.variant]
    words += [f"repeat {ranking.repeat}"] if ranking.repeat > 1 else []
    return ", ".join(word for word in words if word)


def _check_methods(named: Sequence[tuple[str, Ranks]]) -> None:
    (first, ranks), *others = named
    for name, other in others:
        if ranks.keys() != other.keys():
            only = [sorted(a.keys() - b.keys()) for a, b in ((ranks, other), (other, ranks))]
            said = [
                f"{', '.join(methods)} only in that of {who}"
                for methods, who in zip(only, (first, name), strict=True)
                if methods
            ]
            raise BadData(
                f"two rankings do not have the same methods: {'; '.join(said)}. Give a method that "
                "was not ranked an empty rank."
            )


def _flat(found: Mapping[str, Sequence[Correlation]]) -> list[Correlation]:
    return list(itertools.chain.from_iterable(found.values()))


def _mean(found: Sequence[Correlation]) -> Correlation:
    defined = [each for each in found if each.pairs]
    if not defined:
        return Correlation(math.nan, math.nan, 0, len(found))
    return Correlation(
        tau=math.fsum(each.tau for each in defined) / len(defined),
        rho=math.fsum(each.rho for each in defined) / len(defined),
        pairs=len(defined),
        undefined=len(found) - len(defined),
    )


def _mean_ranks(by_grader: Mapping[str, Sequence[Ranks]]) -> dict[str, float]:
    methods = next(iter(by_grader.values()))[0]
    return {
        method: _known_mean(
            [_known_mean([ranks[method] for ranks in own]) for own in by_grader.values()]
        )
        for method in methods
    }


def _known_mean(ranks: Sequence[float]) -> float:
    known = [rank for rank in ranks if not math.isnan(rank)]
    return float(np.mean(known)) if known else math.nan
