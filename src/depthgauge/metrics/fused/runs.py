"""Runs: stretches of pixels in one atom of a plane, in the order in which they are summed.

The image is cut into tiles of fixed size; each tile adds its own float64 sums, and tiles are added
in their order, so the number of threads does not change a bit. Inside a tile the pixels are
processed in blocks that stay in the first-level cache, and a block is summed run by run. Regions
are coherent in space, so most blocks have few runs; a block of many short ones is sorted by atom
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics.kernels import BLOCK, MAX_RUNS, TILE


@dataclass(frozen=True, slots=True)
class TileRuns:
    """The runs of one tile."""

    order: NDArray[np.intp] | None
    """The places in the tile of the pixels of the runs; None: in their own order."""
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    atoms: NDArray[np.int32]
    count: int

    def ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values of a tile's pixels (along the last axis) in the order of the runs."""
        return values if self.order is None else values.take(self.order, axis=-1)

    @property
    def as_tile(self) -> tuple[NDArray[Any], ...]:
        """As the only tile, for the kernel that sums tiles."""
        runs = (self.begins[None], self.ends[None], self.atoms[None])
        return *runs, np.array([self.count])


class Runs:
    """The runs of all tiles."""

    def __init__(
        self,
        codes: NDArray[np.unsignedinteger[Any]],
        lookup: NDArray[np.int32],
        empty_atom: int,
        n_atoms: int,
    ) -> None:
        from depthgauge.metrics.kernels.runs import find_runs

        self._codes, self._regions, self._n_atoms = codes, (lookup, empty_atom), n_atoms
        tiles = -(-codes.size // TILE)
        places = -(-min(codes.size, TILE) // BLOCK) * MAX_RUNS
        self._begins, self._ends, self._atoms = np.zeros((3, tiles, places), np.int32)
        self._found = np.zeros(tiles, np.int64)
        find_runs(codes, *self._regions, self._begins, self._ends, self._atoms, self._found)

    @property
    def smooth(self) -> tuple[NDArray[Any], ...]:
        """The runs of all tiles except rough ones."""
        return self._begins, self._ends, self._atoms, self._found

    @property
    def rough(self) -> list[int]:
        """The tiles with a block that must be sorted."""
        return [t for t, found in enumerate(self._found.tolist()) if found < 0]

    def of_tile(self, t: int) -> TileRuns:
        """The runs of one tile, sorted if it is rough."""
        if self._found[t] >= 0:
            begins, ends, atoms = self._begins[t], self._ends[t], self._atoms[t]
            return TileRuns(None, begins, ends, atoms, int(self._found[t]))
        from depthgauge.metrics.kernels.runs import sort_runs

        codes = self._codes[t * TILE : (t + 1) * TILE]
        order, found = np.zeros(codes.size + 1, np.intp), np.zeros(1, np.int64)
        begins, ends, atoms = np.zeros((3, TILE // BLOCK * max(MAX_RUNS, self._n_atoms)), np.int32)
        counts = np.zeros(self._n_atoms, np.int32)
        sort_runs(codes, *self._regions, counts, order, begins, ends, atoms, found)
        n = int(found[0])
        return TileRuns(order[: ends[n - 1] if n else 0], begins, ends, atoms, n)
