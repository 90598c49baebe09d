"""The right view of a picture whose disparity is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.types import Map

JUMP_PX = 1.0
"""Neighbours whose disparities differ by more are two surfaces."""
REACH = 8
"""How many rows above and below a deep hole are averaged."""


def as_view(image: NDArray[Any]) -> Map:
    """A picture with three channels from 0 to 1, as it is shown."""
    values = np.asarray(image, np.float32)
    if image.dtype == np.uint8:
        values = values / np.float32(255)
    return values if values.ndim == 3 else np.repeat(values[..., None], 3, axis=2)


def right_view(
    image: NDArray[Any], disparity: NDArray[Any], *, jump_px: float = JUMP_PX, reach: int = REACH
) -> Map:
    """The picture that a camera to the right would take.

    Pixels move to the left by their disparity, and the nearest surface wins. What the left view
    does not show is filled from the farther side of the hole.

    Args:
        image: The left view, uint8 or from 0 to 1.
        disparity: (H, W) of the left view in px; where it is missing, the scene is infinitely far.
        jump_px: Neighbours whose disparities differ by more are two surfaces.
        reach: How many rows above and below a deep hole are averaged.

    Raises:
        WrongShape: Picture and disparity have different sizes.
    """
    source = np.ascontiguousarray(as_view(image))
    if disparity.shape != source.shape[:2]:
        raise WrongShape(
            f"the left view is {source.shape[1]}x{source.shape[0]}, its disparity "
            f"{disparity.shape[1]}x{disparity.shape[0]}; they must have the same size."
        )
    moves = np.ascontiguousarray(np.nan_to_num(disparity.astype(np.float64), nan=0.0))
    from depthgauge.methods._views.kernels import fill_rows, warp_rows

    view = np.zeros_like(source)
    nearness = np.full(moves.shape, -np.inf)
    warp_rows(source, moves, float(jump_px), view, nearness)
    filled = view.copy()
    fill_rows(view, nearness, float(jump_px), int(reach), filled)
    return _whole(filled, nearness, source)


def _whole(filled: Map, nearness: NDArray[np.float64], source: Map) -> Map:
    """Rows on which nothing landed are those of the left view."""
    empty = ~np.isfinite(nearness).any(axis=1)
    filled[empty] = source[empty]
    return filled
