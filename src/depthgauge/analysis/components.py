"""What each step of a chain contributes: main effects over all combinations, and single exchanges.

The *main effect* of a choice is the mean score of all chains that have it, minus the mean of all
chains: what it does on average, whatever the other steps are. The effects of the choices of a step
add up to 0. The share of a step is its part of the variance of the scores of all chains; what no
step explains by itself is interaction: choices that help only together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from depthgauge._canonical import finite_data
from depthgauge._registry import unknown
from depthgauge.analysis.bootstrap.intervals import Interval, difference, interval, replicate
from depthgauge.analysis.bootstrap.resampling import RESAMPLES, Draws, draw_units
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.engine.store.record import Entrant, Run
from depthgauge.errors import Misuse


@dataclass(frozen=True)
class Effect:
    """One choice of one step."""

    step: str
    choice: str
    value: float
    """The mean score of all chains with this choice."""
    effect: float
    """The same, minus the mean of all chains."""
    interval: Interval


@dataclass(frozen=True)
class Exchange:
    """The base chain with one step exchanged."""

    step: str
    choice: str
    before: str
    """The choice of the base chain."""
    value: float
    change: float
    """Minus the value of the base chain."""
    interval: Interval


@dataclass(frozen=True)
class Attribution:
    """What the steps of a chain contribute to one score."""

    score: str
    unit: str
    better: str
    steps: Mapping[str, tuple[str, ...]]
    """The choices of each step."""
    base: str
    """The label of the chain from which others depart."""
    base_value: float
    exchanges: tuple[Exchange, ...]
    effects: tuple[Effect, ...]
    """Empty unless the run has all combinations."""
    shares: Mapping[str, float]
    """By step: its part of the variance between chains, 0 to 1."""
    interaction: float
    """The part that no step has by itself."""
    best: str
    best_value: float
    chains: int
    samples: int

    def to_json(self) -> dict[str, Any]:
        """As plain data."""

        def plain(each: Effect | Exchange) -> dict[str, Any]:
            own = {name: getattr(each, name) for name in each.__dataclass_fields__}
            return {**own, "interval": [each.interval.low, each.interval.high]}

        names = ("score", "unit", "better", "base", "base_value", "interaction")
        body: dict[str, Any] = finite_data(
            {
                **{name: getattr(self, name) for name in names},
                "steps": {name: list(choices) for name, choices in self.steps.items()},
                "exchanges": [plain(each) for each in self.exchanges],
                "effects": [plain(each) for each in self.effects],
                "shares": dict(self.shares),
                "best": self.best,
                "best_value": self.best_value,
                "chains": self.chains,
                "samples": self.samples,
            }
        )
        return body


def attribute(
    run: Run,
    score: str | None = None,
    *,
    steps: Sequence[str] = (),
    base: str | None = None,
    resamples: int = RESAMPLES,
) -> Attribution:
    """The contributions of the steps of a method, from a run of it with different options.

    Args:
        run: Of one method, as `run_components` makes it, or any run of it with several options.
        score: The score; the main one by default.
        steps: The options that are steps; by default all that differ.
        base: The label of the chain from which others depart; the first of the run by default.
        resamples: Of the intervals.

    Raises:
        Misuse: The run has several methods, or nothing differs.
    """
    score = score or run.protocol.main_score
    if score not in run.protocol.score_ids:
        raise unknown("score", score, run.protocol.score_ids)
    names = tuple(steps) or varying_options(run)
    table = {_choices(entrant, names): entrant.label for entrant in run.entrants}
    levels = {
        name: tuple(dict.fromkeys(choices[k] for choices in table)) for k, name in enumerate(names)
    }
    first = run.entrants[0].label if base is None else base
    if first not in table.values():
        raise Misuse(f"there is no chain '{first}' in this run.")
    draws = draw_units(run, resamples=resamples)
    values = {label: _value(run, label, score) for label in table.values()}
    better = run.protocol.better(score)
    best = min(values, key=lambda label: rank_key(values[label], better))
    effects, shares, interaction = _main_effects(run, score, levels, table, values, draws)
    return Attribution(
        score=score,
        unit=_unit(run, score),
        better=better,
        steps=levels,
        base=first,
        base_value=values[first],
        exchanges=tuple(_exchanges(run, score, levels, table, values, first, draws)),
        effects=effects,
        shares=shares,
        interaction=interaction,
        best=best,
        best_value=values[best],
        chains=len(table),
        samples=len(run.samples),
    )


def varying_options(run: Run) -> tuple[str, ...]:
    """The options in which the entrants of a run differ."""
    methods = {entrant.method for entrant in run.entrants}
    if len(methods) > 1:
        listed = ", ".join(sorted(methods))
        raise Misuse(f"components are those of one method, and this run has {listed}.")
    known = [entrant.options for entrant in run.entrants]
    found = tuple(
        name for name in known[0] if len({str(options.get(name)) for options in known}) > 1
    )
    if not found:
        raise Misuse("nothing differs between the methods of this run; run it with other options.")
    return found


def _choices(entrant: Entrant, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(entrant.options.get(name)) for name in names)


def _value(run: Run, label: str, score: str) -> float:
    seeds = [key for key in run.results if key[0] == label]
    found = [run.results[key].summary[score].value for key in seeds]
    return math.fsum(found) / len(found)


def _unit(run: Run, score: str) -> str:
    return next(iter(run.results.values())).summary[score].unit


def _exchanges(
    run: Run,
    score: str,
    levels: Mapping[str, Sequence[str]],
    table: Mapping[tuple[str, ...], str],
    values: Mapping[str, float],
    base: str,
    draws: Draws,
) -> list[Exchange]:
    own = next(choices for choices, label in table.items() if label == base)
    start = replicate(run, base, score, draws)
    found = []
    for k, (step, choices) in enumerate(levels.items()):
        for choice in choices:
            other = table.get((*own[:k], choice, *own[k + 1 :]))
            if choice == own[k] or other is None:
                continue
            change = values[other] - values[base]
            within = interval(difference(replicate(run, other, score, draws), start))
            found.append(Exchange(step, choice, own[k], values[other], change, within))
    return found


def _main_effects(
    run: Run,
    score: str,
    levels: Mapping[str, Sequence[str]],
    table: Mapping[tuple[str, ...], str],
    values: Mapping[str, float],
    draws: Draws,
) -> tuple[tuple[Effect, ...], dict[str, float], float]:
    """Effects and shares; nothing where a combination is absent or has no value."""
    wanted = list(product(*levels.values()))
    if set(wanted) != set(table) or not all(map(math.isfinite, values.values())):
        return (), {}, math.nan
    numbers = np.array([values[table[each]] for each in wanted])
    replicates = [replicate(run, table[each], score, draws) for each in wanted]
    why = next((each.why for each in replicates if each.why), "")
    drawn = None if why else np.stack([each.values for each in replicates])
    units = min(each.units for each in replicates)
    whole = float(numbers.mean())
    spread = float(((numbers - whole) ** 2).sum())
    effects: list[Effect] = []
    shares: dict[str, float] = {}
    for k, (step, choices) in enumerate(levels.items()):
        part = 0.0
        for choice in choices:
            here = np.array([each[k] == choice for each in wanted])
            value = float(numbers[here].mean())
            within = Interval(why=why)
            if drawn is not None:
                moved = drawn[here].mean(axis=0) - drawn.mean(axis=0)
                within = interval(type(replicates[0])(moved, units))
            effects.append(Effect(step, choice, value, value - whole, within))
            part += int(here.sum()) * (value - whole) ** 2
        shares[step] = part / spread if spread else 0.0
    rest = 1 - math.fsum(shares.values()) if spread else 0.0
    return tuple(effects), shares, max(rest, 0.0)
