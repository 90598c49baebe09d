"""How scores degrade as images are perturbed: runs that differ only in one perturbation's level."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.protocol_diff import ABSENT, diff_protocols, name_differences
from depthgauge.analysis.seeds import labels_of, seeds_of, spread_of
from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.perturbed import load_perturbed
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.engine.store.record import Run
from depthgauge.errors import CannotCompare
from depthgauge.perturbations import EFFECTS, Effect, Part, parse_perturbation


@dataclass(frozen=True)
class Robustness:
    """Every score of every method at every level of one effect."""

    effect: str
    """`noise`"""
    unit: str
    """Unit of the levels."""
    views: str
    """The images that were perturbed; empty: the effect's default."""
    beside: str
    """Other perturbations, the same at every level: `jpeg:50`; mostly empty."""
    levels: tuple[float, ...]
    """From mild to strong; if the neutral level lies between others, from low to high."""
    base: int
    """The level that losses are relative to: the neutral one, else the mildest."""
    board: Board
    """The leaderboard of that level."""
    protocol: Protocol
    """The protocol of that level."""
    lines: Mapping[str, Mapping[str, tuple[float, ...]]]
    """Score id -> label -> one value per level; NaN if it is incomplete."""
    hashes: tuple[str, ...]
    """The protocol's hash at each level."""
    notes: tuple[str, ...] = ()

    def loss(self, score_id: str, label: str) -> tuple[float, ...]:
        """How much worse a score is than at the base level, in its unit; negative is better."""
        better = self.board.column(score_id).better
        values = self.lines[score_id][label]
        known = values[self.base]
        return tuple(
            math.nan
            if math.isnan(value) or math.isnan(known)
            else rank_key(value, better) - rank_key(known, better)
            for value in values
        )

    def largest_loss(self, score_id: str, label: str) -> float:
        """The largest loss over all levels; NaN if one is unknown."""
        found = self.loss(score_id, label)
        return math.nan if any(map(math.isnan, found)) else max(found)


def load_robustness(folder: str | Path, *, main: str | None = None) -> Robustness:
    """The runs of a folder that `run --perturb` made.

    Args:
        folder: The folder, with one run per level and `robustness.json`.
        main: The score that sorts the methods; the protocol's first by default.

    Raises:
        BadData: It is not such a folder, or a run in it is not finished.
        CannotCompare: Its runs do not belong together.
    """
    return robustness(load_perturbed(folder), main=main)


def robustness(runs: Sequence[Run], *, main: str | None = None) -> Robustness:
    """Combines runs that differ only in one perturbation's level.

    Args:
        runs: The runs, in any order.
        main: The score that sorts the methods; the protocol's first by default.

    Raises:
        CannotCompare: The runs differ in something else, or in nothing; the message says what.
    """
    parts, beside = _series(runs)
    effect = EFFECTS[parts[0].effect]
    for run in runs[1:]:
        _require_same(runs[0], run)
    ordered = sorted(zip((part.level for part in parts), runs, strict=True), key=lambda p: p[0])
    if ordered[-1][0] <= effect.neutral:
        ordered.reverse()  # for a quality, less is worse
    levels = tuple(level for level, _ in ordered)
    base = min(range(len(levels)), key=lambda n: abs(levels[n] - effect.neutral))
    board = make_board(ordered[base][1], main=main)
    return Robustness(
        effect=effect.name,
        unit=effect.unit,
        views=parts[0].text.partition("@")[2],
        beside=beside,
        levels=levels,
        base=base,
        board=board,
        protocol=ordered[base][1].protocol,
        lines={
            column.id: {
                row.label: tuple(spread_of(run, row.label, column.id).mean for _, run in ordered)
                for row in board.rows
            }
            for column in board.columns
        },
        hashes=tuple(run.protocol.hash for _, run in ordered),
        notes=(*_about_base(levels[base], effect), *_about_failures(ordered, effect.name)),
    )


def _about_base(base: float, effect: Effect) -> Iterator[str]:
    if base != effect.neutral:
        yield (
            f"No run is without {effect.name}; losses are relative to the mildest level, "
            f"{effect.name} {base:g}."
        )


def _about_failures(ordered: Sequence[tuple[float, Run]], name: str) -> Iterator[str]:
    """Methods without a usable estimate, and how often at which level."""
    for label in labels_of(ordered[0][1]):
        counts = {level: len(_failed(run, label)) for level, run in ordered}
        told = [f"{count} at {name} {level:g}" for level, count in counts.items() if count]
        if told:
            of = len(ordered[0][1].samples)
            yield f"{label} has no usable estimate for some of the {of} samples: {', '.join(told)}."


def _failed(run: Run, label: str) -> set[str]:
    return {name for seed in seeds_of(run, label) for name in run.results[label, seed].failed}


def _series(runs: Sequence[Run]) -> tuple[list[Part], str]:
    """The part of each run whose level differs, and the other parts in words."""
    texts = [run.protocol.perturb for run in runs]
    found = [parse_perturbation(text).parts for text in texts if text]
    if len(runs) < 2 or not found:
        raise CannotCompare(
            "robustness needs at least two runs, one of them with perturbed images; make them with "
            "run --perturb."
        )
    kinds = {tuple((part.effect, part.views) for part in parts) for parts in found}
    if len(kinds) > 1:
        raise CannotCompare(f"the runs have different perturbations: {_named(texts)}.")
    # An empty text means that no effect changes anything.
    neutral = tuple(Part(e, EFFECTS[e].neutral, views) for e, views in kinds.pop())
    each = [parse_perturbation(text).parts if text else neutral for text in texts]
    differing = [n for n in range(len(neutral)) if len({parts[n].level for parts in each}) > 1]
    if len(differing) != 1:
        what = "more than one level" if differing else "nothing"
        raise CannotCompare(f"the perturbations of the runs differ in {what}: {_named(texts)}.")
    own = differing[0]
    if len({parts[own].level for parts in each}) < len(each):
        raise CannotCompare(f"two of the runs have the same perturbation: {_named(texts)}.")
    beside = [part.text for n, part in enumerate(each[0]) if n != own and not part.is_neutral]
    return [parts[own] for parts in each], "+".join(beside)


def _named(texts: Collection[str]) -> str:
    return ", ".join(text or "none" for text in texts)


def _require_same(a: Run, b: Run) -> None:
    """Everything except the perturbation: protocol, samples, truth, methods and their options."""
    others = [
        each
        for each in diff_protocols(a.protocol, b.protocol)
        if each.path != "perturb"
        and not (each.path.startswith("perturb_revisions") and ABSENT in (each.old, each.new))
    ]
    where = f"{a.path} and {b.path}"
    if others:
        raise CannotCompare(
            f"{where}: differ in more than the perturbation: {name_differences(others)}."
        )
    if set(a.samples) != set(b.samples):
        only = sorted(set(a.samples) ^ set(b.samples))
        raise CannotCompare(f"{where}: only one of them has the sample {only[0]}.")
    for name in a.samples:
        if a.truth_hashes.get(name) != b.truth_hashes.get(name):
            raise CannotCompare(f"{where}: {name} was scored against another truth.")
    _require_same_methods(a, b, where)


def _require_same_methods(a: Run, b: Run, where: str) -> None:
    if only := sorted(set(labels_of(a)) ^ set(labels_of(b))):
        raise CannotCompare(f"{where}: only one of them has the method {only[0]}.")
    options = [{entrant.label: entrant.options_hash for entrant in run.entrants} for run in (a, b)]
    for label, own in options[0].items():
        if options[1].get(label) != own:
            raise CannotCompare(f"{where}: {label} has different options in the two runs.")
