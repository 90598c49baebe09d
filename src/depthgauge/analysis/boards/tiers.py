"""Tiers: methods that were given different inputs are never ranked together."""

from __future__ import annotations

from dataclasses import replace

from depthgauge._registry import unknown
from depthgauge.engine.store.record import Run
from depthgauge.errors import CannotCompare

UNKNOWN = "not declared"
"""The group of methods of which nobody said what they were given."""


def tiers_of(run: Run) -> dict[str, tuple[str, ...]]:
    """The labels of each tier that has methods, in the benchmark's order; empty without tiers."""
    if not run.protocol.tiers:
        return {}
    by_label = {entrant.label: entrant.tier or UNKNOWN for entrant in run.entrants}
    names = [*run.protocol.tiers, *sorted(set(by_label.values()) - set(run.protocol.tiers))]
    found = {tier: tuple(x for x, own in by_label.items() if own == tier) for tier in names}
    return {tier: labels for tier, labels in found.items() if labels}


def one_tier(run: Run, tier: str) -> Run:
    """The same run with the methods of one tier only.

    Raises:
        UnknownName: No method is of that tier.
    """
    tiers = tiers_of(run)
    if tier not in tiers:
        raise unknown("tier with methods in this run", tier, tiers)
    kept = set(tiers[tier])
    return replace(
        run,
        entrants=tuple(entrant for entrant in run.entrants if entrant.label in kept),
        results={key: found for key, found in run.results.items() if key[0] in kept},
        curves={key: found for key, found in run.curves.items() if key[0] in kept},
        timings=tuple(timing for timing in run.timings if timing.method in kept),
    )


def require_one_tier(run: Run) -> None:
    """Refuses to rank methods that were given different inputs.

    Raises:
        CannotCompare: The run has methods of several tiers.
    """
    tiers = tiers_of(run)
    if len(tiers) > 1:
        (first, a), (second, b) = list(tiers.items())[:2]
        raise CannotCompare(
            f"'{a[0]}' (tier {first}) and '{b[0]}' (tier {second}) were given different inputs, so "
            f"no ranking has both; choose one tier, such as --tier {first}."
        )


def require_same_tier(a: Run, label: str, b: Run, other: str) -> None:
    """Refuses to compare a method of one run with one of another that was given other inputs.

    Raises:
        CannotCompare: They are of different tiers.
    """
    first, second = (
        next((e.tier or UNKNOWN for e in run.entrants if e.label == name), UNKNOWN)
        for run, name in ((a, label), (b, other))
    )
    if a.protocol.tiers and first != second:
        raise CannotCompare(
            f"'{label}' of {a.path} (tier {first}) and '{other}' of {b.path} (tier {second}) were "
            "given different inputs, so they are not compared."
        )
