"""Psychometric curves: how often a method fails as the difficulty grows, and where it is 50 %.

Failure follows psi(x) = floor + (1 - floor - lapse) / (1 + exp(-(x - middle) / scale)), where the
floor is what fails however easy it is, and the lapse what succeeds however hard it is. All four are
uncertain, and so is how much the pixels of a bin have in common. As Schuett et al. (2016,
"Painfree and accurate Bayesian estimation of psychometric functions for (potentially) overdispersed
data") do for people, the posterior is computed on a grid, with a beta-binomial likelihood, whose
dispersion is estimated with the rest. So an axis on which nothing fails, or all, is no special
case: the posterior says that 50 % is beyond one of its ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse

Floats = NDArray[np.float64]
FEWEST_BINS = 4
"""Fewer failure rates say nothing about a curve of four parameters."""
LEVEL = 0.95
"""Probability of the interval."""
_TRIALS = 200.0
"""The pixels of a bin count as at most this many independent trials."""
_ASYMPTOTES = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Floors and lapses of the grid; half of the prior is below 0.1, see `_prior`."""
_RARE = 6.0
"""How much rarer larger asymptotes are: their prior density is (1 - x) to this power."""
_DISPERSIONS = (4.0, 9.0, 20.0, 45.0, 100.0, 300.0)
"""Effective trials of a bin, beyond the number of its pixels."""
_LEAST_SLOPE, _STEEP = 0.05, 0.12
"""Least 1 - floor - lapse; the steepest scale, in bins."""
_COARSE, _FINE = (41, 10), (61, 14)
"""Middles and scales of both grids."""
_TINY = 1e-5
"""Share of the largest posterior below which a value is left out of the finer grid."""
_SMALL = 1e-4
"""The same for pairs of asymptotes."""
_RATES = 501
"""Tabulated failure rates."""
_PER_BIN = 4


@dataclass(frozen=True, slots=True)
class PsychometricCurve:
    """The curve of one method along one axis; places are numbers of bins, the first at 1.

    A place is infinite if it is beyond the axis, whose bins reach from 0.5 to their number + 0.5.
    """

    difficulty: float
    """Where 50 % fail: the median of the posterior. inf: less than 50 % fail everywhere on the
    axis; -inf: more than 50 % do."""
    low: float
    """Lower end of the interval that holds it with 95 %; -inf: below the first bin."""
    high: float
    """Upper end; inf: above the last bin."""
    floor: float
    """What fails however easy it is, as a share: the mean of the posterior."""
    lapse: float
    """What succeeds however hard it is."""
    places: tuple[float, ...]
    """Where the curve is given below, from the first bin to the last."""
    rates: tuple[float, ...]
    """Share that fails there: the mean of the posterior."""
    residual: float
    """Root of the mean squared difference between the bins and the curve, as a share. Above 0.1
    the failures do not follow such a curve, for instance because they fall again."""

    @property
    def reaches(self) -> bool:
        """Whether it crosses 50 % within the axis."""
        return math.isfinite(self.difficulty)


def fit_psychometric(
    rates: Sequence[Sequence[float]] | Sequence[float] | Floats,
    counts: Sequence[Sequence[float]] | Sequence[float] | Floats | None = None,
) -> PsychometricCurve:
    """Fits a curve to the share of failures in each bin, from the easiest bin to the hardest.

    Args:
        rates: One share 0..1 for each bin, NaN where there is none; or a row of them for each
            scene (seed) that was measured. Bins are evenly spaced.
        counts: Pixels behind each of them, of the same shape; None: many.

    Raises:
        Misuse: There are too few bins with a rate, or one is not 0..1.

    >>> curve = fit_psychometric([0, 0, 0.02, 0.2, 0.5, 0.8, 0.97, 1])
    >>> round(curve.difficulty, 1), curve.low < 5 < curve.high
    (5.0, True)
    >>> fit_psychometric([0.0] * 8).difficulty
    inf
    """
    shares = np.atleast_2d(np.asarray(rates, np.float64))
    trials = np.full(shares.shape, _TRIALS)
    if counts is not None:
        given = np.atleast_2d(np.asarray(counts, np.float64))
        trials = np.clip(np.broadcast_to(given, shares.shape), 1.0, _TRIALS)
    known = np.isfinite(shares)
    if known.any(axis=0).sum() < FEWEST_BINS:
        raise Misuse(f"a psychometric curve needs failure rates of {FEWEST_BINS} bins or more.")
    if ((shares[known] < 0) | (shares[known] > 1)).any():
        raise Misuse("a failure rate is a share from 0 to 1; divide percentages by 100.")
    table = _log_likelihoods(shares, trials, known)
    count = shares.shape[1]
    coarse = _posterior(table, _first_grid(count))
    fine = _posterior(table, coarse.closer())
    return _summary(fine, shares, known)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Values of middle and scale, and all allowed pairs of floor and lapse with their prior."""

    middles: Floats
    scales: Floats
    floors: Floats
    lapses: Floats
    prior: Floats

    @property
    def slopes(self) -> Floats:
        return 1 - self.floors - self.lapses


@dataclass(frozen=True, slots=True)
class _Posterior:
    grid: _Grid
    weights: Floats
    """(middles, scales, pairs), summing to 1."""

    def closer(self) -> _Grid:
        """A finer grid over the middles, scales and asymptotes that matter."""
        by_middle, by_scale = self.weights.sum(axis=(1, 2)), self.weights.sum(axis=(0, 2))
        by_pair = self.weights.sum(axis=(0, 1))
        kept = by_pair > _SMALL * by_pair.max()
        middles = _span(self.grid.middles, by_middle)
        scales = _span(np.log(self.grid.scales), by_scale)
        return _Grid(
            np.linspace(*middles, _FINE[0]),
            np.exp(np.linspace(*scales, _FINE[1])),
            self.grid.floors[kept],
            self.grid.lapses[kept],
            self.grid.prior[kept],
        )


def _span(values: Floats, weights: Floats) -> tuple[float, float]:
    """From the value before the first that matters to the one after the last."""
    there = np.flatnonzero(weights > _TINY * weights.max())
    return float(values[max(there[0] - 1, 0)]), float(values[min(there[-1] + 1, len(values) - 1)])


def _first_grid(count: int) -> _Grid:
    beyond = 0.75 * (count - 1)
    prior = _prior()
    pairs = [
        (a, b, prior[i] * prior[j])
        for i, a in enumerate(_ASYMPTOTES)
        for j, b in enumerate(_ASYMPTOTES)
        if 1 - a - b >= _LEAST_SLOPE
    ]
    floors, lapses, weights = np.array(pairs).T
    return _Grid(
        np.linspace(1 - beyond, count + beyond, _COARSE[0]),
        np.geomspace(_STEEP, count / 2, _COARSE[1]),
        floors,
        lapses,
        weights,
    )


def _prior() -> Floats:
    """The share of the prior around each asymptote: between the middles to its neighbours."""
    values = np.array(_ASYMPTOTES)
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    found: Floats = np.diff(1 - (1 - edges) ** (_RARE + 1))
    return found


def _log_likelihoods(
    shares: Floats, trials: Floats, known: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """(bins, rates, dispersions): of all scenes' failures in a bin, if that is its true rate."""
    from scipy.special import betaln

    rate = np.linspace(0, 1, _RATES).clip(5e-4, 1 - 5e-4)[:, np.newaxis]
    spread = np.array(_DISPERSIONS)
    a, b = rate * spread, (1 - rate) * spread
    norm = betaln(a, b)
    found: NDArray[np.float32] = np.zeros((shares.shape[1], _RATES, spread.size), np.float32)
    for scene, k in zip(*np.nonzero(known), strict=True):
        n = trials[scene, k]
        failed = shares[scene, k] * n
        found[k] += betaln(failed + a, n - failed + b) - norm
    return found


def _posterior(table: NDArray[np.float32], grid: _Grid) -> _Posterior:
    count = table.shape[0]
    core = _core(grid, np.arange(1, count + 1))
    total = np.zeros((*core.shape[:2], grid.floors.size, table.shape[2]), np.float32)
    for k in range(count):
        rate = grid.floors + core[:, :, k, np.newaxis] * grid.slopes
        total += table[k][np.rint(rate * (_RATES - 1)).astype(np.int64)]
    # The dispersion is of no interest: it is summed out.
    weights = np.exp(total.astype(np.float64) - total.max()).sum(axis=3) * grid.prior
    return _Posterior(grid, weights / weights.sum())


def _core(grid: _Grid, places: NDArray[np.generic]) -> Floats:
    """(middles, scales, places): the logistic curve between floor and 1 - lapse."""
    from scipy.special import expit

    away = np.asarray(places, np.float64) - grid.middles[:, np.newaxis, np.newaxis]
    found: Floats = expit(away / grid.scales[:, np.newaxis])
    return found


def _summary(found: _Posterior, shares: Floats, known: NDArray[np.bool_]) -> PsychometricCurve:
    count = shares.shape[1]
    grid, weights = found.grid, found.weights
    places = np.linspace(1, count, _PER_BIN * (count - 1) + 1)
    by_pair = weights.sum(axis=(0, 1))
    rates = float(by_pair @ grid.floors) + np.einsum(
        "ms,msp->p", weights @ grid.slopes, _core(grid, places)
    )
    misses = (shares - rates[::_PER_BIN])[known]
    low, middle, high = (_on_axis(x, count) for x in _quantiles(_halves(grid), weights))
    return PsychometricCurve(
        middle,
        low,
        high,
        floor=float(by_pair @ grid.floors),
        lapse=float(by_pair @ grid.lapses),
        places=tuple(places.tolist()),
        rates=tuple(rates.tolist()),
        residual=math.sqrt(float(np.mean(misses**2))),
    )


def _halves(grid: _Grid) -> Floats:
    """(middles, scales, pairs): where each curve of the grid is at 50 %."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (0.5 - grid.floors) / grid.slopes
        steps = np.where(share <= 0, -np.inf, np.where(share >= 1, np.inf, -np.log(1 / share - 1)))
    found: Floats = grid.middles[:, np.newaxis, np.newaxis] + grid.scales[:, np.newaxis] * steps
    return found


def _quantiles(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """The median and the ends of the interval."""
    order = np.argsort(values, axis=None)
    upto = np.cumsum(weights.ravel()[order])
    tail = (1 - LEVEL) / 2
    at = np.searchsorted(upto, (tail * upto[-1], 0.5 * upto[-1], (1 - tail) * upto[-1]))
    low, middle, high = values.ravel()[order][np.minimum(at, order.size - 1)].tolist()
    return low, middle, high


def _on_axis(place: float, count: int) -> float:
    if place < 0.5:
        return -math.inf
    return math.inf if place > count + 0.5 else place
