"""Messages about keys that do not fit the schema, and the benchmark without those keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from depthgauge._registry import nearest
from depthgauge.benchmarks.schema import (
    NO_DATASET,
    Align,
    Axis,
    BenchmarkFile,
    EstimateRange,
    TruthRange,
)
from depthgauge.errors import Problem

_TABLES: dict[str, type[BaseModel]] = {
    "align": Align,
    "truth": TruthRange,
    "estimate": EstimateRange,
    "axes": Axis,
}
_WHOLE = {
    "estimate.clip": "[low, high], two finite numbers",
    "estimate.range": "'inputs', 'none' or [low, high], two finite numbers",
    "crop": "a whole number of pixels, or a box such as 'garg' or '45:471,41:601'",
    "truth_size": "[width, height], two whole numbers of pixels",
    "scores.region": "a region or a list of regions",
}
"""Values that are shown as a whole, because messages about their parts would not help."""
_WANTED = {"scores": "a list of tables: [[scores]]", "id": "lower-case letters, digits and '-'"}
_WANTED_TYPE = {
    "model_type": "a table",
    "dict_type": "a table",
    "tuple_type": "a list",
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
}
_STAND_INS = {
    "id": "x",
    "version": 1,
    "dataset": NO_DATASET,
    "quantity": "disparity",
    "pool": "image",
}
_LONGEST = 60


def schema_problems(raw: Mapping[str, Any], error: ValidationError) -> list[Problem]:
    """One problem for each place that does not fit."""
    problems: dict[str, Problem] = {}
    for found in error.errors(include_url=False):
        problem = _problem(raw, found)
        problems.setdefault(problem.where, problem)
    return list(problems.values())


def without_misfits(
    raw: Mapping[str, Any], error: ValidationError
) -> tuple[BenchmarkFile, set[str]]:
    """The keys that fit, so that they can be checked too, and the keys that are only stand-ins."""
    rest = {**_STAND_INS, **raw}
    broken: set[str] = set()
    for found in error.errors(include_url=False):
        key, *inside = found["loc"]
        if key == "scores" and inside:
            rest["scores"] = _without(rest["scores"], *inside[:2])
            continue
        broken.add(str(key))
        rest.pop(str(key), None)
    return BenchmarkFile.model_validate({**_STAND_INS, **rest}), broken


def _without(blocks: list[Any], index: Any, key: Any = None) -> list[Any]:
    """The score blocks without one key; a wrong metric is replaced by a name that no metric has."""
    block = blocks[index] if key is not None else {}
    kept = {"metric": "", **{k: v for k, v in block.items() if k != key}}
    return [kept if i == index else other for i, other in enumerate(blocks)]


def _problem(raw: Mapping[str, Any], found: Any) -> Problem:
    where, key, value = _place(raw, found["loc"])
    if found["type"] == "extra_forbidden":
        return Problem(where, "is not a key", nearest(str(found["loc"][-1]), _known(found["loc"])))
    if found["type"] == "value_error":
        return Problem(where, found["msg"].removeprefix("Value error, ").rstrip("."))
    if found["type"] == "missing" and key not in _WHOLE:
        return Problem(where, "is missing")
    wanted = _WHOLE.get(key) or _WANTED.get(where) or _WANTED_TYPE.get(found["type"])
    wanted = wanted or found["msg"].removeprefix("Input should be ")
    hint = nearest(value, re.findall(r"'(\w+)'", wanted)) if isinstance(value, str) else ""
    return Problem(where, f"is {shown(value)} but must be {wanted}", hint)


def _place(raw: Mapping[str, Any], loc: tuple[Any, ...]) -> tuple[str, str, Any]:
    """The place in the file, the same without indices, and the value there."""
    where, key = "", ""
    value: Any = raw
    for part in loc:
        if key in _WHOLE:
            break
        if isinstance(part, int):
            where += f"[{part}]"
        else:
            where, key = (f"{path}.{part}" if path else part for path in (where, key))
        if isinstance(value, (list, tuple)) or (isinstance(value, Mapping) and part in value):
            value = value[part]
    return where, key, value


def shown(value: Any) -> str:
    """A value as it would be written in a file, shortened.

    >>> shown(True), shown("a"), shown([1, "b"])
    ('true', "'a'", "[1, 'b']")
    """
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _known(loc: tuple[Any, ...]) -> Iterator[str]:
    table = _TABLES.get(str(loc[0]), BenchmarkFile) if len(loc) > 1 else BenchmarkFile
    return iter(table.model_fields)
