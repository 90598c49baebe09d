"""A run on fewer samples, pooled anew."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from depthgauge.analysis.pooling import can_merge, pool_of
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.pool import Summary, pool_spec, pool_twin, summarise
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import Run
from depthgauge.types import Score


def restrict(run: Run, samples: Collection[str]) -> Run:
    """The same run as if only these samples had been scored.

    Summaries are pooled anew from the scores of the samples. Where pooling needs what the run does
    not hold (every error of a quantile, for instance), the summary's value is NaN.
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
