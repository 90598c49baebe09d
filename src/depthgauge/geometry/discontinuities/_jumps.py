"""The jumps of a map, and the surfaces beside them continued over the pixels nearby."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry._checks import need_jump, need_window
from depthgauge.geometry._maps import as_map, as_plane, need_same_size
from depthgauge.types import Map, Mask, is_known

Indices = NDArray[np.int32]
"""Flat indices of pixels: row * width + column."""


class Sides(NamedTuple):
    """The pixels of all jumps."""

    edge: Mask
    """Both pixels of every jump."""
    front: Mask
    """Those that are in front of a neighbour."""
    back: Mask
    """Those that are behind a neighbour."""


@dataclass(frozen=True, slots=True)
class Jumps:
    """A map and where it jumps."""

    truth: Map
    """(H, W, C)."""
    order: Map
    """(H, W), larger in front."""
    known: Mask
    steps: NDArray[np.uint8]
    """The step from each pixel to its right and lower neighbours; see `_edge_kernels`."""
    jump: float

    def sides(self) -> Sides:
        """Which pixels are at a jump."""
        from depthgauge.geometry.discontinuities import _edge_kernels as kernels

        sides = Sides(*(np.zeros(self.known.shape, bool) for _ in Sides._fields))
        kernels.find_sides(self.steps, *sides)
        return sides

    def ends(self, seeds: Indices, in_front: NDArray[np.bool_]) -> Indices:
        """The pixels across the jumps at these pixels, which are in front or behind there."""
        from depthgauge.geometry.discontinuities import _edge_kernels as kernels

        kinds = np.where(in_front, kernels.FALL, kernels.RISE).astype(np.uint8)
        ends = np.zeros_like(seeds)
        kernels.find_ends(self.steps, self.order, seeds, kinds, ends)
        return ends

    def directions(self, starts: Indices, ends: Indices) -> NDArray[np.float32]:
        """Unit vectors of the truth from one pixel to another; 0 where both are the same."""
        flat = self.truth.reshape(-1, self.truth.shape[2])
        # The square of a large float32 is infinite.
        difference = flat[ends].astype(np.float64) - flat[starts]
        length = np.linalg.norm(difference, axis=1, keepdims=True)
        unit = np.zeros(difference.shape, np.float32)
        np.divide(difference, length, out=unit, where=length > 0)
        return unit


def find_jumps(
    truth: Map,
    order: Map,
    jump: float,
    objects: NDArray[np.int32] | None = None,
    known: Mask | None = None,
) -> Jumps:
    """Where a map jumps by more than `jump`; if objects are given, only where two of them meet.

    `known` says where the map has values, if that is known already.

    Raises:
        WrongShape: The sizes differ.
        Misuse: The jump is negative or not finite.
    """
    values, ahead = as_map(truth), as_plane(order, "the order")
    need_same_size(ahead, values, ("the order", "the truth"))
    need_jump(jump)
    if objects is None:
        objects = np.zeros((0, 0), np.int32)
    else:
        need_same_size(objects, values, ("the mask", "the truth"))
    from depthgauge.geometry.discontinuities import _edge_kernels as kernels

    if known is None:
        known = is_known(values) & np.isfinite(ahead)
    steps = np.zeros(known.shape, np.uint8)
    channels = values if values.ndim == 3 else values[..., np.newaxis]
    kernels.find_steps(channels, ahead, known, objects, jump, steps)
    return Jumps(channels, ahead, known, steps, jump)


class Seeds(NamedTuple):
    """Pixels from which surfaces are continued."""

    at: Indices
    """Ascending."""
    ends: Indices
    """For each seed, the pixel whose surface is continued."""
    directions: NDArray[np.float32]
    """(n, C) for each seed, the direction to that surface in the truth's channels."""


def continue_surfaces(jumps: Jumps, chosen: Indices, seeds: Seeds, window: int) -> Map:
    """The surface of each pixel's seed, continued to the pixel.

    Args:
        jumps: The map.
        chosen: (H, W) flat index of each pixel's seed, -1 for none.
        seeds: All chosen seeds.
        window: Width of the square around a seed's end to which a plane is fitted.

    Returns:
        (H, W, C), at least a jump away from the truth; NaN where there is no seed.

    Raises:
        Misuse: The window is not odd, or wider than 99 px.
    """
    need_window(window)
    from depthgauge.geometry.discontinuities import _edge_kernels as kernels

    height, width, channels = jumps.truth.shape
    planes = np.zeros((seeds.at.size, channels, 3), np.float32)
    kernels.fit_planes(jumps.truth, jumps.known, jumps.steps, seeds.ends, window // 2, planes)
    slots = np.zeros((height, width), np.int32)
    slots.reshape(-1)[seeds.at] = np.arange(seeds.at.size, dtype=np.int32)
    out = np.full(jumps.truth.shape, np.nan, np.float32)
    kernels.extend(
        jumps.truth, chosen, slots, seeds.ends, planes, seeds.directions, jumps.jump, out
    )
    return out
