"""Turns stored pixels upright, as the orientation tag of EXIF says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TURNS = {
    1: (False, 0),
    2: (True, 0),
    3: (False, 2),
    4: (True, 2),
    5: (True, 1),
    6: (False, 3),
    7: (True, 3),
    8: (False, 1),
}
"""Whether the pixels are mirrored, left to right, and then by how many quarters they are turned
counter-clockwise."""


def upright(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    """The pixels as they are meant to be seen.

    Args:
        pixels: (H, W) or (H, W, C), as stored.
        orientation: 1 to 8, of EXIF.

    >>> upright(np.array([[1, 2], [3, 4]]), 6)  # the camera was turned: right is up
    array([[3, 1], [4, 2]])
    """
    mirrored, quarters = _TURNS[orientation]
    if orientation == 1:
        return pixels
    turned = np.rot90(pixels[:, ::-1] if mirrored else pixels, quarters)
    return np.ascontiguousarray(turned)


def swaps_sides(orientation: int) -> bool:
    """Whether width and height are exchanged."""
    return orientation >= 5
