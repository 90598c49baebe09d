"""Sums over the pixels for any number of regions and terms at once: the fused pass.

Regions come as one packed plane; the kernel sums each of its atoms once, and a region is a sum of
atoms. A single metric on a single region goes through the same kernel.

Terms that the kernel does not know (a recipe's own functions, and everything with weights) are
computed tile by tile into a buffer, which the kernel sums with the rest. So it is compiled once,
and the number of threads changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData, BadDeclaration, WrongShape
from depthgauge.metrics.terms import (
    ABS,
    SMALLEST,
    ErrorKind,
    ErrorName,
    Order,
    Recipe,
    Term,
    WeightFunction,
)
from depthgauge.types import Map, Mask, Plane, State, is_known

LARGEST = float(np.finfo(np.float32).max)


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
        return Weights(getattr(weight, "__name__", "weight"), _plain(weight(**needs)))
    if weight not in needs:
        raise BadDeclaration(f"the weight '{weight}' of a recipe is not among its metric's needs.")
    return Weights(weight, _plain(needs[weight]))


@dataclass(frozen=True, slots=True)
class Moments:
    """Counts and sums of every atom of a plane."""

    plane: Plane
    terms: tuple[Column, ...]
    counts: NDArray[np.int64]
    missing: NDArray[np.int64]
    sums: NDArray[np.float64]

    def state(self, region: str, terms: tuple[Column, ...]) -> State:
        """The sums of some of the terms in one region."""
        inside = self.plane.members(region)
        # fsum is exact, so the order of atoms, which follows that of the regions, does not matter.
        sums = [_exact_sum(self.sums[inside, self.terms.index(term)]) for term in terms]
        return State(
            int(self.counts[inside].sum()), int(self.missing[inside].sum()), np.array(sums)
        )


def _exact_sum(values: NDArray[np.float64]) -> float:
    """The exact sum; infinite or NaN if a value is, which fsum may reject."""
    if np.isfinite(values).all():
        return math.fsum(values)
    with np.errstate(invalid="ignore"):
        return float(values.sum())


def measure_moments(
    estimate: Map,
    truth: Map,
    plane: Plane,
    terms: tuple[Column, ...],
    *,
    low: float = -LARGEST,
    high: float = LARGEST,
    error: ErrorName | None = None,
) -> Moments:
    """Sums every term over every atom in one pass; estimates outside low..high are missing.

    `error` says how two pixels are compared. By default, one channel is a number, two are
    a vector and three a direction.
    """
    from depthgauge.metrics.kernels import moments as _kernels

    estimate, truth = same_size(estimate, truth)
    if plane.codes.shape != truth.shape[:2]:
        raise WrongShape(
            f"the regions are {_size(plane.codes)} but the maps are {_size(truth)}; "
            "make the masks at the truth's size."
        )
    columns = tuple(dict.fromkeys(terms))
    for column in columns:
        if isinstance(column, WeightedTerm) and column.weights.values.shape != truth.shape[:2]:
            raise WrongShape(
                f"the weights '{column.weights.name}' are {_size(column.weights.values)} but the "
                f"maps are {_size(truth)}; make them at the truth's size."
            )
    direct = [c for c in columns if isinstance(c, Term) and c.function is None]
    given = [c for c in columns if c not in direct]
    kinds = np.array([term.kind for term in direct], np.int64)
    counted = np.flatnonzero(kinds == _kernels.OVER)
    pixels = _Pixels(
        estimate.reshape(-1),
        truth.reshape(-1),
        np.ascontiguousarray(plane.codes).ravel(),
        plane.lookup,
        0 if plane.atoms.size and plane.atoms[0] == 0 else -1,
        np.float32(low),
        np.float32(high),
        channels_of(truth),
        error_kind(truth, error),
    )
    n_atoms, tiles = plane.atoms.size, -(-pixels.codes.size // _kernels.TILE)
    counts = np.zeros((tiles, n_atoms), np.int64)
    missing = np.zeros((tiles, n_atoms), np.int64)
    sums = np.zeros((tiles, n_atoms, len(columns)))
    over = np.zeros((tiles, n_atoms, -(-counted.size // 4) * 4), np.int64)
    maps = (pixels.estimate, pixels.truth, pixels.codes, pixels.lookup, pixels.empty_atom)
    params = np.array([(*term.params, 0.0, 0.0)[:2] for term in direct], np.float64).reshape(-1, 2)
    limits = (pixels.low, pixels.high, pixels.channels, int(pixels.error_kind))
    found = (counts, missing, sums, over)
    if not given:
        _kernels.moments(*maps, kinds, params, *limits, *found)
    for t in range(tiles) if given else ():
        values = _given_values(pixels, given, t)
        _kernels.sum_tile(t, *maps, kinds, params, *limits, values, *found)
    all_sums = _add_tiles(sums)
    all_sums[:, counted] = _add_tiles(over)[:, : counted.size]
    return Moments(plane, (*direct, *given), _add_tiles(counts), _add_tiles(missing), all_sums)


def _add_tiles(tiles: NDArray[Any]) -> NDArray[Any]:
    """The sum of the tiles in their order; NumPy's `sum` may use another one."""
    total = np.zeros(tiles.shape[1:], tiles.dtype)
    for tile in tiles:
        total += tile
    return total


@dataclass(frozen=True, slots=True)
class _Pixels:
    """Two maps and their regions, flattened for the kernels."""

    estimate: Map
    truth: Map
    codes: NDArray[np.unsignedinteger[Any]]
    lookup: NDArray[np.int32]
    empty_atom: int
    low: np.float32
    high: np.float32
    channels: int
    error_kind: ErrorKind


def _given_values(pixels: _Pixels, given: list[Column], t: int) -> NDArray[np.float64]:
    """The values of one tile that the kernel cannot compute: (columns, pixels)."""
    from depthgauge.metrics.kernels.moments import TILE

    tile = _Tile.of(pixels, t * TILE, min((t + 1) * TILE, pixels.codes.size))
    values = np.zeros((len(given), tile.error.size))
    for row, column in zip(values, given, strict=True):
        row[tile.inside(column)] = tile.values(column)
    return values


Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Tile:
    """The pixels of one tile, their errors, and the places of those in a region."""

    place: slice
    estimate: Map
    truth: Map
    error: Map
    other: Map
    present: Places
    """Places of the pixels with an estimate."""
    absent: Places
    """Places of the pixels without."""
    is_number: bool

    @classmethod
    def of(cls, pixels: _Pixels, start: int, stop: int) -> _Tile:
        from depthgauge.metrics.kernels import moments as _kernels

        n, channels = stop - start, pixels.channels
        estimate = pixels.estimate[start * channels : stop * channels]
        truth = pixels.truth[start * channels : stop * channels]
        error, other = np.zeros((2, n), np.float32)
        known = np.zeros(n, np.bool_)
        limits = (pixels.low, pixels.high, channels, int(pixels.error_kind))
        _kernels.fill(estimate, truth, *limits, True, error, other, known)
        here, gone = np.zeros((2, n), np.int64)
        regions = (pixels.codes[start:stop], pixels.lookup, pixels.empty_atom)
        n_here, n_gone = _kernels.find_inside(*regions, known, here, gone)
        shape = (n,) if channels == 1 else (n, channels)
        return cls(
            slice(start, stop),
            estimate.reshape(shape),
            truth.reshape(shape),
            error,
            other,
            here[:n_here],
            gone[:n_gone],
            pixels.error_kind == ErrorKind.DIFFERENCE,
        )

    def inside(self, column: Column) -> Places:
        """The places of the pixels for which a column has values."""
        return self.absent if isinstance(column, WeightedTerm) and column.missing else self.present

    def values(self, column: Column) -> NDArray[Any]:
        """The values of a column at these places."""
        if isinstance(column, Term):
            return self._term(column)
        weights = column.weights.values.reshape(-1)[self.place].take(self.inside(column))
        # The minimum is NaN if any value is.
        if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):
            raise BadData(
                f"the weights '{column.weights.name}' are negative or missing at some pixels of a "
                "region; give each of them a weight, 0 where it does not count."
            )
        return weights if column.term is None else weights * self._term(column.term)

    def _term(self, term: Term) -> NDArray[Any]:
        n = self.present.size
        error = self.error.take(self.present)
        if term.function is None:
            from depthgauge.metrics.kernels.moments import term_values

            found = np.zeros(n)
            other = self.other.take(self.present)
            truth = self.truth.take(self.present) if self.is_number else other
            term_values(int(term.kind), *(*term.params, 0.0, 0.0)[:2], error, other, truth, found)
            return found
        maps = (values.take(self.present, axis=0) for values in (self.estimate, self.truth))
        found = np.asarray(term.function(error, *maps, *term.params))
        if found.shape != (n,):
            raise BadDeclaration(
                f"term '{term.name}' gave {_size(found) or 'one number'} for {n} pixels; it must "
                "give one number per pixel."
            )
        if n and np.isnan(found.min()):
            raise BadDeclaration(
                f"term '{term.name}' gave NaN at {np.count_nonzero(np.isnan(found))} pixels that "
                "have an estimate; it must give a number at each of them."
            )
        return found


def error_kind(truth: Map, name: ErrorName | None) -> ErrorKind:
    """How two pixels are compared: by name or, without one, by the number of channels.

    Raises:
        WrongShape: Maps with that number of channels cannot be compared in this way.
    """
    channels = channels_of(truth)
    if name is None and channels not in (1, 2, 3):
        raise WrongShape(
            f"the maps have {channels} channels; flow has 2, normals have 3, other maps have 1."
        )
    if name is None:
        return (ErrorKind.DIFFERENCE, ErrorKind.LENGTH, ErrorKind.ANGLE)[channels - 1]
    kind = ErrorKind[name.upper()]
    wanted = {ErrorKind.DIFFERENCE: 1, ErrorKind.ANGLE: 3}.get(kind, channels)
    if channels != wanted:
        raise WrongShape(
            f"the maps have {channels} channel(s) but an error that is "
            f"{'an angle' if wanted == 3 else 'a difference'} needs {wanted}."
        )
    return kind


def measure_recipe(
    recipe: Recipe,
    estimate: Map,
    truth: Map,
    region: Mask | None,
    needs: Mapping[str, Any] | None = None,
    *,
    error: ErrorName | None = None,
) -> State:
    """The state of one recipe on one region (the whole map if none is given)."""
    estimate, truth = same_size(estimate, truth)
    low = SMALLEST if any(term.positive for term in recipe.terms) else -LARGEST
    plane = single_region(region, truth)
    columns = columns_of(recipe, needs or {})
    moments = measure_moments(estimate, truth, plane, columns, low=low, error=error)
    return moments.state("region", columns)


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


def map_recipe(
    recipe: Recipe | Order, estimate: Map, truth: Map, *, error: ErrorName | None = None
) -> Map:
    """The recipe's shown term at every pixel, times its factor; NaN where either is missing.

    It shows the errors without weights.
    """
    estimate, truth = same_size(estimate, truth)
    if isinstance(recipe, Recipe) and recipe.from_counts:
        return _presence(estimate, truth)
    values = _term_map(_shown(recipe), estimate, truth, error)
    if isinstance(recipe, Recipe) and recipe.flipped:
        values = np.float32(1) - values
    if isinstance(recipe, Recipe) and recipe.factor is not None:
        values *= np.float32(recipe.factor)
    return np.asarray(values, np.float32)


def _term_map(term: Term, estimate: Map, truth: Map, error: ErrorName | None) -> Map:
    from depthgauge.metrics.kernels import moments as _kernels

    values = np.full(truth.shape[:2], np.nan, np.float32)
    low = np.float32(SMALLEST if term.positive else -LARGEST)
    channels, kind = channels_of(truth), error_kind(truth, error)
    maps = estimate.reshape(-1), truth.reshape(-1)
    if term.function is None:
        params = (*term.params, 0.0, 0.0)[:2]
        out = values.reshape(-1)
        _kernels.term_map(*maps, int(term.kind), *params, low, channels, int(kind), out)
        return values
    known = is_known(truth).view(np.uint8).reshape(-1)
    lookup, flat = np.arange(2, dtype=np.int32), values.reshape(-1)
    pixels = _Pixels(*maps, known, lookup, 0, low, np.float32(LARGEST), channels, kind)
    for start in range(0, flat.size, _kernels.TILE):
        tile = _Tile.of(pixels, start, min(start + _kernels.TILE, flat.size))
        flat[tile.place][tile.present] = tile.values(term)
    return values


def _presence(estimate: Map, truth: Map) -> Map:
    """100 where there is an estimate, 0 where there is none, NaN where there is no truth."""
    here = np.float32(100) * is_known(estimate)
    return np.where(is_known(truth), here, np.float32(np.nan)).astype(np.float32)


def _shown(recipe: Recipe | Order) -> Term:
    if isinstance(recipe, Order):
        return ABS
    return recipe.shown or (recipe.terms[0] if recipe.terms else ABS)


def same_size(estimate: Map, truth: Map) -> tuple[Map, Map]:
    """Both as contiguous float32 of the same shape, or an error that says what to do."""
    estimate, truth = _plain(estimate), _plain(truth)
    if estimate.shape != truth.shape or truth.ndim not in (2, 3):
        raise WrongShape(
            f"the estimate is {_size(estimate)} but the truth is {_size(truth)}; "
            "resize the estimate to the truth's size first (`estimate_resize` in a benchmark does)."
        )
    return estimate, truth


def channels_of(values: Map) -> int:
    """The number of values per pixel."""
    return 1 if values.ndim == 2 else int(values.shape[2])


def _plain(values: Map) -> Map:
    values = np.ascontiguousarray(values, np.float32)
    # For a read-only array, numba would compile every kernel a second time.
    return values if values.flags.writeable else values.copy()


def _size(values: np.ndarray) -> str:
    return "x".join(str(n) for n in values.shape)
