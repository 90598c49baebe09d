"""Sums over all known pixels of two maps: the fused pass without regions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics.kernels import TILE
from depthgauge.metrics.terms import Kind, Term
from depthgauge.types import Map

_DIRECT = {kind.name.lower() for kind in Kind if kind <= Kind.OVER_BOTH}


def can_sum(term: Term) -> bool:
    """Whether a term is one of the kernel's own: made of the error and the truth."""
    return term.name in _DIRECT and term.function is None


@dataclass(frozen=True, slots=True)
class WholeSums:
    """Terms that are summed over whole maps, as the kernel takes them."""

    kinds: NDArray[np.int64]
    params: NDArray[np.float64]
    known: tuple[np.float32, np.float32]
    """Truths outside of this range are not known."""
    present: tuple[np.float32, np.float32]
    """Estimates outside of this range are missing."""

    @classmethod
    def of(
        cls, terms: Iterable[Term], known: tuple[float, float], present: tuple[float, float]
    ) -> WholeSums:
        """The terms of some recipes, and what counts as a value."""
        listed = list(terms)
        params = [(*term.params, 0.0, 0.0)[:2] for term in listed]
        return cls(
            np.array([term.kind for term in listed], np.int64),
            np.array(params, np.float64).reshape(-1, 2),
            (np.float32(known[0]), np.float32(known[1])),
            (np.float32(present[0]), np.float32(present[1])),
        )

    def add(self, estimate: Map, truth: Map) -> tuple[int, int, NDArray[np.float64]]:
        """How many known pixels have an estimate, how many lack one, and the sum of each term."""
        from depthgauge.metrics.kernels.whole import whole

        tiles = -(-truth.size // TILE)
        counts, missing = np.zeros((2, tiles), np.int64)
        sums = np.zeros((tiles, self.kinds.size))
        maps = estimate.reshape(-1), truth.reshape(-1)
        whole(*maps, *self.known, *self.present, self.kinds, self.params, counts, missing, sums)
        total = sums[0]
        for tile in sums[1:]:  # in this order; NumPy's `sum` may use another one
            total += tile
        return sum(counts.tolist()), sum(missing.tolist()), total
