"""Tie groups: which methods cannot be distinguished on a score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from depthgauge.analysis.bootstrap.intervals import LEVEL, contains_zero, difference, interval
from depthgauge.analysis.bootstrap.pooling import Replicates
from depthgauge.analysis.ranks import rank_keys, sort_labels


@dataclass(frozen=True, slots=True)
class Tie:
    """The tie group of a method."""

    group: int | None
    """The group, from 1; None if unknown."""
    why: str = ""
    """`interval`, `practical`, or empty for the leader of a group."""


def tie_groups(
    values: Mapping[str, float],
    replicates: Mapping[str, Replicates],
    better: str,
    *,
    practical: float = 0.0,
    level: float = LEVEL,
) -> dict[str, Tie]:
    """Groups of methods that cannot be told apart from the best of their group.

    Methods are processed best first. The first leads a group. Each following one is compared with
    the leaders of the groups so far, the best first, and belongs to the first group from whose
    leader it cannot be told apart: the interval of their paired difference contains 0 (`interval`),
    or the difference is smaller than what matters (`practical`). One that is told apart from all of
    them leads the next group. So every method outside the first group is told apart from the best
    method. Members of different groups are otherwise not compared. There is no correction for
    multiple comparisons.

    Args:
        values: The pooled value of each method.
        replicates: The same in every resample, with the same draws for all methods.
        better: `lower`, `higher` or `zero`.
        practical: Smaller differences do not matter, e.g. because the truth is not that accurate.
        level: Level of the intervals.

    Returns:
        A tie for each method; the group is None for all methods if fewer than two have a value or
        there are no intervals, and for each method without a finite value.
    """
    nothing = dict.fromkeys(values, Tie(None))
    finite = [label for label in sort_labels(values, better) if math.isfinite(values[label])]
    if len(finite) < 2 or any(replicates[label].why for label in finite):
        return nothing
    ties: dict[str, Tie] = {}
    leaders: list[str] = []
    for label in finite:
        tied = (
            Tie(group, why)
            for group, leader in enumerate(leaders, start=1)
            if (why := _tied(values, replicates, (leader, label), better, practical, level))
        )
        ties[label] = next(tied, Tie(len(leaders) + 1))
        if not ties[label].why:
            leaders.append(label)
    return nothing | ties


def _tied(
    values: Mapping[str, float],
    replicates: Mapping[str, Replicates],
    pair: tuple[str, str],
    better: str,
    practical: float,
    level: float,
) -> str:
    """Why two methods are tied; empty if they are not."""
    leader, label = pair
    if cannot_tell(replicates[leader], replicates[label], better, level):
        return "interval"
    ahead, behind = rank_keys([values[leader], values[label]], better).tolist()
    return "practical" if behind - ahead < practical else ""


def cannot_tell(a: Replicates, b: Replicates, better: str, level: float = LEVEL) -> bool:
    """Whether the interval of the paired difference of two methods contains 0.

    If `zero` is best, |a| = |b| means a = b or a = -b: either interval may contain 0.
    """
    scale = float(max(np.nanmax(np.abs(a.values)), np.nanmax(np.abs(b.values))))
    signs = (-1.0, 1.0) if better == "zero" else (-1.0,)
    return any(contains_zero(interval(difference(b, a, s), level), scale) for s in signs)
