"""Finds planar regions: flat cells of the map, joined while they lie in one plane.

Pixels are not chosen by their residuals, which would make every map look good: a region takes whole
cells with everything in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.audit.planes import measure_plane
from depthgauge.geometry.distances import distance_to
from depthgauge.types import Map, Mask

Array = NDArray[np.float64]
_FULL = 0.9
"""The share of a cell's pixels that must have values."""
_ROUGH_PX = 0.5
"""RMS of a cell's own plane above which it shows more than one surface."""
_APART_PX = (0.1, 0.5)
"""Limits of the distance between a cell and the plane of the region that it joins."""
_TIMES = 4.0
"""That distance as a multiple of the typical step between neighbouring cells."""
_BENT_PX = 0.25
"""A region whose parabola deviates more from its plane is a curved surface."""


def find_planes(
    disparity: Map,
    *,
    apart_px: float | None = None,
    most: int = 12,
    least_share: float = 0.005,
) -> dict[str, Mask]:
    """The largest planar regions of a disparity map.

    Args:
        disparity: (H, W).
        apart_px: How far a part of a region may be from its plane; a larger step separates two
            regions. By default it follows from the typical step between neighbouring cells.
        most: Largest number of regions.
        least_share: The smallest region, as a share of the image's pixels.

    Returns:
        Masks by name, `plane 1` the largest; each leaves out its rim, where other surfaces
        begin.
    """
    plane = np.asarray(disparity, np.float32)
    cells = _cells(plane)
    apart = _apart(cells) if apart_px is None else apart_px
    numbers = _grown(cells, apart)
    masks = []
    for number in range(1, int(numbers.max(initial=0)) + 1):
        chosen = numbers == number
        if chosen.sum() * cells.side**2 < least_share * plane.size:
            continue
        chosen = _filled(cells, chosen)
        mask = _pixels(chosen, cells.side, plane.shape)
        if (mask & np.isfinite(plane)).sum() >= least_share * plane.size and _is_flat(plane, mask):
            masks.append(mask)
    masks.sort(key=lambda mask: -int(mask.sum()))
    return {f"plane {n + 1}": mask for n, mask in enumerate(masks[:most])}


@dataclass(frozen=True, slots=True)
class _Cells:
    """The map in square cells; arrays are (rows, columns) of cells."""

    side: int
    x: Array
    """Middle of a cell."""
    y: Array
    local: Array
    """(rows, columns, 3): slope along x, along y, and value in the middle."""
    sums: Array
    """(rows, columns, 3, 4): normal equations of a plane in whole-image coordinates."""
    rms: Array
    """RMS of the cell's own plane; infinite if it has too few values."""
    median: Array
    """Median of the cell's values; infinite if there are none."""


def _cells(disparity: Map) -> _Cells:
    height, width = disparity.shape
    side = max(6, round(max(height, width) / 80))
    rows, columns = height // side, width // side
    cut = disparity[: rows * side, : columns * side].astype(np.float64)
    squares = cut.reshape(rows, side, columns, side).transpose(0, 2, 1, 3)
    blocks = squares.reshape(rows, columns, side * side)
    known = np.isfinite(blocks)
    values = np.where(known, blocks, 0.0)
    offset = np.arange(side) - (side - 1) / 2
    design = np.stack([np.tile(offset, side), np.repeat(offset, side), np.ones(side**2)], axis=1)
    square = np.einsum("rcn,ni,nj->rcij", known.astype(np.float64), design, design)
    enough = known.mean(axis=2) >= _FULL
    square = np.where(enough[..., None, None], square, np.eye(3))
    local = np.linalg.solve(square, np.einsum("rcn,ni->rci", values, design)[..., None])[..., 0]
    off = np.where(known, blocks - np.einsum("ni,rci->rcn", design, local), 0.0)
    count = np.maximum(known.sum(axis=2), 1)
    rms = np.where(enough, np.sqrt((off**2).sum(axis=2) / count), np.inf)
    x, y = np.meshgrid(
        np.arange(columns) * side + (side - 1) / 2, np.arange(rows) * side + (side - 1) / 2
    )
    # Missing values sort to the end; a cell without values has an infinite median.
    middle = np.maximum((known.sum(axis=2) - 1) // 2, 0)[..., None]
    ranked = np.sort(np.where(known, blocks, np.inf), axis=2)
    median = np.take_along_axis(ranked, middle, axis=2)[..., 0]
    # A region's plane is fitted to the cells' middles; a cell that it takes is nearly full.
    row = np.stack([x, y, np.ones_like(x), local[..., 2]], axis=-1)
    sums = row[..., :3, None] * row[..., None, :]
    return _Cells(side, x, y, local, sums, rms, median)


def _apart(cells: _Cells) -> float:
    """How far a cell may be from a plane, from how well neighbouring cells continue each other."""
    flat = cells.rms <= _ROUGH_PX
    half = cells.side / 2
    across, down = (cells.local[..., n] * half for n in (0, 1))
    value = cells.local[..., 2]
    steps = [
        np.abs((value + across)[:, :-1] - (value - across)[:, 1:])[flat[:, :-1] & flat[:, 1:]],
        np.abs((value + down)[:-1] - (value - down)[1:])[flat[:-1] & flat[1:]],
    ]
    both = np.concatenate(steps)
    typical = float(np.median(both)) if both.size else 0.0
    return min(max(_TIMES * typical, _APART_PX[0]), _APART_PX[1])


def _grown(cells: _Cells, apart: float) -> NDArray[np.int32]:
    """The number of each cell's region, 0 for none; regions in the order of their best cells."""
    numbers = np.zeros(cells.rms.shape, np.int32)
    flat = cells.rms <= _ROUGH_PX
    order = np.argsort(cells.rms, axis=None, kind="stable")
    count = 0
    for index in order[: int(flat.sum())]:
        start = divmod(int(index), cells.rms.shape[1])
        if not numbers[start]:
            count += 1
            _grow(cells, flat, numbers, start, count, apart)
    return numbers


def _grow(
    cells: _Cells,
    flat: Mask,
    numbers: NDArray[np.int32],
    start: tuple[int, int],
    number: int,
    apart: float,
) -> None:
    """Grows a region from one cell by adding neighbours that lie in its plane."""
    x, y, value = cells.local[start]
    plane = np.array([x, y, value - x * cells.x[start] - y * cells.y[start]])
    numbers[start] = number
    sums, taken = cells.sums[start].copy(), 1
    queue = [start]
    while queue:
        here = queue.pop(0)
        for there in _neighbours(here, numbers.shape):
            if numbers[there] or not flat[there] or not _fits(cells, there, plane, apart):
                continue
            numbers[there] = number
            sums += cells.sums[there]
            taken += 1
            queue.append(there)
            # A few cells lie nearly on a line; until there are more, the first cell's plane is
            # used.
            if taken >= 9:
                plane = np.linalg.lstsq(sums[:, :3], sums[:, 3], rcond=None)[0]


def _fits(cells: _Cells, cell: tuple[int, int], plane: Array, apart: float) -> bool:
    """Whether a cell's own plane is close to another one at its middle and at its rim."""
    value = plane[0] * cells.x[cell] + plane[1] * cells.y[cell] + plane[2]
    slopes = cells.local[cell][:2] - plane[:2]
    reach = np.abs(slopes).sum() * cells.side / 2
    return bool(abs(cells.local[cell][2] - value) + reach <= apart)


def _neighbours(cell: tuple[int, int], shape: tuple[int, ...]) -> list[tuple[int, int]]:
    row, column = cell
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [(r, c) for r, c in around if 0 <= r < shape[0] and 0 <= c < shape[1]]


def _filled(cells: _Cells, chosen: Mask) -> Mask:
    """Adds enclosed cells close to the region's plane, no matter how noisy they are."""
    from scipy.ndimage import binary_fill_holes

    # A flat cell that did not join is another surface; a rough one may be noise of this one.
    holes = binary_fill_holes(chosen) & ~chosen & (cells.rms > _ROUGH_PX)
    if not holes.any() or chosen.sum() < 3:
        return chosen
    design = np.stack([cells.x, cells.y, np.ones_like(cells.x)], axis=-1)
    plane = np.linalg.lstsq(design[chosen], cells.median[chosen], rcond=None)[0]
    return np.asarray(chosen | (holes & (np.abs(cells.median - design @ plane) <= _APART_PX[1])))


def _pixels(chosen: Mask, side: int, shape: tuple[int, ...]) -> Mask:
    mask = np.zeros(shape, bool)
    large = np.repeat(np.repeat(chosen, side, axis=0), side, axis=1)
    mask[: large.shape[0], : large.shape[1]] = large
    margin = max(1, side // 2)
    return np.asarray(distance_to(~mask, margin) > margin) if not mask.all() else mask


def _is_flat(disparity: Map, mask: Mask) -> bool:
    found = measure_plane(disparity, mask)
    return found is not None and found.bow_px <= _BENT_PX
