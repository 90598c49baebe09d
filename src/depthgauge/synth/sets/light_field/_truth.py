"""Truth of a centre view, finer than its pixels: depth, disparity, surfaces, masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.distances import nearest_pixel
from depthgauge.synth.render.closed_form.rays import cast, points
from depthgauge.synth.scene.frame import Vector
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.synth.sets.light_field._grid import Grid
from depthgauge.types import Map, Mask

_TILE = 128
"""Side of the tiles: enough for NumPy, few enough for the processor's cache."""
_SIDES = 4
"""Codes of one thing: its curved surface, then flat ones along its x, y and z."""

Array = TypeVar("Array", bound=NDArray[Any])


@dataclass(frozen=True, slots=True)
class FineTruth:
    """What the rays through the centres of fine pixels meet."""

    depth: Map
    disparity: Map
    """In px of the views, not of this map."""
    surface: NDArray[np.int16]
    """A number for each face of each thing: box, end of a cylinder, side of it."""

    @property
    def thing(self) -> NDArray[np.int16]:
        """Index of the thing."""
        return self.surface // np.int16(_SIDES)

    @property
    def flat(self) -> Mask:
        """Where the surface is plane."""
        flat: Mask = self.surface % np.int16(_SIDES) != 0
        return flat


def empty(grid: Grid, scale: int) -> FineTruth:
    """Arrays for the truth, `scale` times the size of the views."""
    width, height = grid.finer(scale).size_px
    depth, disparity = (np.full((height, width), np.nan, np.float32) for _ in range(2))
    return FineTruth(depth, disparity, np.full((height, width), -1, np.int16))


def bands(truth: FineTruth) -> Iterator[slice]:
    """Bands of rows that `fill` can process independently."""
    height = truth.depth.shape[0]
    for top in range(0, height, _TILE):
        yield slice(top, min(top + _TILE, height))


def fill(truth: FineTruth, grid: Grid, scale: int, rows: slice) -> None:
    """Computes the truth of some rows."""
    view = grid.finer(scale)
    width = view.size_px[0]
    for left in range(0, width, _TILE):
        part = rows, slice(left, min(left + _TILE, width))
        y, x = np.mgrid[part].astype(np.float64)
        hits = cast(grid.scene.things, view, x, y)
        truth.depth[part] = hits.depth_m
        truth.disparity[part] = grid.disparity(hits.depth_m)
        at = points(view, x, y, hits.depth_m)
        truth.surface[part] = _surfaces(grid.scene, hits.which, at)


def coarse(values: Array, scale: int) -> Array:
    """The upper median of each tile of scale x scale pixels: the element at index n // 2 of n.

    It is an element of the tile, not a mean, so at an edge it is on one of the two sides.
    """
    height, width = (side // scale for side in values.shape)
    found = np.zeros((height, width), values.dtype)
    middle = scale * scale // 2
    for top in range(0, height, _TILE):  # a copy of all tiles at once would double the memory
        rows = values[top * scale : (top + _TILE) * scale]
        tiles = rows.reshape(-1, scale, width, scale).swapaxes(1, 2).reshape(-1, width, scale**2)
        found[top : top + _TILE] = np.partition(tiles, middle, axis=-1)[..., middle]
    return found  # type: ignore[return-value]  # of the same kind


def _surfaces(scene: ShapeScene, which: NDArray[Any], at: Vector) -> NDArray[np.int16]:
    """The numbers of the faces that points of things are on."""
    numbers = (which * _SIDES).astype(np.int16)
    for index in np.unique(which):
        mine = which == index
        x, y, z = (part[mine] for part in at)
        shape = scene.things[index].shape
        local = shape.frame.point_inside((x, y, z))
        # Of two opposite faces only one can be seen, so the axis of its normal names it.
        axis = np.argmax(np.abs(np.stack(shape.normal(local))), axis=0)
        numbers[mine] += np.where(shape.curved(local), 0, 1 + axis).astype(np.int16)
    return numbers


# --- masks, read off the geometry -----------------------------------------------------------------


REACH_PX = 5
"""How far, in px of the views, an edge or a bar reaches."""
JUMP_PX = 0.1
"""Smallest difference of neighbouring disparities that counts as a discontinuity."""


def masks(scene: ShapeScene, truth: FineTruth, scale: int) -> dict[str, Mask]:
    """The masks that are not empty, by name, at the size of the truth.

    - `discontinuities`: within `REACH_PX` of where a thing ends in front of another, `JUMP_PX` or
      more in front of it.
    - `planes`, `smooth_surfaces`: flat and curved surfaces, farther than that from where they end
      or another begins, with a jump, a crease or a touch. No thin bars.
    - `fine`: thin bars. `fine_surrounding`: pixels within `REACH_PX` of a bar and `JUMP_PX` or
      more behind it.

    Args:
        scene: What is seen.
        truth: The truth of its centre view.
        scale: Pixels of the truth along a pixel of the views.
    """
    reach = REACH_PX * scale
    thin: Mask = np.array([thing.thin for thing in scene.things])[truth.thing]
    inside = nearest_pixel(_borders(truth), reach) < 0
    inside &= ~thin
    found = {
        "discontinuities": nearest_pixel(_jumps(truth), reach) >= 0,
        "planes": inside & truth.flat,
        "smooth_surfaces": inside & ~truth.flat,
        "fine": thin,
        "fine_surrounding": _surrounding(thin, truth, reach),
    }
    return {name: mask for name, mask in found.items() if mask.any()}


def _borders(truth: FineTruth) -> Mask:
    """Pixels beside another surface."""
    surface = truth.surface
    return _both(surface[:, 1:] != surface[:, :-1], surface[1:] != surface[:-1])


def _jumps(truth: FineTruth) -> Mask:
    """Pixels beside another thing at another depth; a steep surface is not a jump."""
    thing, disparity = truth.thing, truth.disparity
    across = np.abs(np.diff(disparity, axis=1)) >= JUMP_PX
    down = np.abs(np.diff(disparity, axis=0)) >= JUMP_PX
    across &= thing[:, 1:] != thing[:, :-1]
    down &= thing[1:] != thing[:-1]
    return _both(across, down)


def _both(across: Mask, down: Mask) -> Mask:
    """The pixels on both sides of borders between columns and between rows."""
    mask = np.zeros((across.shape[0], down.shape[1]), bool)
    mask[:, 1:] |= across
    mask[:, :-1] |= across
    mask[1:] |= down
    mask[:-1] |= down
    return mask


def _surrounding(thin: Mask, truth: FineTruth, reach: int) -> Mask:
    """Pixels near a bar that are behind it."""
    nearest = nearest_pixel(thin, reach)
    around = (nearest >= 0) & ~thin
    bar = truth.disparity.ravel()[nearest[around]]
    around[around] = truth.disparity[around] <= bar - JUMP_PX
    return around
