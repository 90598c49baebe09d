"""Tile by tile: pixels whose errors or terms must be stored before they are summed.

These are vectors, terms that the fused kernel does not know (logarithms and ratios, a recipe's own
functions), and everything with weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import in_bands
from depthgauge._once import cached_property
from depthgauge.errors import BadData, BadDeclaration
from depthgauge.metrics.fused.columns import Column, WeightedTerm
from depthgauge.metrics.kernels import TILE
from depthgauge.metrics.terms import ErrorKind, Kind, Term
from depthgauge.types import Map

_WRITTEN_NS = 4
"""About how long it takes to write down the error of a pixel."""
Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pixels:
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

    @property
    def is_number(self) -> bool:
        """Whether a pixel is compared as one number, which the fused kernel does itself."""
        return self.error_kind == ErrorKind.DIFFERENCE

    def tile(self, start: int, stop: int) -> Pixels:
        """The pixels from start to stop."""
        return replace(
            self,
            estimate=self.estimate[start * self.channels : stop * self.channels],
            truth=self.truth[start * self.channels : stop * self.channels],
            codes=self.codes[start:stop],
        )

    def fill(self, error: Map, other: Map, known: NDArray[np.bool_]) -> None:
        """Writes down the error of each pixel, and whether there is an estimate.

        `other` becomes the estimate of numbers, and the truth's length of vectors. Where there is
        no estimate, the error is 0 and `other` of numbers is the truth.
        """
        from depthgauge.metrics.kernels import errors

        maps, limits, out = (
            (self.estimate, self.truth),
            (self.low, self.high),
            (error, other, known),
        )
        if self.is_number:
            errors.fill_numbers(*maps, *limits, *out)
        elif self.error_kind == ErrorKind.ANGLE:
            errors.fill_angles(*maps, *out)
        elif self.error_kind == ErrorKind.LENGTH and self.channels == 2:
            errors.fill_flow(*maps, *limits, *out)
        else:
            errors.fill_vectors(*maps, *limits, self.channels, int(self.error_kind), *out)


def as_numbers(pixels: Pixels) -> Pixels:
    """The same pixels as numbers: vectors as their errors, from which nothing is subtracted."""
    if pixels.is_number:
        return pixels
    n = pixels.codes.size
    errors = np.zeros(n, np.float32)

    def write(begin: int, end: int) -> None:
        for start in range(begin * TILE, min(end * TILE, n), TILE):
            stop = min(start + TILE, n)
            errors[start:stop] = Tile(pixels, start, stop).missing_as_nan

    in_bands(lambda: write, -(-n // TILE), _WRITTEN_NS * n)
    # An error may be infinite where both vectors are finite.
    return replace(
        pixels,
        estimate=errors,
        truth=np.zeros(n, np.float32),
        low=np.float32(0),
        high=np.float32(np.inf),
        channels=1,
        error_kind=ErrorKind.DIFFERENCE,
    )


class Tile:
    """The pixels of one tile, and their errors."""

    def __init__(self, pixels: Pixels, start: int, stop: int) -> None:
        self._place = slice(start, stop)
        self.pixels = pixels.tile(start, stop)
        n = stop - start
        self.error, self.other = np.zeros((2, n), np.float32)
        self.known = np.zeros(n, np.bool_)
        self.pixels.fill(self.error, self.other, self.known)

    @property
    def missing_as_nan(self) -> Map:
        """The errors, NaN where there is no estimate."""
        return np.where(self.known, self.error, np.float32(np.nan))

    @cached_property
    def places(self) -> tuple[Places, Places]:
        """Where the pixels in a region are, those with an estimate and those without."""
        from depthgauge.metrics.kernels.errors import find_inside

        pixels = self.pixels
        here, gone = np.zeros((2, self.error.size), np.int64)
        regions = (pixels.codes, pixels.lookup, pixels.empty_atom)
        n_here, n_gone = find_inside(*regions, self.known, here, gone)
        return here[:n_here], gone[:n_gone]

    def rows(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        """The values of columns, (columns, pixels); those of pixels in no region mean nothing."""
        rows = np.zeros((len(columns), self.error.size))
        for row, column in zip(rows, columns, strict=True):
            if isinstance(column, Term) and column.function is None:
                if column.kind == Kind.LOG:
                    row[:] = self._logs
                elif column.kind == Kind.LOG_SQUARE:
                    np.multiply(self._logs, self._logs, out=row)
                else:
                    self._fill(column, self.error, self.other, self._truth, row)
            else:
                row[self.inside(column)] = self.values(column)
        return rows

    def inside(self, column: Column) -> Places:
        """The places of the pixels for which a column has values."""
        present, absent = self.places
        return absent if isinstance(column, WeightedTerm) and column.missing else present

    def values(self, column: Column) -> NDArray[Any]:
        """The values of a column at these places."""
        if isinstance(column, Term):
            return self._term(column)
        weights = column.weights.values.reshape(-1)[self._place].take(self.inside(column))
        # The minimum is NaN if any value is.
        if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):
            raise BadData(
                f"the weights '{column.weights.name}' are negative or missing at some pixels of a "
                "region; give each of them a weight, 0 where it does not count."
            )
        return weights if column.term is None else weights * self._term(column.term)

    @property
    def _truth(self) -> Map:
        """What errors are compared with: the truth, or the lengths of vectors."""
        return self.pixels.truth if self.pixels.is_number else self.other

    @cached_property
    def _logs(self) -> NDArray[np.float64]:
        """Logarithms of estimate / truth at all pixels, which several terms are made of."""
        from depthgauge.metrics.kernels.terms import term_values

        logs = np.zeros(self.error.size)
        term_values(int(Kind.LOG), 0.0, 0.0, self.error, self.other, self._truth, logs)
        return logs

    def _fill(
        self, term: Term, error: Map, other: Map, truth: Map, row: NDArray[np.float64]
    ) -> None:
        from depthgauge.metrics.kernels.terms import term_values

        term_values(int(term.kind), *(*term.params, 0.0, 0.0)[:2], error, other, truth, row)

    def _term(self, term: Term) -> NDArray[Any]:
        present = self.places[0]
        n = present.size
        error = self.error.take(present)
        if term.function is None:
            values = np.zeros(n)
            self._fill(term, error, self.other.take(present), self._truth.take(present), values)
            return values
        shape = (-1,) if self.pixels.channels == 1 else (-1, self.pixels.channels)
        both = (self.pixels.estimate, self.pixels.truth)
        maps = (values.reshape(shape).take(present, axis=0) for values in both)
        found = np.asarray(term.function(error, *maps, *term.params))
        if found.shape != (n,):
            size = "x".join(str(length) for length in found.shape)
            raise BadDeclaration(
                f"term '{term.name}' gave {size or 'one number'} for {n} pixels; it must give one "
                "number per pixel."
            )
        if n and np.isnan(found.min()):
            raise BadDeclaration(
                f"term '{term.name}' gave NaN at {np.count_nonzero(np.isnan(found))} pixels that "
                "have an estimate; it must give a number at each of them."
            )
        return found
