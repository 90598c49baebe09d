"""Checks and conversions of maps, used by every module of this room."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Map, Mask


def as_map(values: NDArray[np.generic]) -> Map:
    """The values as contiguous float32, (H, W) or (H, W, C); copied only if needed.

    Raises:
        WrongShape: It does not have two or three dimensions, or has no pixel.
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
        WrongShape: It does not have two dimensions, or has no pixel.
    """
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or array.size == 0:
        raise WrongShape(f"{name} must be (H, W) with at least one pixel, found {array.shape}")
    return array


def missing(values: Map) -> Mask:
    """True where a pixel has no value, i.e. where any of its channels is NaN."""
    absent: Mask = ~np.isfinite(values)
    return absent if absent.ndim == 2 else np.logical_or.reduce(absent, axis=2)


def size_of(values: NDArray[np.generic]) -> str:
    """Width x height as text.

    >>> size_of(np.zeros((480, 640, 3)))
    '640x480'
    """
    return f"{values.shape[1]}x{values.shape[0]}"


def need_same_size(
    first: NDArray[np.generic], second: NDArray[np.generic], names: tuple[str, str]
) -> None:
    """Refuses two arrays of different width or height.

    Raises:
        WrongShape: The sizes differ.
    """
    if first.shape[:2] != second.shape[:2]:
        raise WrongShape(
            f"{names[0]} is {size_of(first)}, {names[1]} is {size_of(second)}: "
            "both must have the same size; resize one of them first"
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
    """Replaces infinities by NaN in place: a missing value is NaN, never infinite."""
    np.copyto(values, np.float32(np.nan), where=~np.isfinite(values))
    return values
