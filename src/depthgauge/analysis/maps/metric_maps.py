"""What metrics with their own maps see, pixel by pixel."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import PreparedSample, lacking
from depthgauge.metrics.fine_structures import fragments
from depthgauge.types import Map, Mask


@dataclass(frozen=True, eq=False)
class MetricMaps:
    """The map of one metric for every method of a sample."""

    title: str
    """The metric, as in its score id, without a region."""
    doc: str
    """How the metric describes itself."""
    unit: str
    judged: Mask
    """The pixels that the metric is about."""
    maps: Mapping[str, Map]
    """By label, (H, W); NaN where there is nothing to judge, or no estimate."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """By label: its value on this sample, if there is one."""
    region: str = "all"
    """Region of these scores."""
    resolution: str = ""
    """The resolution at which it is scored, if that differs from the maps."""
    counts: Mapping[str, int] | None = None
    """By label: the number of things, if maps contain their numbers (0: not found) instead of
    errors."""


def metric_maps(
    protocol: Protocol,
    found: Mapping[str, PreparedSample],
    scores: Mapping[str, Mapping[str, float]] | None = None,
    without: Collection[str] = (),
) -> Iterator[MetricMaps]:
    """The maps of every metric with its own map, one metric after the other.

    Metrics that are scored at a finer resolution have maps at the plain truth's size.

    Args:
        protocol: The protocol with the metrics.
        found: Estimates of one sample beside the truth, by label.
        scores: Label -> score id -> value on that sample.
        without: Names of metrics that are left out.
    """
    for title, spec in own_maps(protocol).items():
        able = {label: each for label, each in found.items() if not lacking(each, spec)}
        if not able or spec.metric.name in without:
            continue
        numbers_of = _NUMBERS.get(spec.metric.name)
        maps = {
            label: (numbers_of or error_map_of)(prepared, spec) for label, prepared in able.items()
        }
        values = {label: (scores or {}).get(label, {}).get(spec.id, math.nan) for label in able}
        yield MetricMaps(
            title=title,
            doc=spec.metric.doc,
            unit=spec.metric.unit.of(protocol.quantity),
            judged=judged_by(next(iter(able.values())), spec),
            maps=maps,
            scores={label: value for label, value in values.items() if not math.isnan(value)},
            region=spec.region,
            resolution=spec.resolution,
            counts={label: _count(numbers) for label, numbers in maps.items()}
            if numbers_of is not None
            else None,
        )


def own_maps(protocol: Protocol) -> dict[str, ScoreSpec]:
    """The first spec of every metric (with its parameters) that has its own map."""
    found: dict[str, ScoreSpec] = {}
    for spec in protocol.specs:
        if spec.metric.error_map_with is not None:
            found.setdefault(spec.id.partition("@")[0], spec)
    return found


def error_map_of(prepared: PreparedSample, spec: ScoreSpec) -> Map:
    """What a metric shows of an estimate, given everything it needs."""
    return _error_map(prepared.allowed, prepared, spec)


def judged_by(prepared: PreparedSample, spec: ScoreSpec) -> Mask:
    """The pixels that a metric is about: where it would see a perfect estimate."""
    return np.asarray(prepared.known & np.isfinite(_error_map(prepared.truth, prepared, spec)))


def _error_map(estimate: Map, prepared: PreparedSample, spec: ScoreSpec) -> Map:
    needed: dict[str, Any] = {name: prepared.items[name] for name in spec.metric.needs}
    needed |= spec.params
    return spec.metric.error_map(estimate, prepared.truth, error=prepared.error, **needed)


def _fragment_numbers(prepared: PreparedSample, spec: ScoreSpec) -> Map:
    """The number of each pixel's fragment; 0 where a structure is not found, NaN elsewhere."""
    structures = prepared.items["structures"]
    numbers = fragments(prepared.allowed, prepared.truth, structures, **spec.params)
    here = structures.mask & prepared.known
    return np.where(here, numbers, np.nan).astype(np.float32)


_NUMBERS: Mapping[str, Callable[[PreparedSample, ScoreSpec], Map]] = {
    "fragmentation": _fragment_numbers
}
"""Metrics about parts of things: their numbers say more than an error map."""


def _count(numbers: Map) -> int:
    return int(np.unique(numbers[numbers > 0]).size)
