"""Percentage of correct pixels over thresholds, pooled as the protocol pools."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.bootstrap.intervals import LEVEL, percentile_bounds
from depthgauge.analysis.bootstrap.pooling import MIN_UNITS, pool_of
from depthgauge.analysis.bootstrap.resampling import (
    Draws,
    Floats,
    Units,
    drawn_median,
    make_units,
    whole,
)
from depthgauge.analysis.seeds import labels_of, seeds_of
from depthgauge.benchmarks import Protocol
from depthgauge.engine.store.record import THRESHOLDS, Curve, Run


@dataclass(frozen=True, slots=True)
class CorrectCurve:
    """One method's percentage of truth pixels with an error of at most each of `THRESHOLDS`."""

    label: str
    thresholds: Floats
    """The thresholds, in the quantity's own unit."""
    percent: Floats
    """The mean over seeds if there are several; NaN where it is incomplete."""
    low: Floats
    """Interval over samples, separately at each threshold; NaN where there is none."""
    high: Floats


@dataclass(frozen=True, slots=True)
class _Shares:
    """Per unit: numerator and denominator of the pooled percentage."""

    numerators: Floats
    """(units, thresholds)"""
    weights: Floats
    """(units,)"""
    incomplete: bool
    percent: Floats | None = None
    """(samples, thresholds), where the pooled percentage is a median and has no numerator."""
    units: NDArray[np.intp] | None = None
    """The unit of each of those samples."""


def correct_curves(
    run: Run, *, draws: Draws | None = None, level: float = LEVEL
) -> dict[str, CorrectCurve]:
    """The curve of every method that has any, by label.

    A missing pixel is wrong at every threshold under `missing = "bad"`, is left out under `skip`
    and right under `good`. `pool = "image"` takes the mean of the samples' percentages, `median`
    their median, `pixel` the percentage of all pixels, `scene` the mean over scenes. A sample for
    which a method has no curve while others do counts as one without an estimate.

    Args:
        run: A run with curves.
        draws: Resamples of its units, if intervals are wanted.
        level: Level of the intervals, for each threshold by itself: the whole curve leaves such a
            band more often.
    """
    units = make_units(run) if draws is None else draws.units
    shares = {label: _method_shares(run, label, units) for label in labels_of(run)}
    return {
        label: _curve(label, found, draws or whole(units), level)
        for label, found in shares.items()
        if found
    }


def percent_correct(run: Run, draws: Draws) -> dict[str, Floats]:
    """(resamples, thresholds): the pooled percentages of every method in every resample."""
    shares = {label: _method_shares(run, label, draws.units) for label in labels_of(run)}
    return {label: _pooled(found, draws) for label, found in shares.items() if found}


def _curve(label: str, shares: list[_Shares], draws: Draws, level: float) -> CorrectCurve:
    percent = _pooled(shares, whole(draws.units))[0]
    low = high = np.full(len(THRESHOLDS), np.nan)
    units = int((shares[0].weights > 0).sum())
    if len(draws.counts) > 1 and units >= MIN_UNITS and not np.isnan(percent).any():
        low, high = percentile_bounds(_pooled(shares, draws), units, level)
    return CorrectCurve(label, np.array(THRESHOLDS), percent, low, high)


def _pooled(shares: list[_Shares], draws: Draws) -> Floats:
    """(resamples, thresholds): the mean over seeds."""
    if any(seed.incomplete for seed in shares):
        return np.full((len(draws.counts), len(THRESHOLDS)), np.nan)
    return np.asarray(np.mean([_of_seed(seed, draws) for seed in shares], axis=0))


def _of_seed(shares: _Shares, draws: Draws) -> Floats:
    if shares.percent is not None:
        return drawn_median(shares.percent, draws.counts[:, shares.units])
    return draws.ratio(shares.numerators, shares.weights)


def _method_shares(run: Run, label: str, units: Units) -> list[_Shares]:
    """One entry for each seed; none if a method has no curves at all."""
    if not any(run.curves.get((label, seed)) for seed in seeds_of(run, label)):
        return []
    sizes = _truth_pixels(run)
    return [
        _shares(run.protocol, _completed(run.curves.get((label, seed), {}), sizes), units)
        for seed in seeds_of(run, label)
    ]


def _truth_pixels(run: Run) -> dict[str, int]:
    """The number of truth pixels of each sample, from any method's counts."""
    return {
        sample: curve.count + curve.missing
        for curves in run.curves.values()
        for sample, curve in curves.items()
    }


def _completed(curves: Mapping[str, Curve], sizes: Mapping[str, int]) -> dict[str, Curve]:
    nothing = np.zeros(len(THRESHOLDS), np.int64)
    return {
        name: curves.get(name) or Curve(nothing, 0, size)
        for name, size in sorted(sizes.items())
        if size
    }


def _shares(protocol: Protocol, curves: Mapping[str, Curve], units: Units) -> _Shares:
    missing = np.array([curve.missing for curve in curves.values()], np.float64)
    pixels = np.array([curve.count for curve in curves.values()], np.float64)
    within = np.array([curve.within for curve in curves.values()], np.float64)
    if protocol.missing != "skip":
        pixels = pixels + missing
    if protocol.missing == "good":
        within = within + missing[:, np.newaxis]
    incomplete = bool((pixels == 0).any()) or not curves
    if incomplete:
        return _Shares(
            np.zeros((len(units.names), len(THRESHOLDS))), np.zeros(len(units.names)), True
        )
    pool = pool_of(protocol)
    if pool == "median":
        used = (units.add_up(curves, np.ones_like(pixels)) > 0).astype(np.float64)
        percent = 100.0 * within / pixels[:, np.newaxis]
        return _Shares(np.zeros(0), used, False, percent, units.index(curves))
    if pool == "image":
        within, pixels = 100.0 * within / pixels[:, np.newaxis], np.ones_like(pixels)
    sums, weights = units.add_up(curves, within), units.add_up(curves, pixels)
    if pool == "scene":
        there = weights > 0
        sums = np.divide(100.0 * sums, weights[:, np.newaxis], out=sums, where=there[:, np.newaxis])
        weights = there.astype(np.float64)
    return _Shares(sums if pool != "pixel" else 100.0 * sums, weights, False)


def percent_bad_at(curve: CorrectCurve, threshold: float) -> float:
    """The percentage of wrong pixels at any threshold, linear between those of the curve.

    At 0 every pixel is wrong; beyond the last threshold the percentage is constant.
    """
    if math.isnan(curve.percent[0]):
        return math.nan
    grid = np.concatenate([[0.0], curve.thresholds])
    return 100.0 - float(np.interp(threshold, grid, np.concatenate([[0.0], curve.percent])))
