"""Which samples of a run are shown: the best, the median and the worst of each method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.seeds import SampleValues
from depthgauge.engine.scoring.pool import rank_key

MOST_SAMPLES = 12
_PLACES = (("worst", -1.0), ("best", 0.0), ("median", 0.5))


@dataclass(frozen=True, slots=True)
class Examples:
    """The samples that say most about the best method."""

    label: str
    """The method."""
    samples: Mapping[str, tuple[str, ...]]
    """Sample -> `best`, `median`, `worst`, in this order; one sample may be several of them."""


def choose_examples(board: Board, values: SampleValues) -> Examples | None:
    """The best, the median and the worst sample of the best method, by the main score.

    Args:
        board: The order of the methods, and the main score.
        values: By label, sample and score id.

    Returns:
        None where the best method has no value of any sample.
    """
    label = next((row.label for row in board.rows if not row.oracle), "")
    if not _has_values(values.get(label, {}), board.main):
        return None
    ordered = _in_order(values[label], board.main, board.column(board.main).better)
    found: dict[str, list[str]] = {}
    for what in ("best", "median", "worst"):
        sample = _at(ordered, dict(_PLACES)[what])
        if sample is not None:
            found.setdefault(sample, []).append(what)
    return Examples(label, {sample: tuple(whats) for sample, whats in found.items()})


def choose_samples(
    board: Board, values: SampleValues, most: int = MOST_SAMPLES, *, by: str = ""
) -> dict[str, tuple[str, ...]]:
    """Samples to show, each with why it was chosen, such as `worst of bm, sgbm`.

    First those of the best method (see `choose_examples`). Then the methods take turns in the order
    of the board: the worst sample of each, then the best, then the median, by the main score, until
    there are enough samples.

    Args:
        board: The order of the methods, and the main score.
        values: By label, sample and score id.
        most: The number of samples.
        by: What the reasons refer to, if not to the main score; appended to them.
    """
    better = board.column(board.main).better
    labels = [row.label for row in board.rows if not row.oracle]
    ordered = {label: _in_order(values.get(label, {}), board.main, better) for label in labels}
    known = {label: _has_values(values.get(label, {}), board.main) for label in labels}
    chosen: dict[str, dict[str, list[str]]] = {}
    leaders = [label for label in labels[:1] if known[label]]
    turns = [(what, place, leaders) for what, place in _PLACES]
    turns += [(what, place, labels) for what, place in _PLACES]
    for what, place, takers in turns:
        for label in takers:
            # A method that failed everywhere has no best sample.
            if what != "worst" and not known[label]:
                continue
            sample = _at(ordered[label], place)
            if sample is not None and (sample in chosen or len(chosen) < most):
                named = chosen.setdefault(sample, {}).setdefault(what, [])
                named += [label] if label not in named else []
    return {sample: _why(chosen[sample], len(labels), by) for sample in sorted(chosen)}


def spread_samples(samples: Sequence[str], most: int = MOST_SAMPLES) -> dict[str, tuple[str, ...]]:
    """Some samples, evenly spread, if nothing says which are good or bad.

    >>> list(spread_samples(["a", "b", "c", "d", "e"], 2))
    ['a', 'd']
    """
    step = max(1, -(-len(samples) // max(1, most)))
    return {name: () for name in list(samples)[::step][:most]}


def _why(found: Mapping[str, Sequence[str]], methods: int, by: str) -> tuple[str, ...]:
    reasons = [
        f"{what} of {'all methods' if 1 < methods == len(labels) else ', '.join(labels)}"
        for what, labels in found.items()
    ]
    return (*reasons, by) if by else tuple(reasons)


def _in_order(
    values: Mapping[str, Mapping[str, float]], score_id: str, better: str
) -> Sequence[str]:
    """Samples with that score, best first; equal ones by name."""
    found = ((name, scores.get(score_id, math.nan)) for name, scores in values.items())
    keyed: Iterable[tuple[float, str]] = ((rank_key(value, better), name) for name, value in found)
    return [name for _, name in sorted(keyed)]


def _has_values(values: Mapping[str, Mapping[str, float]], score_id: str) -> bool:
    return any(not math.isnan(scores.get(score_id, math.nan)) for scores in values.values())


def _at(samples: Sequence[str], place: float) -> str | None:
    if not samples:
        return None
    return samples[-1] if place < 0 else samples[int(place * (len(samples) - 1))]
