"""A run whose samples are pooled in another way, without measuring anything again."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from depthgauge.engine.scoring.gather import summarise
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import Run
from depthgauge.errors import Misuse

NewPool = Literal["image", "median"]
"""Pools that need nothing but the value of every sample."""


def repool(run: Run, pool: NewPool) -> Run:
    """The run with summaries that are pooled in another way.

    Its protocol is another one, with its own hash: such numbers are not put into a table with those
    of the benchmark.

    Args:
        run: A run of a benchmark with its own pool.
        pool: `image`: the mean over samples; `median`: their median.

    Raises:
        Misuse: The run is that of a twin, which pools as the original does.
        BadProtocol: A score of the run cannot be pooled in that way.
    """
    if run.protocol.twin is not None:
        raise Misuse(f"{run.protocol.id} pools as the original program does; leave out the pool.")
    if pool == run.protocol.pool:
        return run
    protocol = run.protocol.model_copy(update={"pool": pool})

    def pooled(result: Result) -> Result:
        failed = len(result.failed)
        summary = dict(summarise(protocol, result.samples, run.scenes, failed))
        return replace(result, protocol=protocol, summary=summary)

    return replace(
        run,
        protocol=protocol,
        results={key: pooled(result) for key, result in run.results.items()},
        controls={name: pooled(result) for name, result in run.controls.items()},
    )
