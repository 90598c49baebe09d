"""The result of one method: the outcomes of its samples, pooled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.pool import Summary, pool_spec, pool_twin
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.types import Score


def gather(
    protocol: Protocol, outcomes: Mapping[str, Outcome], scenes: Mapping[str, str]
) -> Result:
    """The result of one method from the outcomes of its samples, in their order."""
    used = {name: outcome for name, outcome in outcomes.items() if not outcome.skipped}
    failed = {name: outcome.failed for name, outcome in used.items() if outcome.failed}
    samples = {name: outcome.scores for name, outcome in used.items() if outcome.scores}
    left_out = [text for outcome in outcomes.values() for text in outcome.left_out]
    summary = dict(summarise(protocol, samples, scenes, len(failed)))
    notes = tuple(note for outcome in outcomes.values() for note in outcome.notes)
    return Result(protocol, samples, summary, failed, tuple(left_out), notes)


def summarise(
    protocol: Protocol,
    samples: Mapping[str, Mapping[str, Score]],
    scenes: Mapping[str, str],
    failed: int,
) -> Iterator[tuple[str, Summary]]:
    """The pooled value of every score that some sample has."""
    if protocol.twin is not None:
        yield from pool_twin(protocol, samples, failed)
        return
    for spec in protocol.specs:
        scores = {name: found[spec.id] for name, found in samples.items() if spec.id in found}
        if scores:
            yield spec.id, pool_spec(spec, scores, scenes, protocol.pool, protocol.missing)
