"""From disparities of single pixels to a surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.methods._light_field.views import Planes
from depthgauge.types import Map

TONE = 10.0
"""Grey levels of difference at which a neighbour's weight in a window is divided by e."""
_EDGE_TONE = 8.0
"""The same for neighbours of a surface."""
_JUMP = 0.25
"""Disparities that differ by more px per step belong to different surfaces."""
_SECOND = 3.0
"""How much stiffer a surface's slopes are than the surface itself."""
_ROUNDS = 500


def cleaned(values: Map, trust: Map, image: Planes, radius: int) -> Map:
    """Medians over windows of this radius, weighted by trust and similarity to the middle."""
    from depthgauge.methods._light_field import surface_kernels

    out = np.zeros_like(values)
    surface_kernels.weighted_median(values, trust, image, radius, TONE, out)
    return out


def surface(start: Map, target: Map, weight: Map, image: Planes, smoothness: float) -> Map:
    """Slanted planes near a target, with jumps where `start` has them.

    Args:
        start: Disparities.
        target: Disparities to stay close to.
        weight: How close; 0 where there is no target.
        image: (C, H, W); edges in it make bends cheaper.
        smoothness: The cost of a step of 1 px between neighbours, in units of weight x px^2.
    """
    from depthgauge.methods._light_field import surface_kernels

    out = start.copy()
    rooms = np.zeros((surface_kernels.ROOMS, *start.shape), np.float32)
    rooms[surface_kernels.AHEAD] = start
    surface_kernels.smooth_surface(
        target,
        weight,
        _links(start, image),
        smoothness,
        _SECOND * smoothness,
        _ROUNDS,
        rooms,
        out,
    )
    return out


def _links(disparity: Map, image: Planes) -> NDArray[np.float32]:
    """How strongly each pixel is linked to the next one to the right, and below."""
    links = np.zeros((2, *disparity.shape), np.float32)
    for k, inner in ((0, np.s_[:, :-1]), (1, np.s_[:-1])):
        axis = 1 - k
        apart = np.abs(np.diff(image, axis=axis + 1)).mean(axis=0)
        same = np.abs(np.diff(disparity, axis=axis)) < _JUMP
        links[k][inner] = np.exp(-apart / np.float32(_EDGE_TONE)) * same
    return links
