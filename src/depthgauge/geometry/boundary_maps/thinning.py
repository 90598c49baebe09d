"""Thinning of sets of pixels to lines one pixel wide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.types import Mask


def thin(mask: NDArray[np.generic]) -> Mask:
    """The set thinned to lines, as MATLAB's `bwmorph(mask, 'thin', inf)` does it.

    Two sub-iterations remove pixels from opposite sides until nothing changes (Guo and Hall 1989;
    Lam, Lee and Suen 1992). Ends of lines and holes are kept, and pieces stay connected. Pixels
    outside the image are not in the set.

    Args:
        mask: (H, W); nonzero pixels are in the set.

    Raises:
        WrongShape: It is not (H, W).

    >>> thin(np.ones((3, 7), bool)).astype(int)
    array([[0, 0, 0, 0, 0, 0, 0],
           [0, 1, 1, 1, 1, 1, 0],
           [0, 0, 0, 0, 0, 0, 0]])
    """
    from depthgauge.geometry.boundary_maps._thinning_kernels import DELETABLE, thin_set

    if mask.ndim != 2:
        raise WrongShape(f"a set to be thinned must be (H, W), this one is {mask.shape}.")
    plane = np.pad(np.asarray(mask, bool), 1).astype(np.uint8)
    flat = plane.reshape(-1)
    thin_set(flat, np.flatnonzero(flat), plane.shape[1], DELETABLE)
    return np.ascontiguousarray(plane[1:-1, 1:-1] != 0)
