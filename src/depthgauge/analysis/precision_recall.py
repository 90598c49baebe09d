"""Precision and recall of boundaries: over thresholds, of one sample, and what was matched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.seeds import labels_of, scores_of, seeds_of
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.engine.store.record import Run
from depthgauge.metrics import METRICS
from depthgauge.metrics._matching import COUNTS, threshold_values
from depthgauge.metrics.edges._boundary_curves import rates
from depthgauge.metrics.edges.boundaries import FALSE_ALARM, HIT, MISSED, boundary_map, used_counts
from depthgauge.types import Score

__all__ = [
    "FALSE_ALARM",
    "HIT",
    "MISSED",
    "PrecisionRecall",
    "SampleRates",
    "boundary_spec",
    "counts_of",
    "has_classes",
    "matched_lines",
    "precision_recall",
    "rates_of",
    "rates_of_sample",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """One method's curve, from the lowest threshold to the highest."""

    label: str
    thresholds: Floats
    recall: Floats
    precision: Floats
    f: Floats

    @property
    def best(self) -> int:
        """The index of the best threshold for the whole dataset."""
        return int(np.argmax(self.f))


def boundary_spec(protocol: Protocol) -> ScoreSpec | None:
    """The first score that is computed from counts of boundaries; None if there is none."""
    measure = METRICS["ods"].measure_with
    return next((spec for spec in protocol.specs if spec.metric.measure_with is measure), None)


def precision_recall(run: Run) -> dict[str, PrecisionRecall]:
    """The curve of every method, by label; empty if no boundaries are scored.

    Counts are added over samples, and over seeds if there are several.
    """
    spec = boundary_spec(run.protocol)
    if spec is None:
        return {}
    found = {}
    for label in labels_of(run):
        scores = [
            score
            for seed in seeds_of(run, label)
            for score in scores_of(run, (label, seed), spec.id).values()
        ]
        counts = _added(scores, run.protocol.missing)
        if counts is not None:
            found[label] = _curve(label, counts)
    return found


def counts_of(score: Score, missing: str = "bad") -> Floats | None:
    """(thresholds, 4): true pixels matched, true pixels, estimated pixels matched, estimated.

    Args:
        score: Score of one sample.
        missing: What a sample without any estimate costs.
    """
    if score.state is None or score.state.sums.size <= COUNTS:
        return None
    counts = used_counts(score.state, missing)
    # The last four are those at the image's own best threshold.
    return None if counts is None else counts[:-1]


def _added(scores: Iterable[Score], missing: str) -> Floats | None:
    found = [counts for score in scores if (counts := counts_of(score, missing)) is not None]
    return np.sum(found, axis=0) if found else None


def _curve(label: str, counts: Floats) -> PrecisionRecall:
    recall, precision, f = rates(counts)
    return PrecisionRecall(label, threshold_values(len(counts)), recall, precision, f)


@dataclass(frozen=True, slots=True)
class SampleRates:
    """Precision and recall of one sample at the best threshold for the dataset."""

    f: float
    precision: float
    recall: float


def rates_of(score: Score | None, curve: PrecisionRecall | None) -> SampleRates | None:
    """The rates of one sample's score; None if no boundaries were counted."""
    counts = None if score is None else counts_of(score)
    if counts is None or curve is None:
        return None
    recall, precision, f = (float(each[curve.best]) for each in rates(counts))
    return SampleRates(f, precision, recall)


def rates_of_sample(
    run: Run, label: str, sample: str, curve: PrecisionRecall | None
) -> SampleRates | None:
    """The rates of one method on one sample, of its first seed."""
    spec = boundary_spec(run.protocol)
    if spec is None or curve is None:
        return None
    return rates_of(scores_of(run, (label, seeds_of(run, label)[0]), spec.id).get(sample), curve)


def has_classes(protocol: Protocol) -> bool:
    """Whether the protocol distinguishes occlusions and folds."""
    spec = boundary_spec(protocol)
    return spec is not None and spec.params.get("classes") == "occlusion_fold"


def matched_lines(
    prepared: PreparedSample, protocol: Protocol, curve: PrecisionRecall | None
) -> NDArray[np.uint8] | None:
    """The outcome of every line at the method's own threshold; None if nothing is matched.

    Returns:
        (H, W): `HIT`, `MISSED`, `FALSE_ALARM`, or another number where there is no line.
    """
    spec = boundary_spec(protocol)
    if spec is None or curve is None:
        return None
    return boundary_map(prepared.allowed, prepared.truth, **spec.params, threshold=curve.best)
