"""Error against density where pixels are sorted by their confidence, from the states of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from depthgauge.analysis.seeds import labels_of, scores_of, seeds_of
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.store.record import Run
from depthgauge.metrics.confidence.sparsification import DENSITIES, curves_of
from depthgauge.quantities import QUANTITIES
from depthgauge.types import merge_states

_METRICS = ("ause", "aurg", "density_auc")
"""Metrics whose states are such curves."""
_MEANS = {"ause": "kind", "aurg": "kind", "density_auc": "threshold"}


@dataclass(frozen=True, slots=True)
class ConfidenceCurve:
    """One method's error among its most confident pixels, the mean over samples."""

    error: tuple[float, ...]
    """At each density."""
    best: tuple[float, ...]
    """If the confidence were perfect."""


@dataclass(frozen=True, slots=True)
class ConfidenceCurves:
    """The curves of all methods that give a confidence, for one score."""

    score_id: str
    what: str
    """`mae`, `rms`, or the percentage of bad pixels."""
    unit: str
    densities: tuple[float, ...]
    """In percent of the estimated pixels."""
    curves: Mapping[str, ConfidenceCurve]
    """By label."""


def confidence_curves(run: Run) -> tuple[ConfidenceCurves, ...]:
    """All such curves of a run; scores that have the same curves share them.

    Methods without a confidence have none.
    """
    found: dict[tuple[str, str], ConfidenceCurves] = {}
    for spec in run.protocol.specs:
        if spec.metric.name not in _METRICS:
            continue
        what = _what(spec, QUANTITIES[run.protocol.quantity].unit)
        curves = {label: curve for label in labels_of(run) if (curve := _curve(run, label, spec))}
        if curves and (what, spec.region) not in found:
            unit = spec.metric.unit_of(run.protocol.quantity, spec.params)
            percent = tuple(100.0 * density for density in DENSITIES)
            found[what, spec.region] = ConfidenceCurves(spec.id, what, unit, percent, curves)
    return tuple(found.values())


def _what(spec: ScoreSpec, unit: str) -> str:
    value = spec.params[_MEANS[spec.metric.name]]
    return value if isinstance(value, str) else f"pixels off by more than {value:g} {unit}".strip()


def _curve(run: Run, label: str, spec: ScoreSpec) -> ConfidenceCurve | None:
    """The mean over samples and seeds; None without any."""
    states = [
        score.state
        for seed in seeds_of(run, label)
        for score in scores_of(run, (label, seed), spec.id).values()
        if score.state is not None
    ]
    both = curves_of(merge_states(states)) if states else None
    if both is None:
        return None
    return ConfidenceCurve(*(tuple(float(v) for v in curve) for curve in both))
