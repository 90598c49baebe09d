"""Intervals of pooled values and of their differences: a paired bootstrap over samples.

Scenes (or samples, if each sample is its own scene) are drawn with replacement, as many as there
are. The pooled value is computed again each time, exactly as the protocol pools. All methods and
scores use the same draws, so differences are paired: what makes a scene hard for both methods
cancels.

**Which interval.** The *expanded* percentile interval (Hesterberg 2015, "What teachers should know
about the bootstrap", section 4): quantiles a and 1 - a of the resampled values, where a 95 %
interval of n units takes

    a = Phi(-sqrt(n / (n - 1)) * t(n - 1, 0.975))

instead of 0.025. The plain percentile interval is too short for few units, because it has the
variance with n in the denominator instead of n - 1, and a normal tail instead of Student's. In 3000
simulated benchmarks of 8 / 15 / 30 units, nominal 95 % intervals contained the true value in this
percentage of cases:

    population                   percentile        BCa                this one
    normal                       89 / 92 / 94      89 / 92 / 94       94 / 94 / 95
    beta(1, 9), a bad-pixel %    86 / 90 / 93      88 / 91 / 94       92 / 93 / 95
    log-normal, sigma 0.7        83 / 88 / 90      86 / 88 / 91       90 / 91 / 92
    difference of two such       88 / 91 / 93      85 / 87 / 91       94 / 94 / 94

BCa gains little for skewed values and loses where it matters most, in differences. (BCa with the
same expansion reaches 91 / 92 / 92 for the log-normal but only 92 / 91 / 92 for differences;
Student's own interval does as well as this one, but only for means.) Tests repeat the simulation
for this one.

Its limits: if scores are skewed to the right, intervals contain the value less often than stated,
and nearly all misses are on one side, with the true value above. The rms over all pixels of 12
scenes with ln sigma ~ N(0, 0.3) is contained in 91 %: too low in 8.5 %, too high in 0.9 %. And no
interval from 8 scenes can know about one extreme case among a hundred unseen ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from depthgauge.analysis.bootstrap.pooling import INCOMPLETE, Replicates, replicate_scores
from depthgauge.analysis.bootstrap.resampling import RESAMPLES, Draws, Floats, draw_units
from depthgauge.analysis.seeds import scores_of, seeds_of, spread_of
from depthgauge.engine.store.record import Run

LEVEL = 0.95
ROUNDING = 1e-12
"""Differences below this share of the values are rounding."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds at a stated level; NaN if there are none."""

    low: float = math.nan
    high: float = math.nan
    why: str = ""
    """Why there is none: `too few`, `incomplete`, `infinite` or `not stored`."""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))


def pooled_interval(
    run: Run,
    label: str,
    score_id: str,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """The interval of one method's pooled score.

    Args:
        run: Scores of all samples.
        label: The method.
        score_id: The score.
        level: How often such intervals contain the value of infinitely many samples.
        resamples: The number of resamples.
        seed: Seed of the draws.
    """
    draws = draw_units(run, resamples=resamples, seed=seed)
    return interval(replicate(run, label, score_id, draws), level)


def replicate(run: Run, label: str, score_id: str, draws: Draws) -> Replicates:
    """One method's pooled score in every resample; the mean over its seeds if it has several.

    For `pool = "image"` this is the same as drawing from each sample's mean over seeds.
    """
    if math.isnan(spread_of(run, label, score_id).mean):
        return Replicates(np.zeros(0), 0, INCOMPLETE)
    found = [
        replicate_scores(run.protocol, score_id, scores_of(run, (label, seed), score_id), draws)
        for seed in seeds_of(run, label)
    ]
    units = min(each.units for each in found)
    why = next((each.why for each in found if each.why), "")
    if why:
        return Replicates(np.zeros(0), units, why)
    return Replicates(np.mean([each.values for each in found], axis=0), units)


def difference(of: Replicates, to: Replicates, sign: float = -1.0) -> Replicates:
    """`of - to` in every resample: paired, since both use the same draws."""
    why = of.why or to.why
    units = min(of.units, to.units)
    if why:
        return Replicates(np.zeros(0), units, why)
    return Replicates(of.values + sign * to.values, units)


def interval(replicates: Replicates, level: float = LEVEL) -> Interval:
    """The expanded percentile interval of resampled values (see the top of this module)."""
    if replicates.why:
        return Interval(why=replicates.why)
    low, high = percentile_bounds(replicates.values, replicates.units, level)
    return Interval(float(low), float(high))


def percentile_bounds(values: Floats, units: int, level: float) -> tuple[Floats, Floats]:
    """Both bounds over the first axis; resamples in which nothing was drawn are left out."""
    tail = _tail(units, level)
    drawn = values[~np.isnan(values).reshape(len(values), -1).any(axis=1)]
    if not len(drawn):
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def _tail(units: int, level: float) -> float:
    from scipy.special import ndtr, stdtrit

    t = stdtrit(units - 1, (1.0 + level) / 2.0)
    return float(ndtr(-math.sqrt(units / (units - 1)) * t))


def expanded_share(shares: Floats, units: int) -> Floats:
    """How likely an event is, from its share of the resamples, by the rule of the intervals.

    An interval of level 1 - 2 p ends where a share a of the resamples lies beyond it, with a as at
    the top of this module; so a share a means a probability of p. A probability beyond 97.5 %
    therefore says the same as a 95 % interval that ends before the other side is reached. Shares
    of 0, 1/2 and 1 stay.
    """
    from scipy.special import ndtri, stdtr

    return np.asarray(stdtr(units - 1, ndtri(shares) / math.sqrt(units / (units - 1))))


def contains_zero(found: Interval, scale: float) -> bool:
    """Whether an interval contains 0, up to rounding at that magnitude."""
    slack = ROUNDING * scale
    return found.low <= slack and found.high >= -slack
