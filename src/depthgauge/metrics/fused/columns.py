"""What is summed: terms, or terms times weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from depthgauge.errors import BadDeclaration
from depthgauge.metrics.terms import Recipe, Term, WeightFunction
from depthgauge.types import Map


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A weight for every pixel; equal only to itself."""

    name: str
    values: Map


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term times the weights; or only the weights, of pixels with or without an estimate."""

    weights: Weights
    term: Term | None = None
    missing: bool = False


Column: TypeAlias = Term | WeightedTerm
"""What is summed: a number for each atom."""


def columns_of(
    recipe: Recipe,
    needs: Mapping[str, Any],
    known: dict[str | WeightFunction, Weights] | None = None,
) -> tuple[Column, ...]:
    """What a recipe sums: its terms, then, with weights, the sums of present and missing weights.

    Args:
        recipe: The recipe.
        needs: What its metric needs, by name.
        known: Weights that were computed before and are reused; new ones are added.
    """
    if recipe.weight is None:
        return recipe.terms
    known = {} if known is None else known
    if recipe.weight not in known:
        known[recipe.weight] = _weights(recipe.weight, needs)
    weights = known[recipe.weight]
    terms = (WeightedTerm(weights, term) for term in recipe.terms)
    return (*terms, WeightedTerm(weights), WeightedTerm(weights, missing=True))


def _weights(weight: str | WeightFunction, needs: Mapping[str, Any]) -> Weights:
    if not isinstance(weight, str):
        return Weights(getattr(weight, "__name__", "weight"), plain(weight(**needs)))
    if weight not in needs:
        raise BadDeclaration(f"the weight '{weight}' of a recipe is not among its metric's needs.")
    return Weights(weight, plain(needs[weight]))


def plain(values: Map) -> Map:
    """As contiguous float32 that can be written."""
    values = np.ascontiguousarray(values, np.float32)
    # For a read-only array, numba would compile every kernel a second time.
    return values if values.flags.writeable else values.copy()
