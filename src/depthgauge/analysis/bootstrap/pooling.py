"""Pooled values of resamples: the protocol's pooling with units that occur several times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.bootstrap._drawn_lists import finish_lists, value_at
from depthgauge.analysis.bootstrap.resampling import Draws, Floats, drawn_median
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.benchmarks.twins import TWINS
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.metrics import Order
from depthgauge.types import Score, State

MIN_UNITS = 8
"""With fewer, intervals of skewed scores contain the value clearly less often than stated: 95 %
intervals of a log-normal score (sigma 0.7) contained it in 90 % of simulations with 8 units, 88 %
with 6, 80 % with 4."""

TOO_FEW = "too few"
INCOMPLETE = "incomplete"
INFINITE = "infinite"
NOT_STORED = "not stored"
OF_THE_ORIGINAL = "pooled as the original does"
NOT_RESAMPLED = "not resampled"
_WIDEST_ROW = 16
"""Longer rows are features of pictures. A set in which some occur twice has another covariance than
one of different pictures, so the distance of resampled sets says nothing about that of new ones."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """A pooled value in every resample."""

    values: Floats
    """One for each resample, NaN if nothing of the score was drawn; empty if `why` is set."""
    units: int
    """The number of units that have this score."""
    why: str = ""
    """Why there are none: `too few` units, an `incomplete` or `infinite` value, a state that
    cannot be merged or was `not stored`, a distance of sets, which is `not resampled`, or a twin
    that is `pooled as the original does`."""


def spec_of(protocol: Protocol, score_id: str) -> ScoreSpec | None:
    """The spec of a score; None for the ids of a twin."""
    return next((spec for spec in protocol.specs if spec.id == score_id), None)


def better_of(protocol: Protocol, score_id: str) -> str:
    """The direction of a score: `lower`, `higher` or `zero`."""
    return protocol.better(score_id)


def pool_of(protocol: Protocol) -> str:
    """How a protocol pools; a twin's summary is the plain mean over samples."""
    return "image" if protocol.twin is not None else protocol.pool


def replicate_scores(
    protocol: Protocol, score_id: str, scores: Mapping[str, Score], draws: Draws
) -> Replicates:
    """The pooled value of one method and seed in every resample.

    `image`: sum of the drawn samples' values over their number. `median`: their median. `scene`:
    the mean with the merged value of each scene. `pixel`: the drawn units' states added up, each as
    often as it was drawn, then finished by the metric. Empty samples are left out, as in pooling
    itself.

    Args:
        protocol: Says how it is pooled and what a missing pixel costs.
        score_id: The id of the score.
        scores: The score of each sample that has it.
        draws: The resamples.
    """
    filled = {name: scores[name] for name in sorted(scores) if scores[name].why != "empty"}
    if protocol.twin is not None and TWINS[protocol.twin].pool is not None:
        return Replicates(np.zeros(0), 0, OF_THE_ORIGINAL)
    units = len({draws.units.of[name] for name in filled})
    why = _unusable(filled, units)
    if why:
        return Replicates(np.zeros(0), units, why)
    spec, pool = spec_of(protocol, score_id), pool_of(protocol)
    if spec is not None and spec.metric.level == "dataset":
        pool = "pixel"
        if _has_features(filled):
            return Replicates(np.zeros(0), units, NOT_RESAMPLED)
    if spec is None or pool == "image":
        values = np.array([score.value for score in filled.values()])
        sums = draws.units.add_up(filled, np.stack([values, np.ones_like(values)], axis=1))
        return Replicates(draws.ratio(sums[:, 0], sums[:, 1]), units)
    if pool == "median":
        values = np.array([score.value for score in filled.values()])
        return Replicates(drawn_median(values, draws.counts[:, draws.units.index(filled)]), units)
    if not can_merge(spec, filled):
        return Replicates(np.zeros(0), units, NOT_STORED)
    found = (_of_scenes if pool == "scene" else _of_pixels)(protocol, spec, filled, draws)
    return Replicates(found, units)


def _unusable(filled: Mapping[str, Score], units: int) -> str:
    whys = {score.why for score in filled.values()}
    if not whys or "missing" in whys:
        return INCOMPLETE
    if "infinite" in whys:
        return INFINITE
    return TOO_FEW if units < MIN_UNITS else ""


def _has_features(scores: Mapping[str, Score]) -> bool:
    rows = (score.state.rows for score in scores.values() if score.state is not None)
    return any(each is not None and each.shape[1] > _WIDEST_ROW for each in rows)


def can_merge(spec: ScoreSpec, scores: Mapping[str, Score]) -> bool:
    """Whether the states are stored; a run folder need not keep every error of a quantile."""
    states = [score.state for score in scores.values()]
    ordered = isinstance(spec.metric.recipe(**spec.params), Order)
    return all(state is not None and (state.values is not None or not ordered) for state in states)


def _of_scenes(
    protocol: Protocol, spec: ScoreSpec, filled: Mapping[str, Score], draws: Draws
) -> Floats:
    # A scene is a unit, so its own value is the same in every resample.
    sums, there = np.zeros(len(draws.units.names)), np.zeros(len(draws.units.names))
    for unit, members in _by_unit(filled, draws).items():
        sums[unit] = pool_spec(spec, members, {}, "pixel", protocol.missing).value
        there[unit] = 1.0
    return draws.ratio(sums, there)


def _of_pixels(
    protocol: Protocol, spec: ScoreSpec, filled: Mapping[str, Score], draws: Draws
) -> Floats:
    order = spec.metric.recipe(**spec.params)
    states = [score.state for score in filled.values() if score.state is not None]
    if isinstance(order, Order):
        errors = [state.values for state in states if state.values is not None]
        return _order_statistic(order, errors, draws.counts[:, draws.units.index(filled)])
    if any(state.rows is not None or state.values is not None for state in states):
        return finish_lists(
            lambda state: spec.metric.finish(state, protocol.missing, **spec.params),
            states,
            draws.counts[:, draws.units.index(filled)],
        )
    rows = np.array([[state.count, state.missing, *state.sums] for state in states])
    merged = draws.total(draws.units.add_up(filled, rows))
    return np.array(
        [
            spec.metric.finish(
                State(int(count), int(missing), np.array(sums)), protocol.missing, **spec.params
            )
            for count, missing, *sums in merged.tolist()
        ]
    )


def _by_unit(filled: Mapping[str, Score], draws: Draws) -> dict[int, dict[str, Score]]:
    groups: dict[int, dict[str, Score]] = {}
    for name, score in filled.items():
        groups.setdefault(draws.units.of[name], {})[name] = score
    return groups


def _order_statistic(order: Order, errors: Sequence[NDArray[np.float32]], counts: Floats) -> Floats:
    """Exact quantiles of every resample, without merging it.

    Args:
        order: The place among the sorted errors.
        errors: The sorted errors of each sample.
        counts: (resamples, samples): how often each sample was drawn.
    """
    sizes = np.array([part.size for part in errors], np.float64)
    totals = [int(n) for n in np.einsum("bs,s->b", counts, sizes)]
    places = np.array([order.indices(n)[:2] if n else (0, 0) for n in totals])
    low, high = (value_at(errors, counts, places[:, i]) for i in range(2))
    return np.array(
        [
            order.between(float(a), float(b), n) if n else math.nan
            for a, b, n in zip(low, high, totals, strict=True)
        ]
    )
