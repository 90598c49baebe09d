"""Depth steps between surfaces, estimated from their tangent planes where only maps are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.single_views import ATTACHED
from depthgauge.types import Camera, Map

Floats = NDArray[np.float64]
_GRAZING = 0.2
"""At a smaller cosine, a curved surface is at its silhouette: its tangent plane is useless over a
whole pixel."""


def estimated_gaps(
    depth: Map,
    normals: Map,
    labels: NDArray[np.int32],
    planar: Mapping[int, bool],
    camera: Camera,
) -> tuple[Map, Map]:
    """Depth steps to the right neighbour (H, W-1) and to the one below (H-1, W).

    Two surfaces are attached if their tangent planes meet between the two pixels; otherwise the
    step is the smaller of the two estimates from either side. 0 within one surface.
    """
    slopes = ray_slopes(camera, depth.shape)
    flat = np.zeros(int(labels.max(initial=0)) + 1, bool)
    flat[[n for n, is_flat in planar.items() if is_flat and n < flat.size]] = True
    found = []
    for here, there in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1, :], np.s_[1:, :])):
        gap = np.zeros(depth[here].shape, np.float32)
        differ = (labels[here] != labels[there]) & (labels[here] > 0) & (labels[there] > 0)
        sides = [
            (
                depth[side][differ].astype(np.float64),
                normals[side][differ].astype(np.float64),
                slopes[side][differ],
                flat[labels[side][differ]],
            )
            for side in (here, there)
        ]
        gap[differ] = _steps(*sides)
        found.append(gap)
    return found[0], found[1]


def ray_slopes(camera: Camera, shape: tuple[int, ...]) -> Floats:
    """(H, W, 3) rays with z = 1."""
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.stack([(x - cx) / fx, (y - cy) / fy, np.ones(shape)], axis=-1)


def plane_depth(depth: Any, normals: Any, ray: Any, other_ray: Any) -> Floats:
    """Depth of tangent planes along other rays; NaN where they do not meet."""
    here = np.einsum("...i,...i", normals, ray)
    there = np.einsum("...i,...i", normals, other_ray)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(there < 0, depth * here / there, np.nan)


def _steps(first: tuple[Any, ...], second: tuple[Any, ...]) -> Floats:
    """Depth steps from the first to the second pixel of each pair."""
    before = _reach(first, second[2])
    behind = _reach(second, first[2])
    one, other = behind - first[0], second[0] - before
    size = np.minimum(np.abs(one), np.abs(other))
    step = np.where(np.sign(one) == np.sign(other), np.sign(one) * size, 0.0)
    return np.where(size > ATTACHED * np.minimum(first[0], second[0]), step, 0.0)


def _reach(side: tuple[Any, ...], other_ray: Any) -> Floats:
    """Depth of a side's surface at the other pixel."""
    depth, normals, ray, flat = side
    cosine = -np.einsum("ij,ij->i", normals, ray) / np.linalg.norm(ray, axis=1)
    there = plane_depth(depth, normals, ray, other_ray)
    return np.where(np.isfinite(there) & (flat | (cosine > _GRAZING)), there, depth)
