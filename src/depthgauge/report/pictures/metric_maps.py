"""What the metrics that measure by themselves see, pixel by pixel."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import Prepared, lacking
from depthgauge.report.pictures.fragment_maps import (
    FRAGMENT_COLOURS,
    fragment_map,
    fragment_words,
    shows_fragments,
)
from depthgauge.report.tables.numbers import show_amount
from depthgauge.report.words.regions import first_paragraph
from depthgauge.types import Map, Mask


@dataclass(frozen=True, eq=False)
class MetricMaps:
    """The error map of one metric for every method of a sample."""

    title: str
    """The metrics that show this, by their ids without region."""
    about: str
    unit: str
    judged: Mask
    """The pixels that the metric is about."""
    maps: Mapping[str, Map]
    """By label, (H, W); NaN where there is nothing to judge, or no estimate to be judged."""
    captions: Mapping[str, str] = field(default_factory=dict)
    """By label: its name and score here."""
    numbered: bool = False
    """The maps hold numbers of fragments, 0 where there is none, and not errors."""


def metric_maps(
    protocol: Protocol,
    found: Mapping[str, Prepared],
    scores: Mapping[str, Mapping[str, float]] | None = None,
    without: Collection[str] = (),
) -> Iterator[MetricMaps]:
    """The maps of every metric with a map of its own, one metric after the other.

    Metrics that are scored at a finer resolution are drawn at the plain truth's size.

    Args:
        protocol: Whose metrics.
        found: Estimates of one sample beside the truth, by label.
        scores: Label -> score id -> value of that sample, for the captions.
        without: Names of metrics that are left out.
    """
    for title, spec in own_maps(protocol).items():
        able = {label: each for label, each in found.items() if not lacking(each, spec)}
        if not able or spec.metric.name in without:
            continue
        unit = spec.metric.unit.of(protocol.quantity)
        captions = {label: _caption(label, spec, unit, scores or {}) for label in able}
        numbered = shows_fragments(spec)
        shown_of = fragment_map if numbered else error_map_of
        maps = {label: shown_of(each, spec) for label, each in able.items()}
        if numbered:
            captions = {
                label: f"{captions[label]}, {fragment_words(maps[label])}" for label in able
            }
        yield MetricMaps(
            title=title,
            about=_about(spec),
            unit=unit,
            judged=judged_by(next(iter(able.values())), spec),
            maps=maps,
            captions=captions,
            numbered=numbered,
        )


def own_maps(protocol: Protocol) -> dict[str, ScoreSpec]:
    """The first spec of every metric, with its parameters, that has a map of its own."""
    found: dict[str, ScoreSpec] = {}
    for spec in protocol.specs:
        if spec.metric.error_map_with is not None:
            found.setdefault(spec.id.partition("@")[0], spec)
    return found


def error_map_of(prepared: Prepared, spec: ScoreSpec) -> Map:
    """What a metric shows of an estimate, given all that it needs."""
    return _error_map(prepared.allowed, prepared, spec)


def judged_by(prepared: Prepared, spec: ScoreSpec) -> Mask:
    """The pixels that a metric is about: where it would see a perfect estimate."""
    return np.asarray(prepared.known & np.isfinite(_error_map(prepared.truth, prepared, spec)))


def _error_map(estimate: Map, prepared: Prepared, spec: ScoreSpec) -> Map:
    needed: dict[str, Any] = {name: prepared.items[name] for name in spec.metric.needs}
    return spec.metric.error_map(estimate, prepared.truth, **needed, **spec.params)


def _caption(
    label: str, spec: ScoreSpec, unit: str, scores: Mapping[str, Mapping[str, float]]
) -> str:
    value = scores.get(label, {}).get(spec.id, math.nan)
    if math.isnan(value):
        return label
    region = "" if spec.region == "all" else f" on {spec.region}"
    return f"{label}, {show_amount(value, unit)}{region}"


def _about(spec: ScoreSpec) -> str:
    """The first paragraph of what a metric says of itself."""
    finer = (
        f" Scored at resolution '{spec.resolution}'; drawn at the images' size, where lengths in "
        "px reach farther."
    )
    more = FRAGMENT_COLOURS if shows_fragments(spec) else ""
    return first_paragraph(spec.metric.doc) + more + (finer if spec.resolution else "")
