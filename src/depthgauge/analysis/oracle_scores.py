"""Scores of the oracles of a run: what combining its methods could reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.analysis.oracles import ORACLES, Oracle, oracles_of
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.evaluate import gather
from depthgauge.engine.scoring.judge import Outcome
from depthgauge.engine.scoring.measure import Prepared, measure
from depthgauge.engine.scoring.result import Result
from depthgauge.metrics.moments import LARGEST

_PAIRS = ("depth_pairs", "normal_pairs")
Progress = Callable[[str, int, int], None]


def score_oracles(maps: RunMaps, progress: Progress | None = None) -> dict[str, Result]:
    """All oracles on all samples, by id; each is made of the methods' estimates as compared.

    Samples that no method has an estimate of are scored as ones without an estimate.

    Raises:
        Unavailable: No oracle makes sense of the protocol's quantity.
    """
    run = maps.run
    oracles = oracles_of(run.protocol)
    outcomes: dict[str, dict[str, Outcome]] = {name: {} for name in oracles}
    for done, sample in enumerate(run.samples, start=1):
        found = maps.all_prepared(sample)
        made = dict.fromkeys(oracles, maps.missing(sample))
        if found:
            made = oracle_maps(found, oracles)
        for name, prepared in made.items():
            why = "" if found else "no method has an estimate here."
            outcomes[name][sample] = _outcome(maps, prepared, why)
        if progress is not None:
            progress(sample, done, len(run.samples))
    return {name: gather(run.protocol, each, run.scenes) for name, each in outcomes.items()}


def oracle_maps(
    found: Mapping[str, Prepared], oracles: Mapping[str, Oracle] = ORACLES
) -> dict[str, Prepared]:
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
        for name, oracle in oracles.items()
    }


def _can_score(spec: ScoreSpec) -> bool:
    """Not what pairs of points are asked: they may lie where no truth says which method is best."""
    return spec.metric.level == "sample" and not set(_PAIRS) & set(spec.metric.needs)


def _outcome(maps: RunMaps, prepared: Prepared, why: str) -> Outcome:
    protocol = maps.run.protocol
    specs = [spec for spec in protocol.specs if _can_score(spec)]
    scores = measure(prepared, specs, protocol.quantity, protocol.missing, protocol.pool)
    return Outcome(scores, failed=why)
