"""Compares two runs, if they are comparable."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from depthgauge._canonical import finite_data
from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.boards.tiers import require_same_tier
from depthgauge.analysis.bootstrap.intervals import LEVEL, Interval, difference, interval, replicate
from depthgauge.analysis.bootstrap.pooling import TOO_FEW, better_of
from depthgauge.analysis.bootstrap.resampling import RESAMPLES, Draws, draw_units
from depthgauge.analysis.merged_runs import (
    load_checked,
    merge_methods,
    name_some,
    require_comparable,
    restrict,
)
from depthgauge.analysis.ranks import rank_keys
from depthgauge.analysis.seeds import labels_of, scores_of, seeds_of, spread_of
from depthgauge.analysis.ties import cannot_tell
from depthgauge.engine.store.record import Run

Verdict = Literal[
    "better", "worse", "cannot be told apart", "too few samples", "incomplete", "no interval"
]
"""How the new value compares with the old one; `no interval`: the run does not store what
resampling needs."""


@dataclass(frozen=True, slots=True)
class Change:
    """One score of two methods, or of one method in two runs."""

    score_id: str
    old_label: str
    new_label: str
    old: float
    """Pooled over the compared samples; NaN if it is incomplete."""
    new: float
    difference: float
    """new - old, in the score's unit."""
    interval: Interval
    """Interval of the paired difference, over samples."""
    verdict: Verdict
    samples: int
    """Samples with this score in both runs, without empty regions."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two runs of one protocol differ."""

    changes: tuple[Change, ...]
    """In the order of methods, then of the protocol's scores; empty if no methods match."""
    merged: Run
    """All methods of both runs on the compared samples, for a board."""
    samples: tuple[str, ...]
    left_out: tuple[str, ...]
    """Samples that only one of the runs has."""
    notes: tuple[str, ...] = ()

    def to_json(self, board: Board) -> dict[str, Any]:
        """The comparison as plain data, with the board of the merged run."""
        protocol = self.merged.protocol
        return {
            "schema": 1,
            "benchmark": protocol.id,
            "version": protocol.version,
            "protocol_hash": protocol.hash,
            "samples": list(self.samples),
            "left_out": list(self.left_out),
            "changes": finite_data([asdict(change) for change in self.changes]),
            "board": board.to_json(),
        }


def compare(old: Run | str | Path, new: Run | str | Path, *, common: bool = False) -> Comparison:
    """Compares two runs, or two run folders, of one protocol.

    Args:
        old: The earlier run.
        new: The later run.
        common: Whether to compare on the common samples if the lists of samples differ.

    Returns:
        The change of every score, with an interval and a verdict; all methods in one run, `merged`.

    Raises:
        CannotCompare: Protocols, truth or samples differ; the text names what differs.
    """
    a, b = (run if isinstance(run, Run) else load_checked(run) for run in (old, new))
    return compare_runs(a, b, common=common)


def compare_runs(
    a: Run,
    b: Run,
    *,
    common: bool = False,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compares run `b` (new) with run `a` (old).

    Methods with the same label are compared; if each run has only one method, those two.

    Args:
        a: The old run.
        b: The new run.
        common: Whether to compare on the common samples if the lists of samples differ; all
            summaries are then pooled again.
        level: Level of the intervals of the paired differences.
        resamples: How many times samples are drawn.
        seed: Seed of the draws.

    Raises:
        CannotCompare: The protocols differ, a common sample was scored against another truth, or
            the runs have different samples and `common` is not set. The text names what differs.
    """
    shared, only_one = require_comparable(a, b, common)
    for old, new in _pairs(a, b, [{x: x for x in labels_of(run)} for run in (a, b)]):
        require_same_tier(a, old, b, new)
    merged, renamed = merge_methods(restrict(a, shared), restrict(b, shared))
    draws = draw_units(merged, resamples=resamples, seed=seed)
    changes = tuple(
        _change(merged, score_id, old, new, draws, level)
        for old, new in _pairs(a, b, renamed)
        for score_id in merged.protocol.score_ids
        if _has(merged, old, score_id) or _has(merged, new, score_id)
    )
    return Comparison(changes, merged, shared, only_one, _notes(changes, shared, only_one))


def compare_methods(
    run: Run,
    old: str,
    new: str,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Change, ...]:
    """Compares two methods of one run, in every score that either of them has.

    Args:
        run: With both methods.
        old: A label.
        new: The other label; verdicts are about this method.
        level: Level of the intervals of the paired differences.
        resamples: How many times samples are drawn.
        seed: Seed of the draws.

    Raises:
        CannotCompare: They are of different tiers.
    """
    require_same_tier(run, old, run, new)
    draws = draw_units(run, resamples=resamples, seed=seed)
    return tuple(
        _change(run, score_id, old, new, draws, level)
        for score_id in run.protocol.score_ids
        if _has(run, old, score_id) or _has(run, new, score_id)
    )


def _pairs(a: Run, b: Run, renamed: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Labels in the merged run, old and new."""
    old, new = labels_of(a), labels_of(b)
    if len(old) == len(new) == 1:
        return [(renamed[0][old[0]], renamed[1][new[0]])]
    return [(renamed[0][x], renamed[1][x]) for x in old if x in set(new)]


def _has(run: Run, label: str, score_id: str) -> bool:
    """Whether there is anything to compare: some sample has a pixel of the score's region."""
    found = (run.results[label, seed].summary.get(score_id) for seed in seeds_of(run, label))
    return any(summary is not None and summary.all > summary.empty for summary in found)


def _change(run: Run, score_id: str, old: str, new: str, draws: Draws, level: float) -> Change:
    values = [spread_of(run, label, score_id).mean for label in (old, new)]
    replicates = [replicate(run, label, score_id, draws) for label in (old, new)]
    apart = difference(replicates[1], replicates[0])
    better = better_of(run.protocol, score_id)
    verdict: Verdict
    if not all(math.isfinite(value) for value in values):
        verdict = "incomplete"
    elif apart.why:
        verdict = "too few samples" if apart.why == TOO_FEW else "no interval"
    elif cannot_tell(replicates[0], replicates[1], better, level):
        verdict = "cannot be told apart"
    else:
        keys = rank_keys(values, better)
        verdict = "better" if keys[1] < keys[0] else "worse"
    return Change(
        score_id,
        old,
        new,
        values[0],
        values[1],
        values[1] - values[0],
        interval(apart, level),
        verdict,
        _samples_with(run, (old, new), score_id),
    )


def _samples_with(run: Run, labels: tuple[str, str], score_id: str) -> int:
    each = [
        {n for n, score in scores_of(run, (label, seed), score_id).items() if score.why != "empty"}
        for label in labels
        for seed in seeds_of(run, label)
    ]
    return len(set.intersection(*each)) if each else 0


def _notes(
    changes: Collection[Change], shared: Collection[str], only_one: Collection[str]
) -> tuple[str, ...]:
    notes = []
    if only_one:
        notes.append(
            f"Compared on {len(shared)} common samples; {len(only_one)} that only one run has are "
            f"left out ({name_some(only_one)}), and all summaries are pooled again."
        )
    if not changes:
        notes.append("No method is in both runs under the same label, so there are no differences.")
    few = {change.score_id: None for change in changes if change.verdict == "too few samples"}
    if few:
        notes.append(f"Too few samples to distinguish a difference from chance: {name_some(few)}.")
    return tuple(notes)
