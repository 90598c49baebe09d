"""The surface that most people see, and whether a fused one is near it.

A mean of normals, with planes turned to fit lines, is mostly better than any median of depths. But
one relation or one line too many can tilt a plane so far that nobody saw anything like it. The
median of people's depths is never such a surface.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map

Array = NDArray[np.float64]

FEWEST = 3
"""The median of fewer people is no majority."""
_ROUNDS = 3
_FEWEST_PX = 5


def typical_surface(depths: Array) -> tuple[Array, Array]:
    """The median of several people's depths of one surface, and how far each person is from it.

    Args:
        depths: (people, pixels), logarithms; each person's scale is free. Everything is known.

    Returns:
        (pixels,) logarithms up to a constant, and (people,) mean distances.
    """
    aligned = depths - np.median(depths, axis=1, keepdims=True)
    typical = np.median(aligned, axis=0)
    for _ in range(_ROUNDS):
        aligned = depths - np.median(depths - typical, axis=1, keepdims=True)
        typical = np.median(aligned, axis=0)
    return typical, np.abs(aligned - typical).mean(axis=1)


def keep_near_people(
    depth: Map, people: Sequence[Map], surfaces: NDArray[np.integer]
) -> tuple[Map, list[int]]:
    """Replaces surfaces that are farther from the typical one than half of the people are.

    Args:
        depth: The fused depth; NaN where there is none.
        people: Everyone's depth.
        surfaces: (H, W) numbers of continuous surfaces from 1, which have one scale each.

    Returns:
        The depth, and the numbers of the surfaces that are now the typical ones. Their scale is
        that of the fused ones.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(np.stack([depth, *people]).astype(np.float64))
    known = np.isfinite(logs).all(axis=0)
    out, replaced = depth.copy(), []
    for number in np.unique(surfaces[known & (surfaces > 0)]):
        inside = known & (surfaces == number)
        if np.count_nonzero(inside) < _FEWEST_PX:
            continue
        fused, everyone = logs[0, inside], logs[1:, inside]
        typical, distances = typical_surface(everyone)
        aside = fused - typical
        scale = np.median(aside)
        if np.abs(aside - scale).mean() > np.median(distances):
            out[inside] = np.exp(typical + scale)
            replaced.append(int(number))
    return out, replaced
