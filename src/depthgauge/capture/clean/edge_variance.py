"""The part of a label's variance that comes from a discontinuity nearby."""

from __future__ import annotations

import numpy as np

from depthgauge.geometry.distances import distance_to
from depthgauge.types import Map, Mask, is_known

SIGMA_PX = 0.24
"""At a discontinuity, where the windows of matching and smoothing reach over it."""
LENGTH = 0.68
"""Over so many radii of the window it falls to 1/e."""
JUMP_PX = 1.0
_LEAST_RADIUS = 2
_FARTHEST = 6.0
"""In lengths; there is nothing left of it beyond."""


def edge_variance(disparity: Map, radius_px: int) -> Map:
    """What repeating a measurement does not show: the pull of another surface, in px squared.

    A window that reaches over a discontinuity sees two surfaces in every pattern, so leaving out
    patterns does not reveal its error. Its size was measured on simulated sessions: a standard
    deviation of 0.24 px at a jump of more than 1 px, or at a pixel without a value, that falls
    exponentially with the distance.

    Args:
        disparity: (H, W), NaN where missing.
        radius_px: Of the window that was used last.

    Returns:
        (H, W), 0 far from every discontinuity.
    """
    edges = _edges(disparity)
    if not edges.any():
        return np.zeros(disparity.shape, np.float32)
    length = LENGTH * max(radius_px, _LEAST_RADIUS)
    distance = distance_to(edges, limit_px=int(np.ceil(_FARTHEST * length)))
    return np.asarray((SIGMA_PX * np.exp(-distance / np.float32(length))) ** 2, np.float32)


def _edges(disparity: Map) -> Mask:
    """Pixels on either side of a jump, and those that border on a missing one."""
    edges = np.zeros(disparity.shape, bool)
    for axis in (0, 1):
        first, second = np.moveaxis(disparity, axis, 0)[:-1], np.moveaxis(disparity, axis, 0)[1:]
        # Written so that a NaN counts as a jump.
        jump = ~(np.abs(second - first) <= JUMP_PX)
        along = np.moveaxis(edges, axis, 0)
        along[:-1] |= jump
        along[1:] |= jump
    return np.asarray(edges & is_known(disparity))
