"""Compares two runs, if they are comparable."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from depthgauge._canonical import finite_data
from depthgauge._shorten import first_few
from depthgauge.analysis.board import Board
from depthgauge.analysis.intervals import LEVEL, Interval, difference, interval, replicate
from depthgauge.analysis.pooling import TOO_FEW, better_of, can_merge, pool_of
from depthgauge.analysis.protocol_diff import diff_protocols, name_differences
from depthgauge.analysis.ranks import rank_keys
from depthgauge.analysis.resampling import RESAMPLES, Draws, draw_units
from depthgauge.analysis.seeds import labels_of, scores_of, seeds_of, spread_of
from depthgauge.analysis.ties import cannot_tell
from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.data_check import require_same_data
from depthgauge.engine.scoring.pool import Summary, pool_spec, pool_twin, summarise
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.load import load_run
from depthgauge.engine.store.record import Run
from depthgauge.errors import CannotCompare, RunWarning
from depthgauge.types import Score

Verdict = Literal[
    "better", "worse", "cannot be told apart", "too few samples", "incomplete", "no interval"
]
"""How the new value compares with the old one; `no interval`: the run does not store what
resampling needs."""

_MOST_NAMES = 5


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


def load_checked(folder: str | Path, data: str | Path | None = None) -> Run:
    """A finished run whose data is still what it was scored on.

    A warning says where that cannot be known: the data is not there, or was not recorded.

    Raises:
        BadData: The inputs or the truth of a sample have changed.
    """
    run = load_run(folder)
    for sentence in require_same_data([run], data):
        warnings.warn(sentence, RunWarning, stacklevel=2)
    return run


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
    shared, only_one = _require_comparable(a, b, common)
    merged, renamed = _merge(restrict(a, shared), restrict(b, shared))
    draws = draw_units(merged, resamples=resamples, seed=seed)
    changes = tuple(
        _change(merged, score_id, old, new, draws, level)
        for old, new in _pairs(a, b, renamed)
        for score_id in merged.protocol.score_ids
        if _has(merged, old, score_id) or _has(merged, new, score_id)
    )
    return Comparison(changes, merged, shared, only_one, _notes(changes, shared, only_one))


def load_merged(folders: Sequence[Path], data: Path | None = None) -> Run:
    """One run, or the methods of several runs of one protocol, truth and list of samples.

    Args:
        folders: The run folders.
        data: The dataset's folder, if it moved.

    Raises:
        CannotCompare: The runs differ in more than their methods.
    """
    first, *others = (load_checked(folder, data) for folder in folders)
    for other in others:
        first = merge_runs(first, other)
    return first


def merge_runs(a: Run, b: Run) -> Run:
    """All methods of two runs of one protocol, truth and list of samples.

    Raises:
        CannotCompare: They differ in one of these; the text says where.
    """
    _require_comparable(a, b, common=False)
    return _merge(a, b)[0]


def _require_comparable(a: Run, b: Run, common: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The samples of both runs, and those of only one of them."""
    _require_one_protocol(a, b)
    shared = tuple(sorted(set(a.samples) & set(b.samples)))
    _require_one_truth(a, b, shared)
    _require_same_inputs(a, b, shared)
    only_one = tuple(sorted(set(a.samples) ^ set(b.samples)))
    _require_samples(a, b, shared, only_one, common)
    return shared, only_one


def _require_one_protocol(a: Run, b: Run) -> None:
    if a.protocol.hash == b.protocol.hash:
        return
    differences = diff_protocols(a.protocol, b.protocol)
    names = [f"{run.protocol.id} {run.protocol.version}" for run in (a, b)]
    raise CannotCompare(
        f"{a.path} and {b.path}: these scores do not mean the same, because the protocols "
        f"({names[0]}, {names[1]}) differ: {name_differences(differences)}."
    )


def _require_one_truth(a: Run, b: Run, shared: Collection[str]) -> None:
    other = [name for name in shared if a.truth_hashes.get(name) != b.truth_hashes.get(name)]
    if other:
        raise CannotCompare(
            f"{a.path} and {b.path}: {len(other)} of {len(shared)} common samples were scored "
            f"against another truth: {_names(other)}; score one of the runs again."
        )


def _require_same_inputs(a: Run, b: Run, shared: Collection[str]) -> None:
    """Methods must have seen the same images; what one of the runs did not record is not known."""
    for sample in shared:
        first, second = (run.input_hashes.get(sample, {}) for run in (a, b))
        if other := sorted(n for n in first if n in second and first[n] != second[n]):
            raise CannotCompare(
                f"{a.path} and {b.path}: methods were given another {other[0]} of sample "
                f"'{sample}'; run one of them again."
            )


def _require_samples(
    a: Run, b: Run, shared: Collection[str], only_one: Collection[str], common: bool
) -> None:
    if not shared:
        raise CannotCompare(f"{a.path} and {b.path}: have no sample in common.")
    if only_one and not common:
        missing = [f"{_names(set(x.samples) - set(y.samples))}" for x, y in ((a, b), (b, a))]
        parts = [
            f"only {run.path} has {names}"
            for run, names in zip((a, b), missing, strict=True)
            if names
        ]
        raise CannotCompare(
            f"the runs have different samples ({'; '.join(parts)}); compare them on the "
            f"{len(shared)} common ones with --common if that is what you want."
        )


def _names(names: Collection[str]) -> str:
    return first_few(sorted(names), _MOST_NAMES)


def _merge(a: Run, b: Run) -> tuple[Run, list[dict[str, str]]]:
    """All methods of both runs, and the new label of each."""
    twice = [label for label in labels_of(a) if label in set(labels_of(b))]
    clashing = [label for label in twice if not _same_method(a, b, label)]
    names = _run_names(a, b)
    renamed = [
        {x: f"{x} ({name})" if x in clashing else x for x in labels_of(run)}
        for run, name in zip((a, b), names, strict=True)
    ]
    first, second = (_relabelled(run, to) for run, to in zip((a, b), renamed, strict=True))
    known = set(labels_of(first))
    merged = replace(
        first,
        entrants=(*first.entrants, *(e for e in second.entrants if e.label not in known)),
        results={**second.results, **first.results},
        curves={**second.curves, **first.curves},
        timings=(*first.timings, *(t for t in second.timings if t.method not in known)),
        info={"merged": [str(a.path), str(b.path)]},
    )
    return merged, renamed


def _same_method(a: Run, b: Run, label: str) -> bool:
    """Whether a label means the same in both runs: options, seeds and values."""
    options = [
        [entrant.options_hash for entrant in run.entrants if entrant.label == label]
        for run in (a, b)
    ]
    if options[0] != options[1] or seeds_of(a, label) != seeds_of(b, label):
        return False
    return all(
        a.results[label, seed].to_json() == b.results[label, seed].to_json()
        for seed in seeds_of(a, label)
    )


def _run_names(a: Run, b: Run) -> tuple[str, str]:
    if a.path.name != b.path.name:
        return a.path.name, b.path.name
    return (str(a.path), str(b.path)) if a.path != b.path else ("first", "second")


def _relabelled(run: Run, to: dict[str, str]) -> Run:
    return replace(
        run,
        entrants=tuple(replace(e, label=to[e.label]) for e in run.entrants),
        results={(to[label], seed): found for (label, seed), found in run.results.items()},
        curves={
            (to[label], seed): found for (label, seed), found in run.curves.items() if label in to
        },
        timings=tuple(replace(t, method=to.get(t.method, t.method)) for t in run.timings),
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
            f"left out ({_names(only_one)}), and all summaries are pooled again."
        )
    if not changes:
        notes.append("No method is in both runs under the same label, so there are no differences.")
    few = {change.score_id: None for change in changes if change.verdict == "too few samples"}
    if few:
        notes.append(f"Too few samples to distinguish a difference from chance: {_names(few)}.")
    return tuple(notes)


def restrict(run: Run, samples: Collection[str]) -> Run:
    """The same run as if only these samples had been scored.

    Summaries are pooled again from the scores of the samples. If pooling needs data that the run
    does not store (every error of a quantile, for instance), the summary's value is NaN.
    """
    if set(samples) == set(run.samples):
        return run
    kept = tuple(name for name in run.samples if name in samples)
    return replace(
        run,
        results={key: _restrict_result(r, set(kept), run.scenes) for key, r in run.results.items()},
        samples=kept,
        scenes={name: run.scenes.get(name, "") for name in kept},
        truth_hashes={name: run.truth_hashes[name] for name in kept if name in run.truth_hashes},
        curves={
            key: {name: curve for name, curve in curves.items() if name in kept}
            for key, curves in run.curves.items()
        },
        timings=tuple(timing for timing in run.timings if timing.sample in kept),
    )


def _restrict_result(result: Result, kept: set[str], scenes: Mapping[str, str]) -> Result:
    samples = {name: scores for name, scores in result.samples.items() if name in kept}
    failed = {name: why for name, why in result.failed.items() if name in kept}
    gone = {*result.samples, *result.failed} - kept
    return Result(
        result.protocol,
        samples,
        dict(_summaries(result.protocol, samples, scenes, len(failed))),
        failed,
        tuple(entry for entry in result.left_out if not _is_of(entry, gone)),
    )


def _is_of(entry: str, samples: Collection[str]) -> bool:
    """Whether an entry of `left_out` is about one of these samples."""
    return any(entry == name or entry.startswith((f"{name}@", f"{name}: ")) for name in samples)


def _summaries(
    protocol: Protocol,
    samples: Mapping[str, Mapping[str, Score]],
    scenes: Mapping[str, str],
    failed: int,
) -> Iterator[tuple[str, Summary]]:
    if protocol.twin is not None:
        yield from pool_twin(protocol, samples, failed)
        return
    specs = {spec.id: spec for spec in protocol.specs}
    for score_id in protocol.score_ids:
        scores = {name: found[score_id] for name, found in samples.items() if score_id in found}
        if not scores:
            continue
        spec = specs[score_id]
        filled = {name: score for name, score in scores.items() if score.why != "empty"}
        if protocol.pool == "image" or can_merge(spec, filled):
            yield (
                score_id,
                pool_spec(spec, scores, scenes, pool_of(protocol), protocol.missing),
            )
        else:
            yield score_id, summarise(math.nan, scores.values(), len(scores))
