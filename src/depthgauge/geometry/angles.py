"""Angles between directions, for maps of normals or lists of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map


def angles_between(first: NDArray[Any], second: NDArray[Any]) -> Map:
    """Angles in degrees; NaN where either vector has no direction (it is 0 or not finite).

    Uses the arc tangent in float64, which is exact for small angles too, at any length.

    Args:
        first: (..., 3).
        second: (..., 3); shapes are broadcast.

    >>> normals = np.array([[[0, 0, -2], [0, -1, 0], [0, 0, 0]]], np.float32)
    >>> angles_between(normals, np.array([0, 0, -1.0])).tolist()
    [[0.0, 90.0, nan]]
    """
    a, b = _directions(first), _directions(second)
    across = np.linalg.norm(np.cross(a, b), axis=-1)
    along = np.einsum("...i,...i->...", a, b)
    there = a.any(axis=-1) & b.any(axis=-1)
    angles = np.where(there, np.degrees(np.arctan2(across, along)), np.nan)
    return np.asarray(angles, np.float32)


def _directions(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The vectors in float64, 0 where one is not finite."""
    known = np.isfinite(vectors).all(axis=-1, keepdims=True)
    return np.where(known, vectors, 0.0).astype(np.float64)
