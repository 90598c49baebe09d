"""Matching by tiles of rows: bounded memory, and what is done survives an interruption."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.capture.spacetime.engine import Engine, Found, Pairs
from depthgauge.capture.steps import Progress
from depthgauge.errors import BadFile
from depthgauge.types import Map

SIDES = ("left", "right")
MAPS = ("disparity", "variance", "confidence")
_FEWEST_ROWS = 16


@dataclass(frozen=True, slots=True)
class Tiles:
    """Both views of pairs, matched by as many rows at a time as memory allows."""

    engine: Engine
    folder: Path
    """Finished tiles are kept here until `remove`."""
    limits: tuple[int, int]
    """Disparities that are searched, both ends included."""
    memory_gib: float

    def match(
        self, pairs: Pairs, places: Sequence[int], progress: Progress | None = None
    ) -> dict[str, Map]:
        """Maps by name: `left_disparity`, `left_variance` ...

        Args:
            pairs: The pictures, perhaps mapped files.
            places: The patterns to use.
            progress: Is told after each tile.
        """
        _, height, width = pairs.size
        maps = {
            f"{side}_{name}": np.full((height, width), np.nan, np.float32)
            for side in SIDES
            for name in MAPS
        }
        tiles = list(self.plan((len(places), height, width)))
        for number, (rows, wide) in enumerate(tiles):
            for side in SIDES:
                found = self._tile(pairs, places, side, rows, wide)
                for name in MAPS:
                    maps[f"{side}_{name}"][rows] = getattr(found, name)
            if progress:
                progress("matching", number + 1, len(tiles))
        return maps

    def plan(self, size: tuple[int, int, int]) -> Iterator[tuple[slice, slice]]:
        """Rows of each tile, and the rows that they are matched with: some more on both sides."""
        height, margin = size[1], self.engine.margin_rows
        at_once = int(self.memory_gib * 2**30 / self.engine.bytes_per_row(size, self.limits))
        if at_once >= height:
            yield slice(0, height), slice(0, height)
            return
        count = math.ceil(height / max(at_once - 2 * margin, _FEWEST_ROWS))
        for k in range(count):
            start, stop = height * k // count, height * (k + 1) // count
            yield slice(start, stop), slice(max(start - margin, 0), min(stop + margin, height))

    def remove(self) -> None:
        """Takes the finished tiles away."""
        for path in self.folder.glob("tile-*.npy"):
            path.unlink()

    def _tile(
        self, pairs: Pairs, places: Sequence[int], side: str, rows: slice, wide: slice
    ) -> Found:
        path = self.folder / f"tile-{side}-{rows.start}-{rows.stop}.npy"
        try:
            return Found(*np.split(io.read_map(path), len(MAPS)))
        except BadFile:
            pass  # not done yet
        part = pairs.rows(wide)
        chosen = list(places)
        part = Pairs(part.left[chosen], part.right[chosen], part.left_known, part.right_known)
        if side == "left":
            found = self.engine.match(part, self.limits)
        else:
            found = self.engine.match(part.mirrored(), self.limits).mirrored()
        found = found.rows(slice(rows.start - wide.start, rows.stop - wide.start))
        io.write_map(path, np.concatenate([getattr(found, name) for name in MAPS]))
        return found
