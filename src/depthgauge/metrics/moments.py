"""Sums over the pixels for any number of regions and terms at once: the fused pass.

Regions come as one packed plane; the kernel sums each of its atoms once, and a region is a sum of
atoms. A single metric on a single region goes through the same kernel.

What the kernel does not know (see `tiles.py`) is written down tile by tile and summed in the same
order. So it is compiled once, and the number of threads changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import in_bands
from depthgauge.errors import WrongShape
from depthgauge.metrics.fused.columns import Column, WeightedTerm, columns_of, plain
from depthgauge.metrics.fused.runs import Runs
from depthgauge.metrics.fused.tiles import Pixels, Tile
from depthgauge.metrics.kernels import TILE
from depthgauge.metrics.terms import (
    ABS,
    LARGEST,
    SMALLEST,
    ErrorKind,
    ErrorName,
    Kind,
    Order,
    Recipe,
    Term,
)
from depthgauge.types import Map, Mask, Plane, State, is_known

_DIRECT = {kind.name.lower() for kind in Kind if kind <= Kind.OVER_BOTH}
"""Terms that the fused kernel computes itself, from the error and the truth."""
_WRITTEN_NS, _SORTED_NS = 4, 4
"""About how long a pixel takes whose terms are written down, for each term, or that is sorted."""
_INFINITE = np.float32(np.inf)


@dataclass(frozen=True, slots=True)
class Moments:
    """Counts and sums of every atom of a plane."""

    plane: Plane
    terms: tuple[Column, ...]
    counts: NDArray[np.int64]
    missing: NDArray[np.int64]
    sums: NDArray[np.float64]
    _regions: dict[str, _Region] = field(default_factory=dict)

    def state(self, region: str, terms: tuple[Column, ...]) -> State:
        """The sums of some of the terms in one region."""
        if region not in self._regions:
            atoms = np.flatnonzero(self.plane.members(region))
            count, missing = int(self.counts[atoms].sum()), int(self.missing[atoms].sum())
            self._regions[region] = _Region(count, missing, self.sums[atoms].T.tolist())
        found = self._regions[region]
        # fsum is exact, so the order of atoms, which follows that of the regions, does not matter.
        sums = [_exact_sum(found.sums[self.terms.index(term)]) for term in terms]
        return State(found.count, found.missing, np.array(sums))


@dataclass(frozen=True, slots=True)
class _Region:
    """Counts of one region, and the sums of its atoms, term by term."""

    count: int
    missing: int
    sums: list[list[float]]


def _exact_sum(values: list[float]) -> float:
    """The exact sum; infinite or NaN if a value is, which fsum may reject."""
    if all(map(math.isfinite, values)):
        return math.fsum(values)
    with np.errstate(invalid="ignore"):
        return float(np.sum(values))


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
    pixels = Pixels(
        estimate.reshape(-1),
        truth.reshape(-1),
        np.ascontiguousarray(plane.codes).reshape(-1),
        plane.lookup,
        0 if plane.atoms.size and plane.atoms[0] == 0 else -1,
        np.float32(low),
        np.float32(high),
        channels_of(truth),
        error_kind(truth, error),
    )
    found = _Sums(pixels, plane.atoms.size, columns)
    found.add()
    counts, missing = _add_tiles(found.counts), _add_tiles(found.missing)
    return Moments(plane, found.columns, counts, missing, found.sums)


@dataclass(frozen=True, slots=True)
class _Direct:
    """The terms that the kernel sums itself, as it takes them."""

    terms: tuple[Column, ...]
    kinds: NDArray[np.int64]
    params: NDArray[np.float64]


@lru_cache(maxsize=64)
def _direct(terms: tuple[Any, ...]) -> _Direct:
    params = [(*term.params, 0.0, 0.0)[:2] for term in terms]
    kinds = np.array([term.kind for term in terms], np.int64)
    return _Direct(terms, kinds, np.array(params, np.float64).reshape(-1, 2))


def _split(columns: tuple[Column, ...]) -> tuple[_Direct, tuple[Column, ...]]:
    """What the kernel sums itself, and what is computed row by row before it is summed."""
    own = [isinstance(c, Term) and c.name in _DIRECT and c.function is None for c in columns]
    direct = _direct(tuple(compress(columns, own)))
    return direct, tuple(c for c, known in zip(columns, own, strict=True) if not known)


class _Sums:
    """What each tile adds up to."""

    def __init__(self, pixels: Pixels, n_atoms: int, columns: tuple[Column, ...]) -> None:
        self._pixels = pixels
        self._direct, self._rows = _split(columns)
        self.columns = (*self._direct.terms, *self._rows)
        self._runs = Runs(pixels.codes, pixels.lookup, pixels.empty_atom, n_atoms)
        self._tiles = tiles = -(-pixels.codes.size // TILE)
        self.counts = np.zeros((tiles, n_atoms), np.int64)
        self.missing = np.zeros((tiles, n_atoms), np.int64)
        self._sums = np.zeros((tiles, n_atoms, len(self._direct.terms)))
        self._row_sums = np.zeros((tiles, n_atoms, len(self._rows)))

    @property
    def sums(self) -> NDArray[np.float64]:
        """(atoms, columns)."""
        if not self._rows:
            return _add_tiles(self._sums)
        return np.concatenate([_add_tiles(self._sums), _add_tiles(self._row_sums)], axis=1)

    def add(self) -> None:
        """Adds up all tiles."""
        pixels, size = self._pixels, self._pixels.codes.size
        if pixels.is_number:
            maps, limits = (pixels.estimate, pixels.truth, pixels.truth), (pixels.low, pixels.high)
            self._add_numbers(maps, limits, self._runs.smooth, slice(None))
            if rough := self._runs.rough:
                work = _SORTED_NS * size // self._tiles * len(rough)
                in_bands(lambda: partial(self._add_rough, rough), len(rough), work)
        if not pixels.is_number or self._rows:
            work = _WRITTEN_NS * size * (1 + len(self._rows))
            # The functions of others may not be made for several threads.
            own = all(isinstance(row, Term) and row.function is None for row in self._rows)
            in_bands(lambda: self._add_written, self._tiles, work if own else 0)

    def _add_rough(self, tiles: list[int], begin: int, end: int) -> None:
        """Adds up tiles whose pixels must be sorted."""
        pixels = self._pixels
        for t in tiles[begin:end]:
            runs, at = self._runs.of_tile(t), slice(t * TILE, (t + 1) * TILE)
            estimate, truth = runs.ordered(pixels.estimate[at]), runs.ordered(pixels.truth[at])
            limits = (pixels.low, pixels.high)
            self._add_numbers((estimate, truth, truth), limits, runs.as_tile, slice(t, t + 1))

    def _add_written(self, begin: int, end: int) -> None:
        """Adds up tiles whose errors or terms must be stored first."""
        from depthgauge.metrics.kernels.moments import room, sum_rows

        for t in range(begin, end):
            tile = Tile(self._pixels, t * TILE, min((t + 1) * TILE, self._pixels.codes.size))
            runs = self._runs.of_tile(t)
            if not tile.pixels.is_number:
                # Nothing is subtracted from an error; it may be infinite where vectors are finite.
                errors, limits = runs.ordered(tile.missing_as_nan), (np.float32(0), _INFINITE)
                maps = (errors, np.zeros_like(errors), runs.ordered(tile.other))
                self._add_numbers(maps, limits, runs.as_tile, slice(t, t + 1))
            if self._rows:
                rows, where = runs.ordered(tile.rows(self._rows)), (runs.begins, runs.ends)
                sum_rows(*room(), rows, *where, runs.atoms, runs.count, self._row_sums[t])

    def _add_numbers(
        self,
        maps: tuple[Map, Map, Map],
        limits: tuple[np.float32, np.float32],
        runs: tuple[NDArray[Any], ...],
        at: slice,
    ) -> None:
        """Adds up pixels that are numbers: estimate, truth, and what errors are compared with."""
        from depthgauge.metrics.kernels.moments import moments

        sums = (self.counts[at], self.missing[at], self._sums[at])
        moments(*maps, *limits, *runs, self._direct.kinds, self._direct.params, *sums)


def _add_tiles(tiles: NDArray[Any]) -> NDArray[Any]:
    """The sum of the tiles in their order; NumPy's `sum` may use another one."""
    if len(tiles) == 1:
        return np.array(tiles[0])
    total = np.zeros(tiles.shape[1:], tiles.dtype)
    for tile in tiles:
        total += tile
    return total


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
        there = _presence(estimate, truth)
        return np.float32(100) - there if recipe.flipped else there
    values = _term_map(_shown(recipe), estimate, truth, error)
    if isinstance(recipe, Recipe) and recipe.flipped:
        values = np.float32(1) - values
    if isinstance(recipe, Recipe) and recipe.factor is not None:
        values *= np.float32(recipe.factor)
    return np.asarray(values, np.float32)


def _term_map(term: Term, estimate: Map, truth: Map, error: ErrorName | None) -> Map:
    from depthgauge.metrics.kernels.terms import term_map

    values = np.full(truth.shape[:2], np.nan, np.float32)
    low = np.float32(SMALLEST if term.positive else -LARGEST)
    channels, kind = channels_of(truth), error_kind(truth, error)
    maps = estimate.reshape(-1), truth.reshape(-1)
    if term.function is None:
        params = (*term.params, 0.0, 0.0)[:2]
        out = values.reshape(-1)
        term_map(*maps, int(term.kind), *params, low, channels, int(kind), out)
        return values
    known = is_known(truth).view(np.uint8).reshape(-1)
    lookup, flat = np.arange(2, dtype=np.int32), values.reshape(-1)
    pixels = Pixels(*maps, known, lookup, 0, low, np.float32(LARGEST), channels, kind)
    for start in range(0, flat.size, TILE):
        tile = Tile(pixels, start, min(start + TILE, flat.size))
        flat[start : start + TILE][tile.inside(term)] = tile.values(term)
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
    estimate, truth = plain(estimate), plain(truth)
    if estimate.shape != truth.shape or truth.ndim not in (2, 3):
        raise WrongShape(
            f"the estimate is {_size(estimate)} but the truth is {_size(truth)}; "
            "resize the estimate to the truth's size first (`estimate_resize` in a benchmark does)."
        )
    return estimate, truth


def channels_of(values: Map) -> int:
    """The number of values per pixel."""
    return 1 if values.ndim == 2 else int(values.shape[2])


def _size(values: np.ndarray) -> str:
    return "x".join(str(n) for n in values.shape)
