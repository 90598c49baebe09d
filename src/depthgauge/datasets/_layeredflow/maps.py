"""From points of tags to maps with layers, at the size at which they are scored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.datasets._layeredflow.points import PointPairs
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.layers import NO_MATERIAL
from depthgauge.types import Camera, Map, Rig

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

    def camera(self, camera: Camera) -> Camera:
        """A camera of the photographs as that of the small pictures."""
        along, down = self.scale.tolist()
        fx, fy = camera.focal_px
        cx, cy = camera.centre_px
        return replace(
            camera,
            focal_px=(fx * along, fy * down),
            centre_px=((cx + 0.5) * along - 0.5, (cy + 0.5) * down - 0.5),
            size_px=self.shape[::-1],
        )

    def rig(self, rig: Rig) -> Rig:
        """The same for both cameras."""
        cameras = {name: self.camera(camera) for name, camera in rig.cameras.items()}
        offset = rig.principal_offset_px * float(self.scale[0])
        return Rig(cameras, rig.baseline_m, offset)


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


def disparity_map(pairs: PointPairs, grid: Grid) -> Map:
    """(L, H, W): x_left - x_right of points, in small pixels."""
    return spots(pairs, grid).spread(_disparities(pairs) * grid.scale[0], grid.shape)


def residual_map(pairs: PointPairs, grid: Grid) -> Map:
    """(L, H, W): by how many small pixels the rows of the two views differ."""
    apart = np.abs(pairs.second[:, 1] - pairs.first[:, 1])
    return spots(pairs, grid).spread(apart * grid.scale[1], grid.shape)


def depth_map(pairs: PointPairs, grid: Grid, rig: Rig) -> Map:
    """(L, H, W): triangulated depth of points, in metres; NaN behind infinity."""
    return spots(pairs, grid).spread(positions(pairs, rig)[:, 2], grid.shape)


def motion_map(before: PointPairs, after: PointPairs, grid: Grid, rig: Rig) -> Map:
    """(L, H, W, 3): how points move in space, in metres, along the axes of the left camera."""
    later = dict(zip(after.tags, positions(after, rig), strict=True))
    nowhere = np.full(3, np.nan)
    moved = np.array([later.get(tag, nowhere) for tag in before.tags]).reshape(-1, 3)
    return spots(before, grid).spread(moved - positions(before, rig), grid.shape)


def positions(pairs: PointPairs, rig: Rig) -> NDArray[np.float64]:
    """(n, 3): points in the left camera, in metres; NaN where the disparity is not positive."""
    left = rig.cameras["left"]
    z = depth_from_disparity(
        _disparities(pairs), left.focal_px[0], rig.baseline_m, rig.principal_offset_px
    ).astype(np.float64)
    away = (pairs.first - np.array(left.centre_px)) / np.array(left.focal_px)
    return np.column_stack([away * z[:, None], z])


def _disparities(pairs: PointPairs) -> NDArray[np.float64]:
    return np.asarray(pairs.first[:, 0] - pairs.second[:, 0])
