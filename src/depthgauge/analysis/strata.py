"""Scores of some of a run's samples: by branch, baseline, focal length or map, with what is absent.

A value of a stratum is the mean over its scenes, with Student's 95 % interval over the means of
scenes. Scores of whole datasets (FID, FVD) are pooled again from their states, never averaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from depthgauge.analysis.bootstrap.intervals import LEVEL
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import Entrant, Run
from depthgauge.types import Score

Dash = Literal["", "unavailable", "incomplete", "unusable"]
"""Why there is no value: it could not be computed here; not all of it was completed; what was
estimated cannot be measured. None of them means zero."""
UNSEEN = "eval-unseen-map"
BASELINE_CM = (1.0, 10.0, 30.0, 60.0, 100.0, 150.0)
"""Ends of the bins of baselines, those of the paper; only the last bin contains its end."""
FOCAL_MM = (18.0, 30.0, 45.0, 65.0, 85.0)
SWEEP_CM = (0.0, 3.0, 10.0, 30.0, 60.0, 100.0, 150.0, 300.0, 750.0)
"""All pairs of a scene: up to five of the widest gaps."""


@dataclass(frozen=True, slots=True)
class Value:
    """One score of one method in one stratum."""

    value: float = math.nan
    half: float = math.nan
    """Half the width of the interval; NaN where fewer than two scenes have a value."""
    dash: Dash = ""
    used: int = 0
    all: int = 0
    """Samples with a value, and all of the stratum."""


@dataclass(frozen=True, slots=True)
class StratumRow:
    """One method, or control, in one stratum."""

    label: str
    stratum: str
    scenes: int
    frames: int
    """Scored frames: fewer than there are if the method makes fewer."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """By score id."""
    tier: str = ""
    type: str = ""
    """`image` or `video`."""
    control: bool = False


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of numbers."""

    low: float
    high: float
    last: bool = False

    @property
    def name(self) -> str:
        """`[10,30)`; the last bin contains its end."""
        return f"[{self.low:g},{self.high:g}{']' if self.last else ')'}"

    def has(self, value: float) -> bool:
        """Whether a number is in the range, to within rounding of its end."""
        below = value < self.high or (self.last and value <= self.high * (1 + 1e-9))
        return self.low <= value and below


def bins(ends: Sequence[float]) -> tuple[Bin, ...]:
    """Neighbouring ranges.

    >>> [each.name for each in bins((1, 10, 30))]
    ['[1,10)', '[10,30]']
    """
    n = len(ends) - 1
    return tuple(Bin(ends[k], ends[k + 1], k == n - 1) for k in range(n))


# --- which samples --------------------------------------------------------------------------------


Strata = Mapping[str, tuple[str, ...]]
"""Names of strata and their samples."""


def branch_of(facts: Mapping[str, Any]) -> str:
    """The family of baselines; of maps that training never saw, with `Unseen-` before it."""
    family = str(facts.get("family") or "all")
    return f"Unseen-{family}" if facts.get("subset") == UNSEEN else family


def by_branch(run: Run) -> dict[str, tuple[str, ...]]:
    """The branches of a run; Uniform before IPD_Gaussian, unseen maps last."""
    found = _by_word(run, branch_of)
    order = sorted(found, key=lambda name: ("Unseen" in name, "Uniform" not in name, name))
    return {name: found[name] for name in order}


def by_word(run: Run, fact: str) -> dict[str, tuple[str, ...]]:
    """Strata by a word, such as the map's name."""
    found = _by_word(run, lambda facts: str(facts.get(fact, "")))
    return {name: found[name] for name in sorted(found)}


def by_number(
    run: Run, fact: str, ends: Sequence[float], factor: float = 1.0, samples: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Strata by a number, such as the baseline; bins without a sample are left out.

    Args:
        run: All scores.
        fact: The name of the number.
        ends: Ends of the bins.
        factor: What the number is multiplied with: 100 for cm.
        samples: The only samples that count; empty: all.
    """
    numbers = {n: float(f[fact]) * factor for n, f in run.facts.items() if fact in f}
    known = [n for n in run.samples if n in numbers and (not samples or n in samples)]
    found = {b.name: tuple(n for n in known if b.has(numbers[n])) for b in bins(ends)}
    return {name: members for name, members in found.items() if members}


def _by_word(run: Run, word: Callable[[Mapping[str, Any]], str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in run.samples:
        if name in run.facts:
            found.setdefault(word(run.facts[name]), []).append(name)
    return {name: tuple(members) for name, members in found.items()}


# --- their scores ---------------------------------------------------------------------------------


def stratum_rows(
    run: Run, strata: Strata, *, controls: bool = False, whole: bool = True
) -> list[StratumRow]:
    """Every method in every stratum, tier by tier; controls last.

    Args:
        run: All scores.
        strata: Names and samples.
        controls: Whether the rows are those of controls, in place of methods.
        whole: Whether scores of whole datasets are pooled; in bins they are left out.
    """
    specs = [s for s in run.protocol.specs if whole or s.metric.level != "dataset"]
    if controls:
        return [
            _row(run, Entrant(label, "", "", {}, ""), found, specs, name, members, control=True)
            for label, found in run.controls.items()
            for name, members in strata.items()
        ]
    order = [*run.protocol.tiers, ""]
    entrants = sorted(run.entrants, key=lambda e: order.index(e.tier) if e.tier in order else 99)
    return [
        _row(run, entrant, run.results[entrant.label, entrant.seeds[0]], specs, name, members)
        for entrant in entrants
        for name, members in strata.items()
    ]


def _row(
    run: Run,
    entrant: Entrant,
    result: Result,
    specs: Iterable[ScoreSpec],
    stratum: str,
    members: Sequence[str],
    *,
    control: bool = False,
) -> StratumRow:
    scenes = {run.scenes.get(name) or name for name in members}
    frames = {name: _frames(run, entrant, name) for name in members}
    short = any(frames[n] < int(run.facts.get(n, {}).get("frames", 1)) for n in members)
    return StratumRow(
        label=entrant.label,
        stratum=stratum,
        scenes=len(scenes),
        frames=sum(n for name, n in frames.items() if name not in result.failed),
        values={spec.id: _value(run, spec, result, members, short) for spec in specs},
        tier=entrant.tier,
        type=str(entrant.conditions.get("type", "")),
        control=control,
    )


def _frames(run: Run, entrant: Entrant, sample: str) -> int:
    there = int(run.facts.get(sample, {}).get("frames", 1))
    declared = entrant.conditions.get("frames")
    return there if declared is None else min(there, int(declared))


def _value(run: Run, spec: ScoreSpec, result: Result, members: Sequence[str], short: bool) -> Value:
    scores = {
        name: result.samples[name][spec.id]
        for name in members
        if spec.id in result.samples.get(name, {})
    }
    scores = {name: score for name, score in scores.items() if score.why != "empty"}
    n = len(members)
    if not scores:
        failed = all(name in result.failed for name in members)
        return Value(dash="unusable" if failed and members else "unavailable", all=n)
    if spec.metric.level == "dataset":
        return _pooled(run, spec, scores, short, n)
    usable = {name: s.value for name, s in scores.items() if math.isfinite(s.value)}
    if not usable:
        return Value(dash="unusable", all=n)
    if len(usable) < n:
        return Value(dash="incomplete", used=len(usable), all=n)
    by_scene: dict[str, list[float]] = {}
    for name, value in usable.items():
        by_scene.setdefault(run.scenes.get(name) or name, []).append(value)
    value, half = student([float(np.mean(values)) for values in by_scene.values()])
    return Value(value, half, used=n, all=n)


def _pooled(run: Run, spec: ScoreSpec, scores: Mapping[str, Score], short: bool, n: int) -> Value:
    """A score of a whole dataset; one of fewer frames, or fewer samples, is not the same score."""
    there = {name: s for name, s in scores.items() if s.state is not None and s.count}
    if not there:
        return Value(dash="unusable", all=n)
    if short or len(there) < n or any(s.missing for s in there.values()):
        return Value(dash="incomplete", used=len(there), all=n)
    found = pool_spec(spec, there, run.scenes, "pixel", run.protocol.missing)
    if not math.isfinite(found.value):
        return Value(dash="unusable", used=len(there), all=n)
    return Value(found.value, used=n, all=n)


def student(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """The mean and half the width of its interval by Student's t; NaN below two values.

    >>> student([1.0, 3.0])
    (2.0, 12.706204736174694)
    """
    mean, n = math.fsum(values) / len(values), len(values)
    if n < 2:
        return mean, math.nan
    from scipy import stats

    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, float(stats.t.ppf(0.5 + level / 2, n - 1)) * deviation / math.sqrt(n)
