"""Cubic B-splines through pixels, compiled, for kernels of other modules.

numba does not see that a kernel of another module has changed: after a change here, delete the
`*.nbi` and `*.nbc` files of the modules that import it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]

GAIN = np.float32(6)
"""The factor of coefficients along one axis."""
_POLE = np.float32(math.sqrt(3.0) - 2.0)
_REACH = 16  # powers of the pole vanish beyond


@compiled()
def spline_filter(lines: Array, gain: Any) -> None:
    """Turns float32 values into coefficients of the splines through them, along the first axis.

    Args:
        lines: (N, K), mirrored once at both ends: exact for N = 1 and from about N = 12 on.
        gain: float32, `GAIN` for each axis; one axis may also apply the gain of another, which then
            has 1.
    """
    count, size = lines.shape
    if count < 2:  # a spline through one pixel is that pixel
        for k in range(size if count == 1 else 0):
            lines[0, k] *= gain / GAIN
        return
    power = _POLE
    for x in range(1, min(count, _REACH)):
        for k in range(size):
            lines[0, k] += power * lines[x, k]
        power *= _POLE
    for x in range(1, count):
        for k in range(size):
            lines[x, k] += _POLE * lines[x - 1, k]
    last = gain * _POLE / (_POLE * _POLE - np.float32(1))
    for k in range(size):
        lines[count - 1, k] = last * (lines[count - 1, k] + _POLE * lines[count - 2, k])
    for x in range(count - 2, -1, -1):
        for k in range(size):
            lines[x, k] = _POLE * (lines[x + 1, k] - gain * lines[x, k])


@compiled()
def spline_taps(t: float) -> tuple[float, float, float, float]:
    """Weights of the coefficients at -1, 0, 1 and 2 for a position at t in 0..1."""
    u = 1.0 - t
    first, last = u * u * u / 6.0, t * t * t / 6.0
    second = (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
    return first, second, 1.0 - first - second - last, last


@compiled()
def mirrored(place: int, count: int) -> int:
    """A place within 0..count-1, mirrored at an end, at most to the other end."""
    inside = abs(place)
    inside = 2 * (count - 1) - inside if inside >= count else inside
    return max(inside, 0)
