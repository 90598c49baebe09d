"""What the charts over thresholds show: the share of correct pixels, and how ranks change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.bootstrap.resampling import Floats, draw_units
from depthgauge.analysis.comparable import has_pixel_errors
from depthgauge.analysis.curves import CorrectCurve, correct_curves
from depthgauge.analysis.practical import threshold_of
from depthgauge.analysis.stability import rank_stability
from depthgauge.benchmarks import Protocol
from depthgauge.engine.store.record import Run
from depthgauge.quantities import QUANTITIES

_MOST_RANKS = 10
"""Most thresholds of the rank chart; more would be unreadable."""
_SAME = 0.5
"""Differences in percentage points that are invisible on a chart."""

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The share of correct pixels at one threshold."""

    threshold: float
    percent: float
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True, slots=True)
class Curves:
    """Percentage of correct pixels against the threshold, one line per method."""

    lines: Mapping[str, Sequence[CurvePoint]]
    unit: str = "px"
    marks: tuple[float, ...] = ()
    """The thresholds that the protocol scores."""
    region: str = "all"
    missing: str = "bad"
    """What a missing pixel costs: `bad`, `skip` or `interpolate`."""


@dataclass(frozen=True, slots=True)
class RankStability:
    """The rank of every method at every threshold."""

    thresholds: tuple[float, ...]
    ranks: Mapping[str, Sequence[int | None]]
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """What was ranked, for the table."""
    unit: str = "px"
    what: str = "badpix"


def own_thresholds(protocol: Protocol) -> list[float]:
    """The thresholds above which the protocol's scores call a pixel wrong."""
    limits = {limit for spec in protocol.specs if (limit := threshold_of(spec)) is not None}
    return sorted(limits)


def curves_of(run: Run) -> Curves | None:
    """Percentage of correct pixels of every method, over the thresholds at which they change."""
    if not has_pixel_errors(run.protocol):
        return None
    found = correct_curves(run, draws=draw_units(run))
    if not found:
        return None
    marks = own_thresholds(run.protocol)
    percent = np.stack([curve.percent for curve in found.values()])
    shown = _moving(percent, next(iter(found.values())).thresholds, marks)
    return Curves(
        {label: _points(curve, shown) for label, curve in found.items()},
        unit=QUANTITIES[run.protocol.quantity].unit,
        marks=tuple(marks),
        missing=run.protocol.missing,
    )


def _moving(percent: Floats, grid: Floats, marks: Sequence[float]) -> slice:
    """From where the first curve rises to where the last one is flat."""
    percent = percent[~np.isnan(percent[:, 0])]
    if not len(percent):
        return slice(0, len(grid))
    rising = (percent > _SAME).any(axis=0)
    settled = (percent[:, -1:] - percent <= _SAME).all(axis=0)
    first = int(rising.argmax()) if rising.any() else 0
    last = int(settled.argmax())
    for mark in marks:
        at = int(np.abs(grid - mark).argmin())
        first, last = min(first, at), max(last, at)
    # One more on each side, so that curves visibly start and end there.
    return slice(max(first - 1, 0), min(last + 2, len(grid)))


def _points(curve: CorrectCurve, shown: slice) -> Sequence[CurvePoint]:
    columns = (curve.thresholds, curve.percent, curve.low, curve.high)
    rows = zip(*(column[shown] for column in columns), strict=True)
    return [CurvePoint(*map(float, row)) for row in rows]


def stability_of(run: Run, board: Board) -> RankStability | None:
    """The rank of every method at a few informative thresholds, including the protocol's own."""
    comparable = has_pixel_errors(run.protocol) and len(run.entrants) > 1
    if not comparable or not any(run.curves.values()):
        return None
    found = rank_stability(run, main=board.main)
    wanted = own_thresholds(run.protocol)
    wanted += [found.main] if found.main is not None else []
    # If all methods are almost perfect or almost all wrong, ranks mean nothing.
    telling = (found.bad.max(axis=0) > 1) & (found.bad.min(axis=0) < 99)
    moving = np.zeros_like(telling)
    moving[_moving(100.0 - found.bad, found.thresholds, wanted)] = True
    allowed = np.flatnonzero(telling & moving)
    if allowed.size < 2:
        return None
    shown = spaced(found.thresholds, allowed, wanted, _MOST_RANKS)
    return RankStability(
        thresholds=tuple(float(t) for t in found.thresholds[shown]),
        ranks={
            label: [int(r) for r in found.ranks[n, shown]] for n, label in enumerate(found.labels)
        },
        values={
            label: [float(v) for v in found.bad[n, shown]] for n, label in enumerate(found.labels)
        },
        unit=QUANTITIES[run.protocol.quantity].unit,
    )


def spaced(grid: Floats, allowed: Indices, wanted: Collection[float], most: int) -> Indices:
    """A few places of a grid: the first and last allowed ones, the wanted ones, then those in the
    widest gaps.

    Args:
        grid: Positive and rising; gaps are compared by their ratio.
        allowed: The places that may be chosen.
        wanted: Values to include, if the grid's nearest place is allowed.
        most: The number of places; more only if more are wanted.

    >>> spaced(np.array([1.0, 2.0, 3.0, 10.0, 90.0, 100.0]), np.arange(6), [90.0], 4).tolist()
    [0, 3, 4, 5]
    """
    chosen = {int(allowed[0]), int(allowed[-1])}
    chosen |= {int(np.abs(grid - value).argmin()) for value in wanted} & set(allowed.tolist())
    place = np.log(grid)
    while len(chosen) < min(most, allowed.size):
        taken = place[sorted(chosen)]
        apart = np.abs(place[allowed, np.newaxis] - taken).min(axis=1)
        chosen.add(int(allowed[apart.argmax()]))
    return np.array(sorted(chosen), np.intp)
