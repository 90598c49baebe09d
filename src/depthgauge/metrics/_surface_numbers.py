"""Numbers of surfaces: the labels themselves if they are small, else consecutive numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Mask

_LARGEST = 1 << 20  # a table of that many surfaces is small; sorting all pixels is slower


def surface_numbers(labels: NDArray[np.integer[Any]], judged: Mask) -> NDArray[np.int64]:
    """A number from 0 for the label of each judged pixel; some numbers may have no pixel.

    >>> surface_numbers(np.array([[5, 7, 0]]), np.array([[True, True, False]])).tolist()
    [5, 7]
    >>> surface_numbers(np.array([[5, 2**30, 0]]), np.array([[True, True, False]])).tolist()
    [0, 1]
    """
    inside = labels[judged]
    if inside.size and not 0 <= int(inside.min()) <= int(inside.max()) <= _LARGEST:
        return np.asarray(np.unique(inside, return_inverse=True)[1], np.int64)
    return inside.astype(np.int64)
