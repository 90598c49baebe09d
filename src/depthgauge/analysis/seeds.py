"""Several seeds of one method.

Two kinds of spread, never mixed: an *interval* says how a value would change with other samples,
and uses each sample's mean over seeds; a *deviation* says how it changes with another seed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from depthgauge.engine.scoring.pool import plain_mean
from depthgauge.engine.store.record import Key, Run
from depthgauge.types import Score

SampleValues = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Label -> sample -> score id -> value."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One pooled score over the seeds of a method."""

    mean: float
    """The mean; NaN if a seed has no value."""
    deviation: float
    """Standard deviation with n - 1 in the denominator; NaN for one seed."""
    values: Mapping[int, float]
    """The pooled value of each seed."""


def labels_of(run: Run) -> list[str]:
    """The labels of all methods, sorted."""
    return sorted({entrant.label for entrant in run.entrants} | {label for label, _ in run.results})


def seeds_of(run: Run, label: str) -> list[int]:
    """The seeds of a method that have results."""
    return sorted(seed for name, seed in run.results if name == label)


def spread_of(run: Run, label: str, score_id: str) -> Spread:
    """Mean and standard deviation over seeds of a method's pooled score."""
    values = {}
    for seed in seeds_of(run, label):
        summary = run.results[label, seed].summary.get(score_id)
        values[seed] = math.nan if summary is None else summary.value
    mean = plain_mean(values.values())
    if len(values) < 2 or not math.isfinite(mean):
        return Spread(mean, math.nan, values)
    return Spread(mean, float(np.std(list(values.values()), ddof=1)), values)


def scores_of(run: Run, key: Key, score_id: str) -> dict[str, Score]:
    """One score of a method and seed, of every sample that has it."""
    samples = run.results[key].samples
    return {name: samples[name][score_id] for name in sorted(samples) if score_id in samples[name]}


def values_alone(
    run: Run, label: str, score_id: str, samples: Collection[str] | None = None
) -> dict[str, float]:
    """A score of whole datasets, computed on each sample as if it were the whole dataset.

    For choosing and inspecting samples: their mean is not the score. Samples without anything to
    find are left out. The first seed is used.

    Args:
        run: A run with the states of its scores.
        label: The method.
        score_id: The score.
        samples: The samples; by default all.
    """
    spec = next((spec for spec in run.protocol.specs if spec.id == score_id), None)
    seeds = seeds_of(run, label)
    if spec is None or not seeds:
        return {}
    found = {
        name: spec.metric.finish(score.state, run.protocol.missing, **spec.params)
        for name, score in scores_of(run, (label, seeds[0]), score_id).items()
        if score.state is not None and (samples is None or name in samples)
    }
    return {name: value for name, value in found.items() if not math.isnan(value)}


def sample_values(run: Run, label: str, score_id: str) -> dict[str, float]:
    """A method's value of each sample, the mean over its seeds.

    Empty regions are left out, and so are scores that only the whole dataset has.
    """
    found: dict[str, list[float]] = {}
    seeds = seeds_of(run, label)
    for seed in seeds:
        for name, score in scores_of(run, (label, seed), score_id).items():
            if score.why not in ("empty", "dataset"):
                found.setdefault(name, []).append(score.value)
    return {
        name: plain_mean(values) if len(values) == len(seeds) else math.nan
        for name, values in sorted(found.items())
    }


def values_of(run: Run) -> SampleValues:
    """Label -> sample -> score id -> value, the mean over seeds if there are several."""
    return {entrant.label: _values(run, entrant.label) for entrant in run.entrants}


def _values(run: Run, label: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for score_id in run.protocol.score_ids:
        for sample, value in sample_values(run, label, score_id).items():
            found.setdefault(sample, {})[score_id] = value
    return {sample: found[sample] for sample in run.samples if sample in found}
