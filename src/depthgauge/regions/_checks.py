"""Checks of maps and parameters that several regions share."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Map, Mask, is_known


def has_truth(truth: Map) -> Mask:
    """True where every channel of the truth is finite.

    >>> import numpy as np
    >>> has_truth(np.array([[1.0, np.nan, np.inf]], np.float32))
    array([[ True, False, False]])
    """
    if truth.ndim not in (2, 3) or truth.shape[2:] == (0,):
        raise WrongShape(f"the truth has shape {truth.shape}; expected (H, W) or (H, W, C).")
    return is_known(truth)


def same_size(name: str, array: NDArray[Any], truth: NDArray[Any]) -> None:
    """Rejects an image, mask or label map that does not have the truth's size."""
    if array.shape[:2] != truth.shape[:2]:
        raise WrongShape(f"{name} is {_size(array)}, the truth is {_size(truth)} (width x height).")


def odd(name: str, value: int) -> int:
    """The radius of a window of that width, which must be odd and positive.

    >>> odd("window", 9)
    4
    """
    if value < 1 or value % 2 == 0:
        raise Misuse(f"{name} is {value}; a window's width is odd and positive.")
    return value // 2


def not_negative(name: str, value: float) -> None:
    """Rejects a negative width, distance or threshold."""
    if value < 0:
        raise Misuse(f"{name} is {value:g}; it cannot be negative.")


def _size(array: NDArray[Any]) -> str:
    if array.ndim < 2:
        return f"of shape {array.shape}"
    return f"{array.shape[1]}x{array.shape[0]}"
