"""Runs as one: loaded and checked, their methods merged, or restricted to some samples."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from depthgauge._shorten import first_few
from depthgauge.analysis.bootstrap.pooling import can_merge, pool_of
from depthgauge.analysis.protocol_diff import diff_protocols, name_differences
from depthgauge.analysis.seeds import labels_of, seeds_of
from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.data_check import require_same_data
from depthgauge.engine.scoring.pool import Summary, pool_spec, pool_twin, summarise
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.load import load_run
from depthgauge.engine.store.record import Run
from depthgauge.errors import CannotCompare, RunWarning
from depthgauge.types import Score

_MOST_NAMES = 5


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
    require_comparable(a, b, common=False)
    return merge_methods(a, b)[0]


def require_comparable(a: Run, b: Run, common: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
            f"against another truth: {name_some(other)}; score one of the runs again."
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
        missing = [f"{name_some(set(x.samples) - set(y.samples))}" for x, y in ((a, b), (b, a))]
        parts = [
            f"only {run.path} has {names}"
            for run, names in zip((a, b), missing, strict=True)
            if names
        ]
        raise CannotCompare(
            f"the runs have different samples ({'; '.join(parts)}); compare them on the "
            f"{len(shared)} common ones with --common if that is what you want."
        )


def name_some(names: Collection[str]) -> str:
    """The first few names, and how many more there are."""
    return first_few(sorted(names), _MOST_NAMES)


def merge_methods(a: Run, b: Run) -> tuple[Run, list[dict[str, str]]]:
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
        controls={**second.controls, **first.controls},
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
        controls={n: _restrict_result(r, set(kept), run.scenes) for n, r in run.controls.items()},
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
        if protocol.pool in ("image", "median") or can_merge(spec, filled):
            yield (
                score_id,
                pool_spec(spec, scores, scenes, pool_of(protocol), protocol.missing),
            )
        else:
            yield score_id, summarise(math.nan, scores.values(), len(scores))
