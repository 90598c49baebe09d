"""Filling of missing estimates, for protocols that require an estimate at every pixel."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown
from depthgauge.errors import Misuse
from depthgauge.geometry._maps import as_map, missing
from depthgauge.types import Map

REVISION = 1
"""Raised whenever a filled value may change; part of the protocol's hash."""

Filling = Literal["background", "scanline", "constant"]
FILLINGS = ("background", "scanline", "constant")


def fill(values: NDArray[np.generic], how: Filling, constant: float | None = None) -> Map:
    """A copy in which missing pixels are filled and all others are unchanged.

    A pixel is missing if any of its channels is; then all its channels are filled.

    - `background`: what KITTI's development kit does (`interpolateBackground`). In each row a gap
      takes the smaller of the two values beside it (of flow, per component), and the outermost
      values are extended to both ends. Then in each column the outermost values are extended up
      and down. A row without any value that has rows with values both above and below stays
      missing, as in the kit (which then scores a disparity of -1 or a flow of 0 there).
    - `scanline`: linear interpolation in each row between the values beside a gap; the outermost
      values are extended to both ends. A row without any value copies the nearest row that has
      one, the upper of two equally near rows.
    - `constant`: the given number.

    A map without any value stays missing (except with `constant`).

    Args:
        values: (H, W) or (H, W, C).
        how: One of the three.
        constant: The number, for `constant` only.

    Raises:
        UnknownName: No such way of filling.
        Misuse: `constant` without a finite number, or a number without `constant`.

    >>> row = np.array([[np.nan, 4.0, np.nan, np.nan, 1.0]])
    >>> fill(row, "background")
    array([[4., 4., 1., 1., 1.]], dtype=float32)
    >>> fill(row, "scanline")
    array([[4., 4., 3., 2., 1.]], dtype=float32)
    """
    if how not in FILLINGS:
        raise unknown("way of filling", how, FILLINGS)
    _check_constant(how, constant)
    filled = as_map(values).copy()
    absent = missing(filled)
    if constant is not None:
        filled[absent] = constant
        return filled
    filled[absent] = np.nan
    if absent.any() and not absent.all():
        from depthgauge.geometry import _kernels

        kernel = _kernels.fill_background if how == "background" else _kernels.fill_scanline
        kernel(filled.reshape(*filled.shape[:2], -1), absent)
    return filled


def _check_constant(how: str, constant: float | None) -> None:
    if how == "constant" and (constant is None or not math.isfinite(constant)):
        raise Misuse(f"filling by a constant needs a finite number, found {constant}")
    if how != "constant" and constant is not None:
        raise Misuse(f"filling by '{how}' takes no constant, found {constant}")
