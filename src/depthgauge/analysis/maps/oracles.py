"""Oracles: comparison values that need the truth or other estimates. Marked, never ranked.

As in the 4D light field benchmark (Honauer et al. 2016; Johannsen et al. 2017). All of them skip
methods without an estimate at a pixel; if none has one, the oracle has none. The order of the
methods matters only if two errors are equal: the best is then the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from depthgauge._progress import Progress
from depthgauge.analysis.comparable import has_pixel_errors
from depthgauge.analysis.maps.stacks import (
    Stack,
    absolute_errors,
    by_blocks,
    error_kind,
    known_median,
    unit_vectors,
)
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.measure import PreparedSample, measure
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.errors import Unavailable
from depthgauge.metrics.terms import LARGEST
from depthgauge.quantities import QUANTITIES, ErrorKind
from depthgauge.types import Map


@dataclass(frozen=True, slots=True)
class Oracle:
    """One way to combine all estimates into one."""

    id: str
    title: str
    doc: str
    """One sentence."""
    make: Callable[[Stack, Map, ErrorKind | None], Map]
    """Computes the oracle's estimate from the methods' estimates and the truth of one sample; the
    last argument says how values are compared (see `absolute_errors`)."""
    directions: bool = False
    """Whether it is also defined for directions: there is no median of normals."""
    sided: bool = True
    """Whether its errors have the signs of the methods' errors; without them, scores that ask on
    which side an estimate is wrong mean nothing."""


def per_pixel_best(estimates: Stack, truth: Map, error: ErrorKind | None = None) -> Map:
    """At each pixel the estimate with the smallest absolute error.

    For flow this is the end-point error, for normals the angle.

    It is a bound on what choosing among these methods could reach. Of equal errors, the first in
    the list counts. NaN where there is no truth, because nothing can be called best there.

    >>> per_pixel_best([np.array([[1.0]]), np.array([[4.0]])], np.array([[3.0]])).tolist()
    [[4.0]]
    """
    work = partial(_best, error=error or error_kind(truth))
    return by_blocks(estimates, truth, truth.shape, work)


def _best(block: Map, truth: Map, *, error: ErrorKind) -> Map:
    errors = absolute_errors(block, truth, error)
    unknown = np.isnan(errors)
    chosen = np.where(unknown, np.inf, errors).argmin(axis=0)[np.newaxis]
    index = chosen if block.ndim == 3 else chosen[..., np.newaxis]
    found = np.take_along_axis(block, index, axis=0)[0]
    found[unknown.all(axis=0)] = np.nan
    return np.asarray(found)


def per_pixel_mean(estimates: Stack, truth: Map, error: ErrorKind | None = None) -> Map:
    """At each pixel the mean of all estimates (vectors: by component; normals get length 1)."""
    work = partial(_mean, error=error or error_kind(truth))
    return by_blocks(estimates, truth, truth.shape, work)


def _mean(block: Map, truth: Map, *, error: ErrorKind) -> Map:
    if error == "angle":
        block = unit_vectors(block)
    known = ~np.isnan(block)
    total = np.where(known, block, 0).sum(axis=0, dtype=np.float64)
    n = known.sum(axis=0)
    mean = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return np.asarray(mean, np.float32)


def per_pixel_median_disparity(estimates: Stack, truth: Map, error: ErrorKind | None = None) -> Map:
    """At each pixel the median of all estimates (vectors: by component).

    For an even number of estimates it is the mean of the two middle ones.
    """
    return by_blocks(estimates, truth, truth.shape, lambda block, _: known_median(block))


def per_pixel_median(estimates: Stack, truth: Map, error: ErrorKind | None = None) -> Map:
    """At each pixel the estimate whose absolute error is the median of all (Honauer 2019, 7.3.3).

    For an even number of estimates, it is the better of the two in the middle; of equal errors, the
    first in the list counts. NaN where there is no truth.

    >>> stack = [np.array([[value]]) for value in (2.0, 9.0, 5.0)]
    >>> per_pixel_median(stack, np.array([[3.0]])).tolist()
    [[5.0]]
    """
    work = partial(_median_estimate, error=error or error_kind(truth))
    return by_blocks(estimates, truth, truth.shape, work)


def _median_estimate(block: Map, truth: Map, *, error: ErrorKind) -> Map:
    errors = absolute_errors(block, truth, error)
    known = ~np.isnan(errors)
    order = np.argsort(errors, axis=0, kind="stable")  # NaN goes to the end
    middle = np.maximum(known.sum(axis=0, keepdims=True) - 1, 0) // 2
    chosen = np.take_along_axis(order, middle, axis=0)
    index = chosen if block.ndim == 3 else chosen[..., np.newaxis]
    found = np.take_along_axis(block, index, axis=0)[0]
    found[~known.any(axis=0)] = np.nan
    return np.asarray(found)


def per_pixel_median_difference(
    estimates: Stack, truth: Map, error: ErrorKind | None = None
) -> Map:
    """A map whose error at each pixel is as large as the methods' median error.

    truth - median |error|, as the 4D light field benchmark's program has it. It is always below the
    truth, so it is not what a method would give: `per_pixel_median` is. For vectors, the truth is
    moved by the median end-point error against the x axis, so that its own end-point error is that
    median. For an even number of errors, the two middle ones are averaged. NaN where there is no
    truth.
    """
    work = partial(_median_difference, error=error or error_kind(truth))
    return by_blocks(estimates, truth, truth.shape, work)


def _median_difference(block: Map, truth: Map, *, error: ErrorKind) -> Map:
    away = known_median(absolute_errors(block, truth, error))
    if truth.ndim == 2:
        return np.asarray(truth - away, np.float32)
    moved = np.array(truth, np.float32)
    if error == "channels":
        moved -= away[..., np.newaxis]
    else:
        moved[..., 0] -= away
    moved[np.isnan(away)] = np.nan
    return moved


ORACLES: Mapping[str, Oracle] = MappingProxyType(
    {
        oracle.id: oracle
        for oracle in (
            Oracle(
                "per_pixel_best",
                "Best per pixel",
                "At each pixel the estimate with the smallest error: what an ideal choice among "
                "the methods would give.",
                per_pixel_best,
                directions=True,
            ),
            Oracle(
                "per_pixel_mean",
                "Mean per pixel",
                "At each pixel the mean of all methods' estimates.",
                per_pixel_mean,
                directions=True,
            ),
            Oracle(
                "per_pixel_median_disparity",
                "Median estimate per pixel",
                "At each pixel the median of all methods' estimates.",
                per_pixel_median_disparity,
            ),
            Oracle(
                "per_pixel_median",
                "Estimate of median error per pixel",
                "At each pixel the estimate whose error is the median of all methods': a method of "
                "average quality.",
                per_pixel_median,
                directions=True,
            ),
            Oracle(
                "per_pixel_median_difference",
                "Median error per pixel",
                "At each pixel the truth minus the median error of all methods, as in the 4D light "
                "field benchmark: always below the truth, so without scores of one side.",
                per_pixel_median_difference,
                sided=False,
            ),
        )
    }
)
"""By id."""


def oracles_of(protocol: Protocol) -> Mapping[str, Oracle]:
    """The oracles that are defined for a protocol's quantity, by id.

    Raises:
        Unavailable: There are none, because a single pixel has no error.
    """
    if not has_pixel_errors(protocol):
        raise Unavailable(
            f"oracles choose among estimates pixel by pixel, but a single pixel of "
            f"{protocol.quantity} has no error in {protocol.id}; leave them out."
        )
    wanted = QUANTITIES[protocol.quantity].error == "angle"
    return {name: each for name, each in ORACLES.items() if each.directions or not wanted}


_PAIRS = {"depth_pairs", "normal_pairs"}
_SIDES = {"edges", "structures"}
"""What metrics need that ask on which side of an edge an estimate is."""


def score_oracles(maps: RunMaps, progress: Progress | None = None) -> dict[str, Result]:
    """All oracles on all samples, by id; each is computed from the methods' estimates as compared.

    Samples for which no method has an estimate are scored as missing.

    Raises:
        Unavailable: No oracle is defined for the protocol's quantity.
    """
    run = maps.run
    oracles = oracles_of(run.protocol)
    outcomes: dict[str, dict[str, Outcome]] = {name: {} for name in oracles}
    for done, sample in enumerate(run.samples, start=1):
        found = maps.all_prepared(sample)
        made = dict.fromkeys(oracles, maps.missing(sample))
        if found:
            made = oracle_maps(found, oracles, QUANTITIES[run.protocol.quantity].error)
        for name, prepared in made.items():
            why = "" if found else "no method has an estimate here."
            outcomes[name][sample] = _outcome(maps, oracles[name], prepared, why)
        if progress is not None:
            progress(sample, done, len(run.samples))
    return {name: gather(run.protocol, each, run.scenes) for name, each in outcomes.items()}


def oracle_maps(
    found: Mapping[str, PreparedSample],
    oracles: Mapping[str, Oracle] = ORACLES,
    error: ErrorKind | None = None,
) -> dict[str, PreparedSample]:
    """Each oracle's estimate of one sample, ready to be measured; needs at least one method."""
    first = next(iter(found.values()))
    stack = [found[label].allowed for label in sorted(found)]
    return {
        name: replace(
            first,
            estimate=np.asarray(oracle.make(stack, first.truth, error), np.float32),
            low=-LARGEST,
            high=LARGEST,
            alignment=None,
        )
        for name, oracle in oracles.items()
    }


def _can_score(oracle: Oracle, spec: ScoreSpec) -> bool:
    """Not scores of pairs of points, which may be where no truth says which method is best."""
    if not oracle.sided and (spec.metric.better == "zero" or _SIDES & set(spec.metric.needs)):
        return False
    return spec.metric.level == "sample" and not _PAIRS & set(spec.metric.needs)


def _outcome(maps: RunMaps, oracle: Oracle, prepared: PreparedSample, why: str) -> Outcome:
    protocol = maps.run.protocol
    specs = [spec for spec in protocol.specs if _can_score(oracle, spec)]
    scores = measure(prepared, specs, protocol.quantity, protocol.missing, protocol.pool)
    return Outcome(scores, failed=why)
