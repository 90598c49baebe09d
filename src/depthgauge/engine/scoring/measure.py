"""Every score of a protocol on one pair of maps: one pass for sums, two for order statistics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from depthgauge._once import cached_property
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.errors import Unavailable
from depthgauge.geometry.alignment import Alignment
from depthgauge.metrics import Missing, Order, Recipe, value_and_total
from depthgauge.metrics.fused.columns import Weights, columns_of
from depthgauge.metrics.moments import measure_moments
from depthgauge.metrics.order import select, sorted_errors
from depthgauge.metrics.terms import LARGEST, ErrorName
from depthgauge.regions import pack_all
from depthgauge.types import Map, Mask, Note, Plane, Score, State, is_known

CLIP_MEMORY = "clip_memory"
"""What a metric of clips may keep from frame to frame: a dict of its own, empty at first."""


@dataclass(frozen=True)
class PreparedSample:
    """Estimate and truth of one sample as the protocol compares them."""

    estimate: Map
    truth: Map
    masks: Mapping[str, Mask]
    low: float = -LARGEST
    """Estimates below are missing."""
    high: float = LARGEST
    """Estimates above are missing."""
    alignment: Alignment | None = None
    items: Mapping[str, Any] = field(default_factory=dict)
    """What else metrics may need: cameras, images, shared maps."""
    error: ErrorName | None = None
    """How two pixels are compared; None: as their number of channels suggests."""
    given: Map | None = None
    """The estimate at the truth's size, before it was aligned, clipped and filled."""
    notes: tuple[Note, ...] = ()
    """What speaks against the way in which the maps were read."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Why some scores cannot be computed here, by their ids; `measure` fills it."""

    @cached_property
    def allowed(self) -> Map:
        """The estimate without values outside the range; the fused pass needs no such copy."""
        if self.low == -LARGEST and self.high == LARGEST:
            return self.estimate
        inside = (self.estimate >= np.float32(self.low)) & (self.estimate <= np.float32(self.high))
        return np.where(inside, self.estimate, np.float32(np.nan))

    @cached_property
    def known(self) -> Mask:
        """Where there is truth."""
        return is_known(self.truth)


def measure(
    prepared: PreparedSample, specs: Sequence[ScoreSpec], quantity: str, missing: Missing, pool: str
) -> dict[str, Score]:
    """All scores, in the order of the specs; those that lack their region or needs are left out.

    So are those whose metric says that it cannot be computed here: `prepared.unavailable` has them.
    """
    here = [spec for spec in specs if spec.region in prepared.masks and not lacking(prepared, spec)]
    scores: dict[str, Score] = {}
    alignment = asdict(prepared.alignment) if prepared.alignment else None
    for plane in pack_all({s.region: prepared.masks[s.region] for s in here}, prepared.truth):
        inside = [spec for spec in here if spec.region in plane.names]
        for spec, state, value in _measure_plane(prepared, plane, inside, pool):
            scores[spec.id] = finished(
                spec, state, quantity, missing, value=value, alignment=alignment
            )
    return {spec.id: scores[spec.id] for spec in here if spec.id in scores}


def lacking(prepared: PreparedSample, spec: ScoreSpec) -> list[str]:
    """What a metric needs and this sample does not have."""
    return [name for name in spec.metric.needs if name not in prepared.items]


def _measure_plane(
    prepared: PreparedSample, plane: Plane, specs: Sequence[ScoreSpec], pool: str
) -> Iterator[tuple[ScoreSpec, State, float | None]]:
    """State of each spec, and its value where the state does not give it."""
    recipes = _recipes(specs)
    yield from _measure_sums(prepared, plane, specs, recipes)
    orders = [(spec, r) for spec in specs if isinstance(r := recipes[spec.id], Order)]
    limits: dict[str, Any] = {"low": prepared.low, "high": prepared.high, "error": prepared.error}
    if pool in ("image", "median") and orders:
        wanted = [(spec.region, order) for spec, order in orders]
        found = select(prepared.estimate, prepared.truth, plane, wanted, **limits)
        for spec, order in orders:
            value, count, lost = found[spec.region, order]
            yield spec, State(count, lost), value
    elif orders:
        regions = {spec.region for spec, _ in orders}
        states = {
            r: sorted_errors(prepared.estimate, prepared.truth, plane, r, **limits)
            for r in sorted(regions)
        }
        for spec, _ in orders:
            yield spec, states[spec.region], None
    yield from _measure_others(prepared, [spec for spec in specs if recipes[spec.id] is None])


def _recipes(specs: Sequence[ScoreSpec]) -> dict[str, Recipe | Order | None]:
    """The recipe of each spec; one metric with the same parameters has one for all its regions."""
    return {spec.id: spec.metric.recipe(**spec.params) for spec in specs}


def _measure_others(
    prepared: PreparedSample, specs: Sequence[ScoreSpec]
) -> Iterator[tuple[ScoreSpec, State, None]]:
    """Metrics that measure by themselves; those that share a measure are measured once."""
    known: dict[tuple[Any, ...], State | Unavailable] = {}
    for spec in specs:
        key = (spec.metric.measure_with, spec.region, tuple(sorted(spec.params.items())))
        if key not in known:
            needed = {name: prepared.items[name] for name in spec.metric.needs}
            if CLIP_MEMORY in needed:
                needed[CLIP_MEMORY] = needed[CLIP_MEMORY].setdefault(key, {})
            mask = prepared.masks[spec.region] & prepared.known
            try:
                known[key] = spec.metric.measure(
                    prepared.allowed, prepared.truth, mask, **needed, **spec.params
                )
            except Unavailable as problem:  # no weights of a network, for example
                known[key] = problem
        found = known[key]
        if isinstance(found, Unavailable):
            prepared.unavailable[spec.id] = str(found)
        else:
            yield spec, found, None


def _measure_sums(
    prepared: PreparedSample,
    plane: Plane,
    specs: Sequence[ScoreSpec],
    recipes: Mapping[str, Recipe | Order | None],
) -> Iterator[tuple[ScoreSpec, State, None]]:
    sums = [(spec, r) for spec in specs if isinstance(r := recipes[spec.id], Recipe)]
    if not sums:
        return
    weights: dict[Any, Weights] = {}
    columns = {
        spec.id: columns_of(recipe, {n: prepared.items[n] for n in spec.metric.needs}, weights)
        for spec, recipe in sums
    }
    terms = tuple(dict.fromkeys(column for each in columns.values() for column in each))
    moments = measure_moments(
        prepared.estimate,
        prepared.truth,
        plane,
        terms,
        low=prepared.low,
        high=prepared.high,
        error=prepared.error,
    )
    for spec, _ in sums:
        yield spec, moments.state(spec.region, columns[spec.id]), None


def finished(
    spec: ScoreSpec,
    state: State,
    quantity: str,
    missing: Missing,
    *,
    value: float | None = None,
    alignment: dict[str, Any] | None = None,
) -> Score:
    """The score that a state gives; `value` where the state does not hold what it is made of."""
    metric, params = spec.metric, spec.params
    recipe, total = metric.recipe(**params), None
    if isinstance(recipe, Recipe):
        found, total = value_and_total(recipe, state, missing)
        value = found if value is None else value
    elif value is None:
        of_dataset = metric.level == "dataset"
        value = math.nan if of_dataset else metric.finish(state, missing, **params)
    return Score(
        value,
        state.count,
        state.missing,
        total,
        metric.unit_of(quantity, params),
        state,
        alignment,
        metric.level,
    )
