"""The benchmark's masks, read off the geometry: edges, surfaces inside of them, thin bars."""

from __future__ import annotations

import numpy as np

from depthgauge.geometry.distances import nearest_pixel
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.synth.sets.light_field._truth import FineTruth
from depthgauge.types import Mask

REACH_PX = 5
"""How far, in px of the views, an edge or a bar reaches."""
JUMP_PX = 0.1
"""Difference of disparities between neighbours from which on an edge is a discontinuity."""


def masks(scene: ShapeScene, truth: FineTruth, scale: int) -> dict[str, Mask]:
    """The masks that have a pixel at all, by name, of the size of the truth.

    - `discontinuities`: within `REACH_PX` of where a thing ends in front of another, `JUMP_PX` or
      more in front of it.
    - `planes`, `smooth_surfaces`: flat and curved surfaces, farther than that from where they end
      or another begins, be it with a jump, a crease or a touch. No thin bars.
    - `fine`: thin bars. `fine_surrounding`: what is within `REACH_PX` of a bar and `JUMP_PX` or
      more behind it.

    Args:
        scene: What is seen.
        truth: Of its centre view.
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
    """Pixels beside another thing at another depth; a steep surface is no jump."""
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
    """Pixels around bars that are behind the nearest of them."""
    nearest = nearest_pixel(thin, reach)
    around = (nearest >= 0) & ~thin
    bar = truth.disparity.ravel()[nearest[around]]
    around[around] = truth.disparity[around] <= bar - JUMP_PX
    return around
