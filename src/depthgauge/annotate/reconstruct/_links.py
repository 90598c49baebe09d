"""Which neighbouring pixels are linked: for normals, and for depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.segmentation import FOLD, Segmentation
from depthgauge.types import Mask

Array = NDArray[np.float64]

_ALONG = 1e-3
"""A unit vector with a smaller component to a side runs along the line."""
_AXES = (
    (0, np.s_[:, :-1], np.s_[:, 1:]),
    (1, np.s_[:-1, :], np.s_[1:, :]),
)
"""For links to the right and downwards: component of `toward`, first and second pixel."""


@dataclass(frozen=True)
class DepthLinks:
    """Pairs of pixels between which depth is continuous, and folds between them."""

    right: Mask
    down: Mask
    right_fold: Array
    """NaN without a fold; otherwise the share of the way on the first pixel's side of it."""
    down_fold: Array


def normal_links(segmentation: Segmentation) -> tuple[Array, Array]:
    """Weights of the links over which normals spread, to the right and downwards, (H, W) each.

    The double sums of the smoothness term count 2 between two ordinary pixels, and 1 between a line
    pixel and its ordinary neighbours on the side that owns it. A line pixel without such neighbours
    is linked to line pixels on that side, or else to any neighbour of its surface.
    """
    line, smooth = segmentation.kind > 0, segmentation.smooth
    weights = np.zeros(line.shape), np.zeros(line.shape)
    for axis, first, second in _AXES:
        same = (smooth[first] == smooth[second]) & (smooth[first] > 0)
        one, two = line[first], line[second]
        ahead, behind = _sides(segmentation, axis, first, second)
        weights[axis][first] = same * (
            2.0 * (~one & ~two) + (one & ~two & (ahead > 0)) + (~one & two & (behind > 0))
        )
    for owner_side_only in (True, False):
        lonely = line & (_degree(*weights) == 0)
        if lonely.any():
            _link_lonely(segmentation, lonely, weights, owner_side_only)
    return weights


def depth_links(segmentation: Segmentation) -> DepthLinks:
    """Pairs of one continuous surface; an occlusion is linked along itself and to its owner.

    A fold runs through the middle of its pixels, up to rounding, so the way from such a pixel to
    the surface beyond lies on that surface.
    """
    occlusion = segmentation.kind > FOLD
    continuous, smooth, stroke = segmentation.continuous, segmentation.smooth, segmentation.stroke
    links = np.zeros(occlusion.shape, bool), np.zeros(occlusion.shape, bool)
    folds = np.full(occlusion.shape, np.nan), np.full(occlusion.shape, np.nan)
    fold = segmentation.kind == FOLD
    for axis, first, second in _AXES:
        same = (continuous[first] == continuous[second]) & (continuous[first] > 0)
        one, two = occlusion[first], occlusion[second]
        ahead, behind = _sides(segmentation, axis, first, second)
        along = one & two & (stroke[first] == stroke[second])
        held = (~one | (ahead > 0)) & (~two | (behind > 0))
        # Where a line ends or bends sharply, its sides are unreliable. Surfaces that meet at an
        # occlusion but at no fold are never joined there.
        apart = (one | two) & ~(fold[first] | fold[second]) & (smooth[first] != smooth[second])
        meet = held | along | (one & two & (ahead >= 0) & (behind >= 0))
        links[axis][first] = same & ~apart & meet
        bent = links[axis][first] & (smooth[first] != smooth[second])
        share = 0.5 + 0.5 * fold[second] - 0.5 * fold[first]
        folds[axis][first] = np.where(bent, share, np.nan)
    return DepthLinks(*links, *folds)


def _sides(
    segmentation: Segmentation, axis: int, first: tuple[slice, ...], second: tuple[slice, ...]
) -> tuple[Array, Array]:
    """Whether the second pixel is on the owner side of the first (1), along it (0) or beyond (-1).

    And the same for the first pixel as seen from the second.
    """
    toward = segmentation.toward[..., axis]
    ahead, behind = toward[first], -toward[second]
    return (
        np.sign(np.where(abs(ahead) < _ALONG, 0.0, ahead)),
        np.sign(np.where(abs(behind) < _ALONG, 0.0, behind)),
    )


def _link_lonely(
    segmentation: Segmentation,
    lonely: Mask,
    weights: tuple[Array, Array],
    owner_side_only: bool,
) -> None:
    smooth = segmentation.smooth
    for axis, first, second in _AXES:
        same = (smooth[first] == smooth[second]) & (smooth[first] > 0)
        one, two = lonely[first], lonely[second]
        if owner_side_only:
            ahead, behind = _sides(segmentation, axis, first, second)
            one, two = one & (ahead > 0), two & (behind > 0)
        weights[axis][first] = np.maximum(weights[axis][first], same & (one | two))


def _degree(right: Array, down: Array) -> Array:
    total = right + down
    total[:, 1:] += right[:, :-1]
    total[1:] += down[:-1]
    return total
