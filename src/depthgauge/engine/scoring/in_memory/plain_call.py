"""The call of a training loop: two float32 arrays, metrics that are plain sums, no options.

It takes the shortest way through the same sums: what does not depend on the values is kept from
call to call, and no plane of regions is made. All other calls take the general way, and both give
the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.comparison import ENOUGH_PIXELS, FITS, can_judge, sample_places
from depthgauge.engine.scoring.in_memory.maps_protocol import maps_protocol
from depthgauge.engine.scoring.marks import FEWEST, MOST_SHARE, SHARE
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.engine.scoring.prepare import estimate_range
from depthgauge.engine.scoring.readings import likely_depth_m, notes_of
from depthgauge.engine.scoring.result import Scores
from depthgauge.errors import DepthgaugeError
from depthgauge.metrics import METRICS, Missing, Recipe, value_and_total
from depthgauge.metrics.fused.whole import WholeSums, can_sum
from depthgauge.metrics.terms import LARGEST, SMALLEST
from depthgauge.quantities import QUANTITIES, guess
from depthgauge.regions import REGIONS, SHARED_MAPS
from depthgauge.types import Map, Note, Score, State

_OPTIONS = {"quantity", "missing", "check"}
_SURELY = 0.999
"""The first look adds in another order than the test it stands for."""
_EVERYWHERE = "all"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What calls with the same metrics have in common."""

    protocol: Protocol
    regions: dict[str, str]
    derived: dict[str, str]
    """As they were made: the protocol is shared, and somebody may have changed it."""
    sums: WholeSums
    scores: tuple[tuple[str, Recipe, str, NDArray[np.intp]], ...]
    """Of each score: id, recipe, unit, and the places of its terms among the sums."""
    positive: bool
    guessed: bool
    """Whether the quantity was not said and might be another one."""
    judged: bool
    """Whether other readings of the quantity are known."""


def score_plain(
    estimate: Any, truth: Any, ids: tuple[str, ...], options: Mapping[str, Any]
) -> Scores | None:
    """The scores of a plain call; None if the call is not plain."""
    if not (options.keys() <= _OPTIONS and _is_plain(estimate) and _is_plain(truth)):
        return None
    if estimate.shape != truth.shape:
        return None
    quantity, missing = options.get("quantity"), options.get("missing", "bad")
    changes = (METRICS.changes, QUANTITIES.changes, REGIONS.changes, SHARED_MAPS.changes)
    try:
        plan = _plan(changes, ids, quantity, missing)
    except (TypeError, DepthgaugeError):
        return None  # the general way says what is wrong
    if plan is None or (plan.regions, plan.derived) != (
        plan.protocol.regions,
        plan.protocol.derived,
    ):
        return None
    scores = _scores(plan, estimate, truth, missing)
    found = _notes(plan, estimate, truth) if options.get("check", True) and plan.judged else ()
    return Scores(plan.protocol, scores, found)


def _is_plain(values: Any) -> bool:
    """Whether it is a map that kernels take as it is."""
    return (
        type(values) is np.ndarray
        and values.dtype == np.float32
        and values.ndim == 2
        and values.size > 0
        and values.flags.c_contiguous
        and values.flags.writeable
    )


@lru_cache(maxsize=64)
def _plan(
    _: tuple[int, ...], ids: tuple[str, ...], quantity: str | None, missing: str
) -> _Plan | None:
    name = guess(1) if quantity is None else quantity
    declared = QUANTITIES[name]
    if declared.channels != 1 or declared.error != "difference" or declared.bounds is not None:
        return None
    protocol = maps_protocol(ids, name, missing=missing)
    recipes = [(spec, spec.metric.recipe(**spec.params)) for spec in protocol.specs]
    if not all(spec.region == _EVERYWHERE and not spec.part for spec, _ in recipes):
        return None
    plain = [(s, r) for s, r in recipes if isinstance(r, Recipe) and _is_sum(r)]
    if len(plain) < len(recipes) or any(spec.metric.needs for spec, _ in recipes):
        return None
    terms = list(dict.fromkeys(term for _, recipe in plain for term in recipe.terms))
    known = (SMALLEST if declared.positive else -LARGEST, LARGEST)
    return _Plan(
        protocol,
        dict(protocol.regions),
        dict(protocol.derived),
        WholeSums.of(terms, known, estimate_range(protocol, {})),
        tuple(
            (
                spec.id,
                recipe,
                spec.metric.unit_of(name, spec.params),
                np.array([terms.index(term) for term in recipe.terms], np.intp),
            )
            for spec, recipe in plain
        ),
        declared.positive,
        quantity is None and declared.space == "disparity",
        can_judge(declared, np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32)),
    )


def _is_sum(recipe: Recipe) -> bool:
    return recipe.weight is None and all(map(can_sum, recipe.terms))


def _scores(plan: _Plan, estimate: Map, truth: Map, missing: Missing) -> dict[str, Score]:
    count, lost, sums = plan.sums.add(estimate, truth)
    scores = {}
    for score_id, recipe, unit, places in plan.scores:
        state = State(count, lost, sums[places])
        value, total = value_and_total(recipe, state, missing)
        scores[score_id] = Score(value, count, lost, total, unit, state)
    return scores


def _notes(plan: _Plan, estimate: Map, truth: Map) -> tuple[Note, ...]:
    """What speaks against the way in which the maps were read; a first look is mostly enough."""
    look = _look(plan, estimate, truth)
    if not look.odd:
        return ()
    if plan.positive:
        truth = np.where(truth >= np.float32(SMALLEST), truth, np.float32(np.nan))
    if look.infinite:
        estimate, truth = (
            np.where(np.isinf(each), np.float32(np.nan), each) for each in (estimate, truth)
        )
    low, high = (float(limit) for limit in plan.sums.present)
    prepared = PreparedSample(estimate, truth, {}, low, high, given=estimate)
    scales = {"estimate": 1.0, "truth": 1.0}
    return notes_of(plan.protocol, prepared, quantity_said=not plan.guessed, scales=scales)


class _Look(NamedTuple):
    """What some pixels show at once."""

    odd: bool
    """Whether something may speak against the way in which the maps were read."""
    infinite: bool


def _look(plan: _Plan, estimate: Map, truth: Map) -> _Look:
    from depthgauge.metrics.kernels.first_look import first_look

    height, width = truth.shape
    places = sample_places(height, width)
    seen = np.zeros(6)
    fewest, most = max(FEWEST, int(SHARE * places.size)), MOST_SHARE * places.size
    maps = estimate.reshape(-1), truth.reshape(-1)
    limits = (*plan.sums.known, likely_depth_m(width))
    first_look(*maps, places, *limits, fewest, most, not plan.positive, seen)
    both, error, spread, marks, depth, infinite = seen.tolist()
    fits = both < ENOUGH_PIXELS or error <= _SURELY * FITS * spread
    return _Look(bool(not fits or marks or (depth and plan.guessed)), bool(infinite))
