"""Sums over the pixels for any number of regions and terms at once: the fused pass.

Regions come as one packed plane; the kernel sums each of its atoms once, and a region is a sum of
atoms. A single metric on a single region goes through the same kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.metrics.terms import ABS, SMALLEST, Order, Recipe, Term
from depthgauge.types import Map, Mask, Plane, State, is_known

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class Moments:
    """Counts and sums of every atom of a plane."""

    plane: Plane
    terms: tuple[Term, ...]
    counts: NDArray[np.int64]
    missing: NDArray[np.int64]
    sums: NDArray[np.float64]

    def state(self, region: str, terms: tuple[Term, ...]) -> State:
        """What some of the terms sum up to in one region."""
        inside = self.plane.members(region)
        # fsum is exact, so the order of atoms, which follows that of the regions, does not matter.
        sums = [_exact_sum(self.sums[inside, self.terms.index(term)]) for term in terms]
        return State(
            int(self.counts[inside].sum()), int(self.missing[inside].sum()), np.array(sums)
        )


def _exact_sum(values: NDArray[np.float64]) -> float:
    """The exact sum; infinite or NaN where a value is, which fsum may refuse."""
    if np.isfinite(values).all():
        return math.fsum(values)
    with np.errstate(invalid="ignore"):
        return float(values.sum())


def measure_moments(
    estimate: Map,
    truth: Map,
    plane: Plane,
    terms: tuple[Term, ...],
    *,
    low: float = -LARGEST,
    high: float = LARGEST,
) -> Moments:
    """Sums every term over every atom in one pass; estimates outside low..high are missing."""
    from depthgauge.metrics import _kernels

    estimate, truth = same_size(estimate, truth)
    if plane.codes.shape != truth.shape[:2]:
        raise WrongShape(
            f"the regions are {_size(plane.codes)} but the maps are {_size(truth)}; "
            "make the masks at the truth's size."
        )
    terms = tuple(dict.fromkeys(terms))
    counts = np.zeros(plane.atoms.size, np.int64)
    missing = np.zeros(plane.atoms.size, np.int64)
    sums = np.zeros((plane.atoms.size, len(terms)))
    _kernels.moments(
        estimate.ravel(),
        truth.ravel(),
        np.ascontiguousarray(plane.codes).ravel(),
        plane.lookup,
        0 if plane.atoms.size and plane.atoms[0] == 0 else -1,
        np.array([term.kind for term in terms], np.int64),
        np.array([(term.first, term.second) for term in terms], np.float64).reshape(-1, 2),
        np.float32(low),
        np.float32(high),
        channels_of(truth),
        counts,
        missing,
        sums,
    )
    return Moments(plane, terms, counts, missing, sums)


def measure_recipe(recipe: Recipe, estimate: Map, truth: Map, region: Mask | None) -> State:
    """The state of one recipe on one region (the whole map where none is given)."""
    estimate, truth = same_size(estimate, truth)
    low = SMALLEST if any(term.positive for term in recipe.terms) else -LARGEST
    plane = single_region(region, truth)
    moments = measure_moments(estimate, truth, plane, recipe.terms, low=low)
    return moments.state("region", recipe.terms)


def single_region(region: Mask | None, truth: Map) -> Plane:
    """The plane of one region; pixels without truth are not in it."""
    inside = is_known(truth)
    if region is not None:
        if region.shape != inside.shape:
            raise WrongShape(
                f"the region is {_size(region)} but the maps are {_size(truth)}; "
                "make the mask at the truth's size."
            )
        inside &= np.asarray(region, bool)
    return Plane(
        np.asarray(inside.view(np.uint8)),
        ("region",),
        np.array([0, 1], np.uint64),
        np.arange(256, dtype=np.int32) & 1,
    )


def map_recipe(recipe: Recipe | Order, estimate: Map, truth: Map) -> Map:
    """The recipe's shown term at every pixel, times its factor; NaN where either is missing."""
    from depthgauge.metrics import _kernels

    estimate, truth = same_size(estimate, truth)
    if isinstance(recipe, Recipe) and recipe.from_counts:
        return _presence(estimate, truth)
    term = _shown(recipe)
    values = np.full(truth.shape[:2], np.nan, np.float32)
    _kernels.term_map(
        estimate.ravel(),
        truth.ravel(),
        term.kind,
        term.first,
        term.second,
        np.float32(SMALLEST if term.positive else -LARGEST),
        channels_of(truth),
        values.reshape(-1),
    )
    if isinstance(recipe, Recipe) and recipe.flipped:
        values = np.float32(1) - values
    if isinstance(recipe, Recipe) and recipe.factor is not None:
        values *= np.float32(recipe.factor)
    return np.asarray(values, np.float32)


def _presence(estimate: Map, truth: Map) -> Map:
    """100 where there is an estimate, 0 where there is none, NaN where there is no truth."""
    here = np.float32(100) * is_known(estimate)
    return np.where(is_known(truth), here, np.float32(np.nan)).astype(np.float32)


def _shown(recipe: Recipe | Order) -> Term:
    if isinstance(recipe, Order):
        return ABS
    return recipe.shown or (recipe.terms[0] if recipe.terms else ABS)


def same_size(estimate: Map, truth: Map) -> tuple[Map, Map]:
    """Both as contiguous float32 of one shape, or an error that says what to do."""
    estimate, truth = _plain(estimate), _plain(truth)
    if estimate.shape != truth.shape or truth.ndim not in (2, 3):
        raise WrongShape(
            f"the estimate is {_size(estimate)} but the truth is {_size(truth)}; "
            "bring the estimate to the truth's size first (a benchmark's `estimate_resize` does)."
        )
    if truth.ndim == 3 and truth.shape[2] not in (2, 3):
        found = truth.shape[2]
        raise WrongShape(
            f"the maps have {found} channels; flow has 2, normals have 3, other maps have 1."
        )
    return estimate, truth


def channels_of(values: Map) -> int:
    """How many values a pixel has: 1, 2 for flow, 3 for normals."""
    return 1 if values.ndim == 2 else int(values.shape[2])


def _plain(values: Map) -> Map:
    values = np.ascontiguousarray(values, np.float32)
    # For an array that cannot be written, numba would compile every kernel a second time.
    return values if values.flags.writeable else values.copy()


def _size(values: np.ndarray) -> str:
    return "x".join(str(n) for n in values.shape)
