"""Maps and masks made smaller for a picture, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, Mask

Size = tuple[int, int]
"""Height and width of a picture; at most those of the map."""


def shrink_errors(values: Map, known: Mask, size: Size) -> tuple[NDArray[np.float32], Mask]:
    """Shrinks a map and its mask: each block takes its largest error.

    Args:
        values: (H, W); NaN where there is none. A block without a single value is missing.
        known: Where there is truth; a block has truth if any of its pixels has.
        size: Height and width.
    """
    if values.shape == size:
        return values, known
    some = np.isfinite(values)
    high = _reduced(np.maximum, np.where(some, values, -np.inf), size)
    low = _reduced(np.minimum, np.where(some, values, np.inf), size)
    largest = np.where(-low > high, low, high).astype(np.float32)
    largest[~any_of_block(some, size)] = np.nan
    return largest, any_of_block(known, size)


def any_of_block(mask: Mask, size: Size) -> Mask:
    """Whether any pixel of each block is in the mask."""
    return mask if mask.shape == size else np.asarray(_reduced(np.logical_or, mask, size), bool)


def middle_of_block(values: NDArray[Any], size: Size) -> NDArray[Any]:
    """The middle pixel of each block, so that edges stay sharp."""
    if values.shape[:2] == size:
        return values
    rows, columns = (
        ((np.arange(small) + 0.5) * whole / small).astype(np.intp)
        for small, whole in zip(size, values.shape, strict=False)
    )
    return np.asarray(values[rows][:, columns])


def fitting(shape: tuple[int, ...], width: int) -> Size:
    """Height and width of a picture that is at most so wide.

    >>> fitting((400, 4000), 1000), fitting((3, 4), 1000)
    ((100, 1000), (3, 4))
    """
    if shape[1] <= width:
        return shape[0], shape[1]
    return max(1, round(shape[0] * width / shape[1])), width


def _reduced(by: np.ufunc, array: NDArray[Any], size: Size) -> NDArray[Any]:
    rows, columns = (
        np.arange(small) * whole // small for small, whole in zip(size, array.shape, strict=True)
    )
    return np.asarray(by.reduceat(by.reduceat(array, rows, axis=0), columns, axis=1))
