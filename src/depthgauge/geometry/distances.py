"""The distance from each pixel to the nearest pixel of a set, and which pixel that is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Map, Mask

_FAR = 1 << 30  # px; its square fits into 64 bits


def nearest_pixel(mask: Mask, limit_px: int | None = None) -> NDArray[np.int32]:
    """The flat index (row * width + column) of each pixel's nearest True pixel.

    Exact Euclidean distance, in time linear in the number of pixels. Among several at the same
    distance, the leftmost column wins, then the upper pixel in that column.

    Args:
        mask: (H, W).
        limit_px: Ignore True pixels beyond this distance, which is faster.

    Returns:
        int32 (H, W); -1 where there is none.

    Raises:
        WrongShape: The mask is not (H, W), or has no pixel.
        Misuse: The limit is negative.

    >>> nearest_pixel(np.array([[True, False, False, False, True]]), 1)
    array([[ 0, 0, -1, 4, 4]], dtype=int32)
    """
    if mask.ndim != 2 or mask.size == 0:
        raise WrongShape(f"a mask must be (H, W) with at least one pixel, found {mask.shape}")
    if limit_px is not None and limit_px < 0:
        raise Misuse(f"limit_px is {limit_px}; a distance cannot be negative")
    from depthgauge.geometry import _distance_kernels as kernels

    limit = _FAR if limit_px is None else min(limit_px, _FAR)
    index = np.full(mask.shape, -1, np.int32)
    kernels.nearest_rows(np.ascontiguousarray(mask, dtype=bool), limit, index)
    kernels.nearest_pixels(index, limit)
    return index


def distance_to(mask: Mask, limit_px: int | None = None) -> Map:
    """The distance in px from each pixel to the nearest True pixel; 0 on True pixels.

    Args:
        mask: (H, W).
        limit_px: Report longer distances as infinite, which is faster.

    Returns:
        float32 (H, W); infinite where there is none.

    Raises:
        WrongShape: The mask is not (H, W), or has no pixel.
        Misuse: The limit is negative.

    >>> distance_to(np.array([[True, False, False], [False, False, True]]))
    array([[0., 1., 1.], [1., 1., 0.]], dtype=float32)
    """
    index = nearest_pixel(mask, limit_px)
    from depthgauge.geometry import _distance_kernels as kernels

    distance = np.full(mask.shape, np.inf, np.float32)
    kernels.lengths(index, distance)
    return distance
