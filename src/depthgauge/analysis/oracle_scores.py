"""Scores of the oracles of a run: what combining its methods could reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.analysis.oracles import ORACLES
from depthgauge.engine.evaluate import gather
from depthgauge.engine.judge import Outcome
from depthgauge.engine.maps import RunMaps
from depthgauge.engine.measure import Prepared, measure
from depthgauge.engine.result import Result
from depthgauge.metrics.moments import LARGEST

Progress = Callable[[str, int, int], None]


def score_oracles(maps: RunMaps, progress: Progress | None = None) -> dict[str, Result]:
    """All oracles on all samples, by id; each is made of the methods' estimates as compared.

    Samples that no method has an estimate of are scored as ones without an estimate.
    """
    run = maps.run
    outcomes: dict[str, dict[str, Outcome]] = {name: {} for name in ORACLES}
    for done, sample in enumerate(run.samples, start=1):
        found = maps.all_prepared(sample)
        made = oracle_maps(found) if found else dict.fromkeys(ORACLES, maps.missing(sample))
        for name, prepared in made.items():
            why = "" if found else "no method has an estimate here."
            outcomes[name][sample] = _outcome(maps, prepared, why)
        if progress is not None:
            progress(sample, done, len(run.samples))
    return {name: gather(run.protocol, each, run.scenes) for name, each in outcomes.items()}


def oracle_maps(found: Mapping[str, Prepared]) -> dict[str, Prepared]:
    """Each oracle's estimate of one sample, ready to be measured; of one method at least."""
    first = next(iter(found.values()))
    stack = [found[label].allowed for label in sorted(found)]
    return {
        name: replace(
            first,
            estimate=np.asarray(oracle.make(stack, first.truth), np.float32),
            low=-LARGEST,
            high=LARGEST,
            alignment=None,
        )
        for name, oracle in ORACLES.items()
    }


def _outcome(maps: RunMaps, prepared: Prepared, why: str) -> Outcome:
    protocol = maps.run.protocol
    scores = measure(prepared, protocol.specs, protocol.quantity, protocol.missing, protocol.pool)
    return Outcome(scores, failed=why)
