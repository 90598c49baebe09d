"""What may be wrong with the declaration of a metric, and its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from depthgauge._declared import keywords_of, signature_problems
from depthgauge.units import Unit


def params_of(thing: Any, needs: tuple[str, ...]) -> dict[str, Any]:
    """Parameters in declared order with their defaults."""
    shared = getattr(thing, "parameters", None)
    if isinstance(shared, type) and is_dataclass(shared):
        return {each.name: each.default for each in fields(shared)}
    source = getattr(thing, "measure", thing)
    return {
        p.name: p.default
        for p in inspect.signature(source).parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.name not in needs
    }


_UNITS = {"%": "PERCENT", "percent": "PERCENT", "": "RATIO", "deg": "DEGREE", "degrees": "DEGREE"}


def unit_problems(unit: object) -> Iterator[str]:
    """What is wrong with a unit."""
    if isinstance(unit, Unit):
        return
    fix = f"write Unit.{_UNITS.get(str(unit), 'QUANTITY')}"
    if str(unit) not in _UNITS:
        fix += ", the unit of the quantity itself (px, m)"
    yield f"unit is {unit!r} but must be a Unit; {fix}"


def bounds_problems(bounds: object) -> Iterator[str]:
    """What is wrong with the bounds of values."""
    try:
        low, high = (float(bound) for bound in cast(tuple[float, float], bounds))
    except (TypeError, ValueError):
        yield f"bounds are {bounds!r} but must be two numbers, such as (0, math.inf)"
        return
    if not low < high:
        yield f"bounds are {bounds!r} but the smaller one comes first"


def function_problems(
    thing: Any, needs: tuple[str, ...], choices: Mapping[str, Any]
) -> Iterator[str]:
    """What is wrong with the function, or with the steps of the class."""
    if not hasattr(thing, "measure"):
        if inspect.isclass(thing):
            yield "the class has no measure(estimate, truth, region, *, ...)"
            return
        yield from signature_problems(thing, 0)
        params, _ = keywords_of(thing)
        wrong = sorted(params & set(needs))
        yield from (f"a recipe takes parameters only, but {n} is among its needs" for n in wrong)
    else:
        yield from _step_problems(thing, needs)
        params = set(params_of(thing, needs))
    yield from (f"choices has {n}, which is not a parameter" for n in sorted(set(choices) - params))
    if "error" in params:
        yield "a parameter cannot be called error, which says how pixels are compared"


def _step_problems(thing: Any, needs: tuple[str, ...]) -> Iterator[str]:
    yield from signature_problems(thing.measure, 3, "measure")
    keywords, open_ = keywords_of(thing.measure)
    if not open_:
        lost = sorted(set(needs) - keywords)
        yield from (f"it needs {name} but measure takes no keyword {name}" for name in lost)
    if not hasattr(thing, "finish"):
        yield "the class has no finish(state, *, missing, ...)"
        return
    yield from signature_problems(thing.finish, 1, "finish")
    taken, open_ = keywords_of(thing.finish)
    lost = sorted({"missing", *keywords} - {*taken, *needs}) if not open_ else []
    for name in lost:
        yield f"finish takes no keyword {name}; it takes missing and what measure takes"
    if hasattr(thing, "error_map"):
        yield from signature_problems(thing.error_map, 2, "error_map")
