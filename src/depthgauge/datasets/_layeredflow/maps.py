"""From points of tags to maps with layers, at the size at which they are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.datasets._layeredflow.points import PointPairs
from depthgauge.geometry.layers import NO_MATERIAL
from depthgauge.types import Map

PixelRule = Literal["nearest", "truncated", "rounded"]
"""Which small pixel a point belongs to:

- `nearest`: the one whose area contains the point;
- `truncated`: coordinate / factor without its fraction, as the public scripts for one layer do;
- `rounded`: coordinate / factor rounded half to even, as the public script for all layers does.
"""
LAYERS = 4
"""Layers of a map; points of deeper ones are left out."""


@dataclass(frozen=True)
class Grid:
    """The small pictures on which points are scored."""

    full: tuple[int, int]
    """Height and width of the photographs."""
    factor: int
    """How many of their pixels make one along each axis."""
    rule: PixelRule = "nearest"

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.full[0] // self.factor, self.full[1] // self.factor

    @property
    def scale(self) -> NDArray[np.float64]:
        """Small pixels per pixel along x and y."""
        return np.array(self.shape[::-1], np.float64) / np.array(self.full[::-1], np.float64)

    def pixels(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """(n, 2), column and row of each point; they may lie outside."""
        if self.rule == "nearest":
            return np.floor((points + 0.5) * self.scale).astype(np.int64)
        small = points / self.factor
        return (np.trunc(small) if self.rule == "truncated" else np.rint(small)).astype(np.int64)


@dataclass(frozen=True)
class Spots:
    """Where points are on a grid: each pixel and layer has at most one."""

    layer: NDArray[np.int64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    point: NDArray[np.int64]
    """Index of the point."""

    def spread(self, values: NDArray[np.generic], shape: tuple[int, int]) -> Map:
        """The values of points as a map with layers, NaN elsewhere."""
        found = np.full((LAYERS, *shape, *values.shape[1:]), np.nan, np.float32)
        found[self.layer, self.row, self.column] = values[self.point]
        return found

    def codes(self, values: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[np.uint8]:
        """The codes of points as a map with layers, 255 elsewhere."""
        found = np.full((LAYERS, *shape), NO_MATERIAL, np.uint8)
        found[self.layer, self.row, self.column] = values[self.point]
        return found


def spots(pairs: PointPairs, grid: Grid) -> Spots:
    """The points inside the picture. Of several in one pixel and layer, the first one is kept."""
    columns, rows = grid.pixels(pairs.first).T
    height, width = grid.shape
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    inside &= pairs.layer < LAYERS
    index = np.flatnonzero(inside)
    place = (pairs.layer[index] * height + rows[index]) * width + columns[index]
    _, first = np.unique(place, return_index=True)
    kept = index[np.sort(first)]
    return Spots(pairs.layer[kept], rows[kept], columns[kept], kept)


def flow_map(pairs: PointPairs, grid: Grid) -> Map:
    """(L, H, W, 2): how points move, in small pixels."""
    moved = (pairs.second - pairs.first) * grid.scale
    return spots(pairs, grid).spread(moved, grid.shape)


def material_map(pairs: PointPairs, grid: Grid) -> NDArray[np.uint8]:
    """(L, H, W): the codes of materials, 255 where there is no point."""
    return spots(pairs, grid).codes(pairs.material, grid.shape)
