"""How stable a ranking is: over thresholds, and for other samples."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.boards.tiers import require_one_tier
from depthgauge.analysis.bootstrap.intervals import ROUNDING, expanded_share, replicate
from depthgauge.analysis.bootstrap.pooling import INCOMPLETE, INFINITE, better_of
from depthgauge.analysis.bootstrap.resampling import RESAMPLES, Floats, draw_units
from depthgauge.analysis.curves import correct_curves
from depthgauge.analysis.practical import threshold_of
from depthgauge.analysis.ranks import kendall_tau, min_ranks, rank_keys
from depthgauge.analysis.seeds import labels_of, spread_of
from depthgauge.engine.store.record import THRESHOLDS, Run


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """The leader changes between two neighbouring thresholds."""

    below: float
    above: float
    was: tuple[str, ...]
    """The leader at `below`; several if they are equal."""
    now: tuple[str, ...]
    """The leader at `above`."""


@dataclass(frozen=True, slots=True)
class Stability:
    """Bad-pixel percentages and ranks of all methods over thresholds."""

    labels: tuple[str, ...]
    thresholds: Floats
    bad: Floats
    """(methods, thresholds): pooled percentage of pixels over the threshold."""
    ranks: NDArray[np.int64]
    """(methods, thresholds): equal percentages share the better rank, NaN comes last."""
    tau_next: Floats
    """Kendall's tau-b between each threshold and the next; NaN if all methods are equal."""
    main: float | None
    """The main threshold: the one of `thresholds` that is nearest to the main score's."""
    tau_main: Floats
    """Kendall's tau-b between each threshold and the main one; NaN if there is none."""
    leader_changes: tuple[LeaderChange, ...]


def rank_stability(run: Run, *, main: str | None = None) -> Stability:
    """How the order of the methods changes with the threshold above which pixels are wrong.

    Read from the curves of the whole truth, pooled as the protocol pools. Methods without curves
    are left out.

    Args:
        run: A run with curves.
        main: The score id whose threshold is the main one; by default the protocol's first score
            that has one.

    Raises:
        CannotCompare: Its methods are of several tiers.
    """
    require_one_tier(run)
    curves = correct_curves(run)
    labels = tuple(sorted(curves))
    grid = np.array(THRESHOLDS)
    percent = [curves[label].percent for label in labels]
    bad = 100.0 - np.array(percent).reshape(len(labels), len(grid))
    ranks = min_ranks(rank_keys(bad.T, "lower")).T
    keys = ranks.T.astype(np.float64)
    at = _main_index(run, main, grid)
    return Stability(
        labels=labels,
        thresholds=grid,
        bad=bad,
        ranks=ranks,
        tau_next=np.array([kendall_tau(a, b) for a, b in itertools.pairwise(keys)]),
        main=None if at is None else float(grid[at]),
        tau_main=np.array([np.nan if at is None else kendall_tau(row, keys[at]) for row in keys]),
        leader_changes=_leader_changes(labels, ranks, grid),
    )


def _main_index(run: Run, main: str | None, grid: Floats) -> int | None:
    specs = [spec for spec in run.protocol.specs if main is None or spec.id == main]
    limits = [limit for spec in specs if (limit := threshold_of(spec)) is not None]
    return int(np.abs(grid - limits[0]).argmin()) if limits else None


def _leader_changes(
    labels: tuple[str, ...], ranks: NDArray[np.int64], grid: Floats
) -> tuple[LeaderChange, ...]:
    leaders = [
        tuple(label for label, rank in zip(labels, column, strict=True) if rank == 1)
        for column in ranks.T
    ]
    return tuple(
        LeaderChange(float(grid[i]), float(grid[i + 1]), leaders[i], leaders[i + 1])
        for i in range(len(grid) - 1)
        if leaders[i] != leaders[i + 1]
    )


@dataclass(frozen=True, slots=True)
class RankProbabilities:
    """How likely each rank of each method is for other samples of the same kind."""

    labels: tuple[str, ...]
    shares: Floats
    """(methods, ranks): 0..1, each row sums to 1; rank 1 first. A rank may be shared, so columns
    need not sum to 1."""


def rank_probabilities(
    run: Run,
    score_id: str,
    *,
    practical: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RankProbabilities | None:
    """How likely each method has each rank, in agreement with intervals and tie groups.

    In every resample, a method's rank is 1 + how many methods are ahead of it by what matters. The
    share of resamples in which it has at most a rank is expanded as intervals are (see
    `expanded_share`). So the first of two methods is ahead with more than 97.5 % where the 95 %
    interval of their difference does not contain 0, and with less where it does: a method that
    cannot be told apart from another is never almost certain to be ahead of it.

    Methods without a finite value have the last rank in every resample.

    Args:
        run: Scores of all samples.
        score_id: The score.
        practical: Smaller differences do not matter: such methods share the better rank.
        resamples: The number of resamples.
        seed: Seed of the draws.

    Returns:
        None if there are too few units for a bootstrap (see `intervals`), or no method has a
        value.

    Raises:
        CannotCompare: Its methods are of several tiers.
    """
    require_one_tier(run)
    draws = draw_units(run, resamples=resamples, seed=seed)
    labels = tuple(labels_of(run))
    found = [replicate(run, label, score_id, draws) for label in labels]
    if any(f.why not in ("", INCOMPLETE, INFINITE) for f in found) or all(f.why for f in found):
        return None
    points = np.array([spread_of(run, label, score_id).mean for label in labels])
    table = np.stack(
        [np.full(resamples, p) if f.why else f.values for f, p in zip(found, points, strict=True)],
        axis=1,
    )
    drawn = table[~np.isnan(table[:, [not f.why for f in found]]).any(axis=1)]
    ranks = _ranks_in_draws(drawn, points, better_of(run.protocol, score_id), practical)
    at_most = np.stack([(ranks <= rank).mean(axis=0) for rank in range(1, len(labels) + 1)], axis=1)
    units = min(f.units for f in found if not f.why)
    shares = np.diff(expanded_share(at_most, units), axis=1, prepend=0.0)
    return RankProbabilities(labels, shares)


def _ranks_in_draws(
    drawn: Floats, points: Floats, better: str, practical: float
) -> NDArray[np.int64]:
    """(draws, methods): 1 + how many methods are ahead of a method by what matters.

    Where `zero` is best, a method whose value changes sign in a resample is not behind there:
    how far it would be off on the other side is noise, and its interval contains 0.
    """
    theirs = rank_keys(drawn, better)
    mine = theirs
    if better == "zero":
        mine = np.where(np.isfinite(drawn), drawn * np.sign(points), theirs)
    slack = ROUNDING * float(np.abs(drawn[np.isfinite(drawn)]).max(initial=0.0))
    with np.errstate(invalid="ignore"):  # two methods without a value: neither is ahead
        behind = mine[:, :, np.newaxis] - theirs[:, np.newaxis, :]
    ahead = (behind > slack) & (behind >= practical)
    return np.asarray(1 + ahead.sum(axis=2))
