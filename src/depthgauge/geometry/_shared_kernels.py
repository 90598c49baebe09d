"""Small functions that kernels of several rooms share.

numba does not see that a kernel of another module has changed: after a change here, delete the
`*.nbi` and `*.nbc` files of the modules that import it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def root(parents: Array, i: int) -> int:
    """The root of a node's tree in a union-find; halves the path to it."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@compiled()
def inverse_where_wide(xx: float, xy: float, yy: float, least: float) -> tuple[float, float, float]:
    """The inverse xx, xy, yy of a covariance along the directions with a variance of `least`."""
    mean, half = (xx + yy) / 2.0, np.sqrt(((xx - yy) / 2.0) ** 2 + xy * xy)
    if mean + half < least:
        return 0.0, 0.0, 0.0
    determinant = xx * yy - xy * xy
    if mean - half >= least:
        return yy / determinant, -xy / determinant, xx / determinant
    # Only along the wider direction, at half of the angle of ((xx - yy) / 2, xy).
    angle = 0.5 * np.arctan2(xy, (xx - yy) / 2.0)
    c, s, wide = np.cos(angle), np.sin(angle), mean + half
    return c * c / wide, c * s / wide, s * s / wide


def path_count(height: int, width: int, dx: int, dy: int) -> int:
    """The number of paths of one of eight directions that cover an image; see `path_start`."""
    return (width if dy != 0 else 0) + (height if dx != 0 else 0)


@compiled()
def path_start(path: int, height: int, width: int, dx: int, dy: int) -> tuple[int, int]:
    """Where the path of that number enters the image: x, y; -1, -1 if there is none.

    Together the paths reach each pixel once. They start in the row, then in the column that the
    direction (dx to the right, dy down; -1, 0 or 1) leads away from.
    """
    first_x, first_y = (0 if dx >= 0 else width - 1), (0 if dy >= 0 else height - 1)
    from_row = width if dy != 0 else 0
    if path < from_row:
        return path, first_y
    if dy != 0 and path - from_row == first_y:  # the corner's path began in the row
        return -1, -1
    return first_x, path - from_row


@compiled()
def angle_deg(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> Any:
    """The angle between two vectors, in degrees; NaN if one has no direction.

    Uses the tangent: an arc cosine gives small angles only to hundredths of a degree.
    """
    a = np.sqrt(ax * ax + ay * ay + az * az)
    b = np.sqrt(bx * bx + by * by + bz * bz)
    if not (a > 0 and b > 0 and np.isfinite(a) and np.isfinite(b)):
        return np.nan
    ax, ay, az, bx, by, bz = ax / a, ay / a, az / a, bx / b, by / b, bz / b
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    dot = ax * bx + ay * by + az * bz
    return np.degrees(np.arctan2(np.sqrt(x * x + y * y + z * z), dot))


@compiled()
def pixel_angle(first: Array, second: Array, i: int) -> Any:
    """The angle between the vectors of pixel i of two flat maps with three channels, as float32."""
    at = 3 * i
    return np.float32(
        angle_deg(
            np.float64(first[at]),
            np.float64(first[at + 1]),
            np.float64(first[at + 2]),
            np.float64(second[at]),
            np.float64(second[at + 1]),
            np.float64(second[at + 2]),
        )
    )
