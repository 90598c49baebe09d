"""How methods respond to the baseline: errors along it, and the baseline that they seem to use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from depthgauge.analysis.seeds import sample_values
from depthgauge.analysis.strata import BASELINE_CM, SWEEP_CM, Strata, by_number, stratum_rows
from depthgauge.engine.store.record import Run

BASELINE = "baseline_m"
_BIAS = "sd_bias"
_FEWEST = 6
"""Fewer scenes have no 95 % interval of their median: all values lie on one side too often."""


@dataclass(frozen=True, slots=True)
class BaselineCurve:
    """One score of every method along the baseline."""

    score_id: str
    unit: str
    better: str
    centres_cm: tuple[float, ...]
    """The mean baseline of each bin's samples, to three digits."""
    lines: Mapping[str, tuple[float, ...]]
    """By label; NaN where a bin has no value."""


@dataclass(frozen=True, slots=True)
class ImplicitBaseline:
    """The baseline that a method's views seem to be made for: the asked one over the fitted scale.

    A method that takes no camera makes one stereo effect; this is how wide the eyes would be apart.
    """

    label: str
    tier: str
    stratum: str
    asked_cm: float
    """The median of what was asked for."""
    implied_cm: float
    """The median over scenes; NaN if no scene has a fit."""
    low_cm: float
    high_cm: float
    """95 % interval of the median by order statistics; NaN below six scenes."""
    follows: float
    """Slope of log implied over log asked: 1 if it follows the camera, 0 if it has its own."""
    scenes: int


def is_sweep(run: Run) -> bool:
    """Whether scenes have several pairs of cameras each."""
    return len({run.scenes.get(name) or name for name in run.samples}) < len(run.samples)


def baseline_strata(run: Run, samples: Sequence[str] = ()) -> Strata:
    """Bins of baselines in cm: the paper's, or wider ones for all pairs of a scene."""
    ends = SWEEP_CM if is_sweep(run) else BASELINE_CM
    return by_number(run, BASELINE, ends, 100.0, samples)


def baseline_curves(run: Run) -> list[BaselineCurve]:
    """Every score of samples along the baseline; none where less than two bins have samples."""
    strata = baseline_strata(run)
    if len(strata) < 2:
        return []
    rows = stratum_rows(run, strata, whole=False)
    centres = tuple(
        float(f"{np.mean([100 * run.facts[name][BASELINE] for name in members]):.3g}")
        for members in strata.values()
    )
    found = []
    for spec in run.protocol.specs:
        if spec.metric.level == "dataset":
            continue
        lines: dict[str, list[float]] = {}
        for row in rows:
            lines.setdefault(row.label, []).append(row.values[spec.id].value)
        if any(math.isfinite(v) for line in lines.values() for v in line):
            unit = spec.metric.unit_of(run.protocol.quantity, spec.params)
            kept = {label: tuple(line) for label, line in lines.items()}
            found.append(BaselineCurve(spec.id, unit, spec.metric.better, centres, kept))
    return found


def implicit_baselines(run: Run, strata: Strata) -> list[ImplicitBaseline]:
    """For every method and stratum; empty if the fitted scale of disparities is no score."""
    score = next((s.id for s in run.protocol.specs if s.metric.name == _BIAS), None)
    if score is None:
        return []
    order = [*run.protocol.tiers, ""]
    entrants = sorted(run.entrants, key=lambda e: order.index(e.tier) if e.tier in order else 99)
    return [
        _implied(run, entrant.label, entrant.tier, score, name, members)
        for entrant in entrants
        for name, members in strata.items()
    ]


def _implied(
    run: Run, label: str, tier: str, score: str, stratum: str, members: Sequence[str]
) -> ImplicitBaseline:
    bias = sample_values(run, label, score)
    asked = {n: 100 * float(run.facts[n][BASELINE]) for n in members if BASELINE in run.facts[n]}
    implied = {
        name: asked[name] / (1 + bias[name])
        for name in asked
        # A scale that is not positive turns depth inside out: there is no baseline.
        if math.isfinite(bias.get(name, math.nan)) and 1 + bias[name] > 0
    }
    by_scene: dict[str, list[float]] = {}
    for name, value in implied.items():
        by_scene.setdefault(run.scenes.get(name) or name, []).append(value)
    scenes = [float(np.median(values)) for values in by_scene.values()]
    low, high = median_interval(scenes)
    return ImplicitBaseline(
        label=label,
        tier=tier,
        stratum=stratum,
        asked_cm=float(np.median(list(asked.values()))) if asked else math.nan,
        implied_cm=float(np.median(scenes)) if scenes else math.nan,
        low_cm=low,
        high_cm=high,
        follows=_slope([asked[name] for name in implied], list(implied.values())),
        scenes=len(scenes),
    )


def _slope(asked: Sequence[float], implied: Sequence[float]) -> float:
    x, y = np.log(asked), np.log(implied)
    if len(x) < 3 or np.ptp(x) < math.log(1.2):  # baselines that hardly differ tell nothing
        return math.nan
    return float(np.polyfit(x, y, 1)[0])


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median by order statistics: it assumes no distribution.

    >>> median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    (1.0, 6.0)
    >>> median_interval([1.0, 2.0])
    (nan, nan)
    """
    n, ordered = len(values), sorted(values)
    if n < _FEWEST:
        return math.nan, math.nan
    from scipy import stats

    # The largest k for which the median is below the k-th value in at most 2.5 % of cases.
    k = int(stats.binom.ppf(0.025, n, 0.5))
    return ordered[max(0, k - 1)], ordered[min(n - 1, n - k)]
