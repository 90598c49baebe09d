"""The rotation that brings a person's normals nearest to someone else's.

People judge shape well but orientation less well: everything they draw leans a little. The search
here finds the lean (at most 30 degrees), so that only the error of the shape remains.

Rotations are vectors along the axis whose length is the angle in degrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, is_known

LIMIT_DEG = 30.0
"""The largest rotation that counts as a lean."""
_FIRST_DEG, _LAST_DEG = 4.0, 0.5

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Turn:
    """The best rotation found."""

    vector_deg: tuple[float, float, float]
    value: float
    """Value of the objective at this rotation."""
    evaluations: int

    @property
    def angle_deg(self) -> float:
        """Its angle."""
        return math.hypot(*self.vector_deg)


def rotation_matrix(vector_deg: Iterable[float]) -> _Floats:
    """The 3x3 matrix of a rotation (Rodrigues).

    >>> np.round(rotation_matrix((0, 0, 90)) @ [1, 0, 0], 6) + 0.0
    array([0., 1., 0.])
    """
    vector = np.radians(np.asarray(tuple(vector_deg), np.float64))
    angle = float(np.linalg.norm(vector))
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # sin(a)/a and (1 - cos(a))/a^2, both exact at 0.
    first, half = np.sinc(angle / math.pi), np.sinc(angle / (2 * math.pi))
    return np.asarray(np.eye(3) + first * cross + 0.5 * half * half * (cross @ cross))


def rotation_vector(matrix: _Floats) -> tuple[float, float, float]:
    """The rotation of a 3x3 matrix as a vector, 0 to 180 degrees long.

    >>> [round(v, 6) for v in rotation_vector(rotation_matrix((3, -4, 12)))]
    [3.0, -4.0, 12.0]
    """
    from scipy.spatial.transform import Rotation

    x, y, z = np.degrees(Rotation.from_matrix(np.asarray(matrix, np.float64)).as_rotvec())
    return float(x), float(y), float(z)


def rotate_normals(normals: Map, vector_deg: Iterable[float]) -> Map:
    """All normals (..., 3) turned by one rotation; missing ones stay missing."""
    turned = np.asarray(normals, np.float64) @ rotation_matrix(vector_deg).T
    turned[np.isnan(normals).any(axis=-1)] = np.nan
    return turned.astype(np.float32)


def lean_between(moving: Map, fixed: Map, limit_deg: float = LIMIT_DEG) -> tuple[float, ...]:
    """The rotation with least squared difference between two normal maps, in closed form.

    It uses the normals only: a good start for the search.

    Args:
        moving: (H, W, 3) unit normals that are turned.
        fixed: (H, W, 3) unit normals.
        limit_deg: A larger rotation is reduced to this angle.
    """
    both = is_known(moving) & is_known(fixed)
    a, b = moving[both].astype(np.float64), fixed[both].astype(np.float64)
    u, _, vt = np.linalg.svd(b.T @ a)
    sign = np.diag([1.0, 1.0, float(np.sign(np.linalg.det(u @ vt)) or 1.0)])
    vector = np.array(rotation_vector(u @ sign @ vt)) if len(a) else np.zeros(3)
    return tuple(float(v) for v in _cut(vector, limit_deg))


def best_turn(
    objective: Callable[[tuple[float, float, float]], float],
    starts: Iterable[Iterable[float]] = (),
    *,
    step_deg: float = _FIRST_DEG,
    fine_deg: float = _LAST_DEG,
    limit_deg: float = LIMIT_DEG,
) -> Turn:
    """Minimises a function of a rotation within a ball of rotations, by steps that become smaller.

    It descends from the best of the starts, of which no rotation is always one. Steps along the six
    directions are taken, and halved whenever none is better.

    Args:
        objective: The function to minimise; NaN counts as infinite.
        starts: Rotation vectors, in degrees, that may be near the best one.
        step_deg: The first step.
        fine_deg: The last step.
        limit_deg: The length of the longest vector.

    Returns:
        The best rotation; never worse than none.
    """
    cache: dict[tuple[float, float, float], float] = {}

    def value(vector: _Floats) -> float:
        x, y, z = (round(float(v), 9) for v in vector)
        if (x, y, z) not in cache:
            found = objective((x, y, z))
            cache[x, y, z] = math.inf if math.isnan(found) else found
        return cache[x, y, z]

    first = [np.zeros(3), *(_cut(np.array(tuple(s)), limit_deg) for s in starts)]
    best = min(first, key=value)
    step = step_deg
    while step >= fine_deg:
        around = [_cut(best + step * way, limit_deg) for way in _WAYS]
        nearest = min(around, key=value)
        if value(nearest) < value(best):
            best = nearest
        else:
            step /= 2
    x, y, z = (round(float(v), 9) for v in best)
    return Turn((x, y, z), value(best), len(cache))


_WAYS = np.concatenate([np.eye(3), -np.eye(3)])


def _cut(vector: _Floats, limit_deg: float) -> _Floats:
    length = float(np.linalg.norm(vector))
    return vector if length <= limit_deg else vector * (limit_deg / length)
