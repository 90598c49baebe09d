"""What every module of this room asks of the maps it is given."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Map, Mask


def as_map(values: NDArray[np.generic]) -> Map:
    """The same values as contiguous float32, (H, W) or (H, W, C); no copy where they are already.

    Raises:
        WrongShape: It has neither two nor three dimensions, or no pixel.
    """
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim not in (2, 3) or array.size == 0:
        raise WrongShape(
            f"a map must be (H, W) or (H, W, C) with at least one pixel, found {array.shape}"
        )
    return array


def as_plane(values: NDArray[np.generic], name: str) -> Map:
    """The same values as contiguous float32 (H, W).

    Raises:
        WrongShape: It has not two dimensions, or no pixel.
    """
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or array.size == 0:
        raise WrongShape(f"{name} must be (H, W) with at least one pixel, found {array.shape}")
    return array


def missing(values: Map) -> Mask:
    """True where a pixel has no value, which is where any of its channels has none."""
    absent: Mask = ~np.isfinite(values)
    return absent if absent.ndim == 2 else np.logical_or.reduce(absent, axis=2)


def size_of(values: NDArray[np.generic]) -> str:
    """Width x height, as people say it.

    >>> size_of(np.zeros((480, 640, 3)))
    '640x480'
    """
    return f"{values.shape[1]}x{values.shape[0]}"


def need_same_size(
    first: NDArray[np.generic], second: NDArray[np.generic], names: tuple[str, str]
) -> None:
    """Refuses two arrays that are not of one width and height.

    Raises:
        WrongShape: They are not.
    """
    if first.shape[:2] != second.shape[:2]:
        raise WrongShape(
            f"{names[0]} is {size_of(first)}, {names[1]} is {size_of(second)}: "
            "both must be of one size; resize one of them first"
        )


def need_positive(**numbers: float) -> None:
    """Refuses lengths that are not positive and finite.

    Raises:
        Misuse: One is not; it is named.
    """
    for name, number in numbers.items():
        if not (math.isfinite(number) and number > 0):
            raise Misuse(f"{name} must be positive and finite, found {number}")


def drop_infinite(values: Map) -> Map:
    """Makes what is not finite missing, in place: a missing value is NaN and never infinite."""
    np.copyto(values, np.float32(np.nan), where=~np.isfinite(values))
    return values
