"""How well the views agree with the centre view at given disparities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.methods._light_field.views import Splines
from depthgauge.types import Map, Mask

Volume = NDArray[np.float32]
"""(H, W, disparities) costs in grey levels."""
_SECTORS = 8
_ROW, _COLUMN = _SECTORS, _SECTORS + 1


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cost of differences between two views; the numbers are grey levels."""

    most_colour: float = 25.0
    """Largest difference of colour that counts."""
    most_gradient: float = 15.0
    """Largest difference of gradients that counts."""
    gradient: float = 0.5
    """The share of gradients in the cost, 0..1."""
    handicap: float = 1.3
    """Factor on the costs of the row and the column of views through the centre."""


def costs(
    splines: Splines,
    disparities: NDArray[np.float32],
    chosen: Mask,
    doubt: Map,
    likeness: Likeness,
) -> Volume:
    """Costs of disparities, from all views or from the best-fitting part of them.

    Args:
        splines: The views.
        disparities: In px per step.
        chosen: (V,) which views are compared with the centre view.
        doubt: (H, W) by how much a part of the views must be better than all of them.
        likeness: The cost of differences.
    """
    from depthgauge.methods._light_field import kernels

    bins = _bins(splines.steps, chosen)
    parts, factors = _parts(bins, likeness.handicap)
    volume = np.zeros((*splines.centre.shape[1:], disparities.size), np.float32)
    kernels.sweep(
        splines.coefficients,
        splines.centre,
        splines.steps,
        bins,
        parts,
        factors,
        disparities,
        splines.pad_px((float(disparities[0]), float(disparities[-1]))),
        np.ascontiguousarray(doubt, np.float32),
        np.array([likeness.most_colour, likeness.most_gradient, likeness.gradient], np.float32),
        volume,
    )
    return volume


def _bins(steps: NDArray[np.float32], chosen: Mask) -> NDArray[np.int64]:
    """(V, 2) the sector of each view around the centre, and the line through it; -1 for none."""
    right, down = steps.T
    sectors = np.rint(np.arctan2(down, right) * (_SECTORS / 2 / np.pi)).astype(np.int64) % _SECTORS
    lines = np.select([down == 0, right == 0], [_ROW, _COLUMN], -1)
    used = chosen & ((right != 0) | (down != 0))
    return np.where(used[:, np.newaxis], np.stack([sectors, lines], axis=-1), -1)


def _parts(bins: NDArray[np.int64], handicap: float) -> tuple[Mask, NDArray[np.float32]]:
    """All views, half of the sectors in eight ways, the row and the column; (P, bins), (P,).

    A pixel beside an occluder is visible from one half of the directions, a pixel in a narrow gap
    from one line of views.
    """
    count = np.bincount(bins[bins >= 0], minlength=_COLUMN + 1)
    half = [[(h + k) % _SECTORS for k in range(_SECTORS // 2)] for h in range(_SECTORS)]
    members = [range(_SECTORS), *half, [_ROW], [_COLUMN]]
    weights = [1.0] * (1 + _SECTORS) + [handicap] * 2
    parts = np.zeros((len(members), count.size), bool)
    for part, places in zip(parts, members, strict=True):
        part[list(places)] = True
    views = parts @ count
    factors = np.array(weights) / np.maximum(views, 1)
    return parts[views > 0], factors[views > 0].astype(np.float32)
