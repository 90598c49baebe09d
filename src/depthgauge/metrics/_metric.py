"""The contract of a metric: its declaration, and its two steps `measure` and `finish`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from depthgauge._declared import (
    choice_problems,
    name_problems,
    names_problems,
    refuse,
    revision_problems,
    text_problems,
)
from depthgauge._registry import Registry
from depthgauge.errors import BadScoreId, Misuse
from depthgauge.metrics._declaration import (
    bounds_problems,
    function_problems,
    params_of,
    unit_problems,
)
from depthgauge.metrics._taxonomy import CATEGORIES
from depthgauge.metrics.terms import ErrorName, Order, Recipe
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

Missing = Literal["bad", "skip", "interpolate", "good"]
"""What a missing estimate costs. `interpolate` fills before measuring, `good` is for twins only."""
Pool = Literal["pixel", "image", "scene", "median"]
Level = Literal["sample", "dataset"]
"""Whether one sample has a value, or only all of a dataset together (ODS, AP, AUC)."""
ALL_POOLS: tuple[Pool, ...] = ("pixel", "image", "scene", "median")


@dataclass(frozen=True)
class Metric:
    """Everything that a table, a leaderboard or a person needs to know about a metric."""

    name: str
    unit: Unit
    better: Literal["lower", "higher", "zero"]
    bounds: tuple[float, float]
    of: tuple[str, ...]
    """Quantities that it can score."""
    cite: str
    formula: str
    revision: int
    """Raised whenever a change in the code may change a value."""
    pools: tuple[Pool, ...]
    needs: tuple[str, ...]
    """What else it takes, by keyword: items of the sample, or shared maps."""
    params: Mapping[str, Any]
    """Parameters in declared order with their defaults."""
    doc: str
    measure_with: Callable[..., State] | None = None
    finish_with: Callable[..., float] | None = None
    recipe_with: Callable[..., Recipe | Order] | None = None
    error_map_with: Callable[..., Map] | None = None
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Allowed values of parameters that are words."""
    uses_truth: bool = True
    """False if it judges an estimate without a truth."""
    missing_costs: str = ""
    """What happens to a missing pixel, in words, if the bounds do not say it."""
    level: Level = "sample"
    """`dataset`: only all samples together have a value."""
    of_errors: tuple[ErrorName, ...] = ()
    """Other quantities can be scored too if their pixels are compared in one of these ways."""
    endless: tuple[str, ...] = ()
    """Parameters that may be infinite."""
    category: str = ""
    """Its place in the table of contents: a name in `_taxonomy.CATEGORIES`."""

    def can_score(self, quantity: str) -> bool:
        """Whether it can score estimates of that quantity."""
        return quantity in self.of or (
            quantity in QUANTITIES and QUANTITIES[quantity].error in self.of_errors
        )

    @property
    def worst(self) -> float:
        """The worst bound; infinite if there is none."""
        low, high = self.bounds
        if self.better == "zero":
            return math.inf if math.isinf(high) else max(abs(low), abs(high))
        return high if self.better == "lower" else low

    def unit_of(self, quantity: str, params: Mapping[str, Any]) -> str:
        """The unit of a score: a mean times 100 is in hundredths."""
        unit, factor = self.unit.of(quantity), params.get("factor", 1)
        return f"{1 / factor:g} {unit}" if factor not in (0, 1) else unit

    def bind(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters with defaults filled in and types checked."""
        for name in params:
            if name not in self.params:
                known = ", ".join(self.params) or "none"
                raise BadScoreId(f"{self.name} has no parameter '{name}'; it has: {known}.")
        bound = {
            name: self._checked(name, params.get(name, default))
            for name, default in self.params.items()
        }
        self.recipe(**bound)  # rejects what only the metric itself can check
        return bound

    def _checked(self, name: str, value: Any) -> Any:
        default = self.params[name]
        if value is inspect.Parameter.empty:
            raise BadScoreId(f"{self.name} needs its {name}: {self.name}:<{name}>.")
        if isinstance(default, str):
            if value not in self.choices.get(name, (value,)):
                allowed = ", ".join(self.choices[name])
                raise BadScoreId(f"{self.name}: {name} is '{value}' but must be one of {allowed}.")
            return value
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            raise BadScoreId(f"{self.name}: {name} is '{value}' but must be a number.") from None
        if number == math.inf and name in self.endless:
            return number
        if not math.isfinite(number) or number < 0:
            raise BadScoreId(f"{self.name}: {name} is {value} but must be finite and not negative.")
        if not isinstance(default, int):
            return number
        if not number.is_integer():
            raise BadScoreId(f"{self.name}: {name} is {value} but must be a whole number.")
        return int(number)

    def recipe(self, **params: Any) -> Recipe | Order | None:
        """The sums or order statistic that it is made of; None if it has its own `measure`."""
        return None if self.recipe_with is None else _recipe(self.recipe_with, *params.items())

    def _own(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters among the keywords of `measure`; the others are its needs."""
        return {name: value for name, value in given.items() if name not in self.needs}

    def measure(
        self,
        estimate: Map,
        truth: Map,
        region: Mask | None = None,
        /,
        *,
        error: ErrorName | None = None,
        **params: Any,
    ) -> State:
        """The state of one region; the whole map if no region is given.

        `error` says how two pixels are compared; if it is None, the number of channels decides.
        """
        recipe = self.recipe(**self._own(params))
        if isinstance(recipe, Order):
            from depthgauge.metrics.moments import same_size, single_region
            from depthgauge.metrics.order import sorted_errors

            estimate, truth = same_size(estimate, truth)
            plane = single_region(region, truth)
            return sorted_errors(estimate, truth, plane, "region", error=error)
        if recipe is not None:
            from depthgauge.metrics.moments import measure_recipe

            needs = {name: params[name] for name in self.needs}
            return measure_recipe(recipe, estimate, truth, region, needs, error=error)
        if self.measure_with is None:
            raise Misuse(f"{self.name} cannot be measured by itself.")
        return self.measure_with(estimate, truth, region, **params)

    def finish(self, state: State, missing: Missing = "bad", **params: Any) -> float:
        """The number; NaN if the region is empty or nothing is estimated."""
        if self.recipe_with is not None:
            return finish_recipe(_recipe(self.recipe_with, *params.items()), state, missing)
        if self.finish_with is None:
            raise Misuse(f"{self.name} has no value for a single state.")
        return float(self.finish_with(state, missing=missing, **params))

    def error_map(
        self, estimate: Map, truth: Map, /, *, error: ErrorName | None = None, **params: Any
    ) -> Map:
        """One value per pixel, in the metric's unit, for a picture; NaN where nothing is judged.

        The metric's needs are given by keyword beside its parameters, as for `measure`.
        """
        if self.recipe_with is not None:
            from depthgauge.metrics.moments import map_recipe

            recipe = self.recipe_with(**self._own(params))
            return map_recipe(recipe, estimate, truth, error=error)
        if self.error_map_with is None:
            raise Misuse(f"{self.name} has no error map.")
        return self.error_map_with(estimate, truth, **params)


@lru_cache(maxsize=1024, typed=True)
def _recipe(recipe_with: Callable[..., Recipe | Order], *params: tuple[str, Any]) -> Recipe | Order:
    """The recipe with these parameters, made once."""
    return recipe_with(**dict(params))


def finish_recipe(recipe: Recipe | Order, state: State, missing: Missing) -> float:
    """The recipe's number from a state; missing pixels cost what the protocol says."""
    if isinstance(recipe, Order):
        return _finish_order(recipe, state)
    return value_and_total(recipe, state, missing)[0]


def value_and_total(recipe: Recipe, state: State, missing: Missing) -> tuple[float, float | None]:
    """The recipe's number, and its numerator if it is a ratio of numbers of pixels."""
    n, sums = _with_missing(recipe, state, missing)
    is_ratio = recipe.factor is not None and recipe.weight is None
    if recipe.from_counts:
        filled = n + state.missing
        value = recipe.combine(state.count, state.missing) if filled else math.nan
        counted = state.missing if recipe.flipped else state.count
        return value, float(counted) if is_ratio else None
    value = float(recipe.combine(*[total / n for total in sums])) if n else math.nan
    return value, (n - sums[0] if recipe.flipped else sums[0]) if is_ratio else None


def _with_missing(recipe: Recipe, state: State, missing: Missing) -> tuple[float, list[float]]:
    """Number of pixels that count, and the sums including what missing pixels add.

    If pixels have weights, the weights are added instead of their number.
    """
    sums, present, absent = state.sums.tolist(), float(state.count), float(state.missing)
    if recipe.weight is not None:
        *sums, present, absent = sums
    # Pixels that could not be filled in are still missing.
    if absent and missing in ("bad", "interpolate"):
        worst = [term.worst for term in recipe.terms if term.worst is not None]
        if len(worst) == len(recipe.terms):
            added = [s + cost * absent for s, cost in zip(sums, worst, strict=True)]
            return present + absent, added
    return (present + absent if missing == "good" else present), sums


def _finish_order(order: Order, state: State) -> float:
    if state.values is None:
        raise Misuse("an order statistic needs the sorted errors of its region.")
    if not state.values.size:
        return math.nan
    n = state.values.size
    low, high, _ = order.indices(n)
    return order.between(float(state.values[low]), float(state.values[high]), n)


def total_of(metric: Metric, state: State, missing: Missing, **params: Any) -> float | None:
    """The numerator of the score; None if the score is not a ratio."""
    recipe = metric.recipe(**params)
    if not isinstance(recipe, Recipe) or recipe.factor is None or recipe.weight is not None:
        return None
    return value_and_total(recipe, state, missing)[1]


def _check_quantities(made: Metric) -> None:
    """Rejects a metric for quantities that do not exist."""
    problems = (p for name in made.of for p in choice_problems("of", name, QUANTITIES))
    place = made.measure_with or made.recipe_with
    refuse("metric", made.name, place, problems)


METRICS: Registry[Metric] = Registry(
    "metric",
    "depthgauge.metrics",
    check=_check_quantities,
    groups=(
        "confidence",
        "consistency",
        "correspondences",
        "edges",
        "monocular",
        "motion",
        "structure",
        "views",
    ),
)


def metric(
    name: str,
    *,
    unit: Unit,
    better: Literal["lower", "higher", "zero"],
    bounds: tuple[float, float],
    of: tuple[str, ...],
    cite: str,
    formula: str,
    revision: int = 1,
    pools: tuple[Pool, ...] = ALL_POOLS,
    needs: tuple[str, ...] = (),
    choices: Mapping[str, tuple[Any, ...]] | None = None,
    uses_truth: bool = True,
    missing_costs: str = "",
    level: Level = "sample",
    of_errors: tuple[ErrorName, ...] = (),
    endless: tuple[str, ...] = (),
    category: str = "",
) -> Callable[[Any], Any]:
    """Declares and registers a metric.

    On a function: a pixel metric. The function takes the parameters and returns a `Recipe` of
    sums. On a class: any metric. The class has `measure(estimate, truth, region, *, <needs>,
    <params>) -> State`, `finish(state, *, missing, <params>) -> float` and, if there is something
    to show, `error_map(estimate, truth, *, <needs>, <params>) -> Map`. Parameters that many steps
    share are a dataclass `parameters` of the class.

    Raises:
        BadDeclaration: The declaration is wrong; the message lists all mistakes and names the file.
    """

    def register(thing: Any) -> Any:
        problems = [
            *name_problems(name),
            *unit_problems(unit),
            *choice_problems("better", better, ("lower", "higher", "zero")),
            *bounds_problems(bounds),
            *names_problems("of", of),
            *names_problems("of_errors", of_errors),
            *names_problems("needs", needs),
            *names_problems("endless", endless),
            *names_problems("pools", pools),
            *choice_problems("category", category, CATEGORIES),
            *revision_problems(revision),
            *text_problems(cite=cite, formula=formula, doc=inspect.getdoc(thing)),
        ]
        if not problems:
            problems = list(function_problems(thing, needs, choices or {}))
        refuse("metric", name, getattr(thing, "measure", thing), problems)
        steps = hasattr(thing, "measure")
        params = params_of(thing, needs)
        made: dict[str, Any] = (
            {
                "measure_with": thing.measure,
                "finish_with": thing.finish,
                "error_map_with": getattr(thing, "error_map", None),
            }
            if steps
            else {"recipe_with": thing}
        )
        declared = Metric(
            name=name,
            unit=unit,
            better=better,
            bounds=bounds,
            of=of,
            cite=cite,
            formula=formula,
            revision=revision,
            pools=pools,
            needs=needs,
            params=params,
            doc=inspect.getdoc(thing) or "",
            choices=choices or {},
            uses_truth=uses_truth,
            missing_costs=missing_costs,
            level=level,
            of_errors=of_errors,
            endless=endless,
            category=category,
            **made,
        )
        METRICS.add(name, declared, thing.__module__)
        return thing

    return register
