"""Depth from normals: perspective integration of a normal map, up to one scale per part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.link_system import LinkSystem
from depthgauge.geometry.projection import need_camera_size, ray_slopes
from depthgauge.types import Camera, Map, Mask

Array = NDArray[np.float64]

_LEAST = 1e-4
"""Smallest component towards the viewer if a neighbour's normal is used at a pixel's own ray."""


@dataclass(frozen=True, slots=True)
class IntegratedDepth:
    """A depth map in which each part has its own scale."""

    depth: Map
    """(H, W), positive; the mean of log depth is 0 in every part. NaN outside."""
    parts: NDArray[np.int32]
    """(H, W): 1.. for the connected parts, 0 outside."""
    residual: float
    """Relative residual of the least-squares solution."""


def integrate_normals(
    normals: NDArray[np.generic],
    camera: Camera,
    mask: Mask | None = None,
    links: tuple[Mask, Mask] | None = None,
    *,
    least_facing: float = 0.05,
    tolerance: float = 1e-8,
) -> IntegratedDepth:
    """The depth of the surface that a normal map shows, seen by a camera of known focal length.

    Least squares over steps of log depth between neighbours, which are exact on planes and spheres;
    see `log_depth_steps`. A pixel without a link is its own part, with depth 1.

    Args:
        normals: (H, W, 3), towards the viewer (z negative); their length does not matter. NaN or
            zero is missing.
        camera: A camera with the map's size.
        mask: Pixels to use; by default all with a normal.
        links: Whether a pixel's surface continues to the right and downwards, two (H, W) masks; by
            default all True. Where they are False, depth may jump.
        least_facing: The smallest cosine of the angle between a normal and the direction to the
            viewer; normals that point farther away are turned to it.
        tolerance: The largest relative residual.

    >>> camera = Camera((100.0, 100.0), (1.0, 0.0), (3, 1))
    >>> wall = np.broadcast_to([0.0, 0.0, -1.0], (1, 3, 3))
    >>> integrate_normals(wall, camera).depth
    array([[1., 1., 1.]], dtype=float32)
    """
    given = np.asarray(normals, np.float64)
    if given.ndim != 3 or given.shape[2] != 3:
        raise WrongShape(f"normals are (H, W, 3), found {given.shape}")
    need_camera_size(given[..., 0], camera)
    facing = faced(given, camera, least_facing)
    used: Mask = np.asarray(np.isfinite(facing[..., 2]))
    if mask is not None:
        used &= _of_size("the mask", mask, used)
    right, down = links_within(used)
    if links is not None:
        right &= _of_size("the links to the right", links[0], used)
        down &= _of_size("the links downwards", links[1], used)
    system = LinkSystem(right, down)
    parts = system.parts()
    found = system.solve(steps=log_depth_steps(facing, camera), tolerance=tolerance)
    logs = found.values[..., 0]
    # Links decide what is connected; a pixel without links is already solved.
    alone = used & (parts == 0)
    parts[alone] = parts.max(initial=0) + 1 + np.arange(np.count_nonzero(alone))
    logs[alone] = 0.0
    depth = np.exp(centred(logs, parts)).astype(np.float32)
    return IntegratedDepth(depth, parts, found.residual)


def faced(normals: NDArray[np.generic], camera: Camera, least: float | NDArray[Any]) -> Array:
    """Unit normals, turned towards the viewer, within the plane of normal and ray, where needed.

    Args:
        normals: (H, W, 3) of any length; NaN, zero and infinite ones become NaN.
        camera: A camera with the map's size.
        least: Smallest cosine towards the viewer, in (0, 1); one number or (H, W).
    """
    limit = np.broadcast_to(np.asarray(least, np.float64), normals.shape[:2])
    if not ((limit > 0) & (limit < 1)).all():
        raise Misuse("the smallest cosine between normal and viewer must be between 0 and 1")
    given = np.asarray(normals, np.float64)
    length = np.sqrt(np.einsum("ijk,ijk->ij", given, given))
    good = np.isfinite(length) & (length > 0)
    unit = given / np.where(good, length, np.nan)[..., None]
    x, y = ray_slopes(camera)
    ray_length = np.sqrt(x * x + y * y + 1)
    cosine = -(unit[..., 0] * x + unit[..., 1] * y + unit[..., 2]) / ray_length
    away = cosine < limit
    if not away.any():
        return unit
    viewer = -np.stack([x[away], y[away], np.ones(np.count_nonzero(away))], axis=-1)
    viewer /= ray_length[away][:, None]
    aside = unit[away] - cosine[away][:, None] * viewer
    size = np.linalg.norm(aside, axis=-1, keepdims=True)
    # A normal that points straight away can be turned in any direction.
    aside = np.where(size > 1e-12, aside / np.maximum(size, 1e-12), _any_across(viewer))
    least_there = limit[away][:, None]
    unit[away] = least_there * viewer + np.sqrt(1 - least_there**2) * aside
    return unit


def log_depth_steps(
    normals: Array, camera: Camera, folds: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """Steps of log depth: ln z of the pixel to the right (and below) minus that of the pixel.

    On a plane with the normal n, depth along the ray r is c / (n . r), so a step is
    ln(n . r_p / n . r_q). With the mean of both pixels' normals this is exact on spheres too: a
    chord is orthogonal to the sum of the normals at its ends.

    Args:
        normals: (H, W, 3), unit, facing the viewer (see `faced`).
        camera: A camera with the map's size.
        folds: The share of the way from a pixel to the one on its right (and the one below) that
            lies on the pixel's own side of a fold; NaN where there is no fold. The step is then
            that of both normals, each on its share.
    """
    x, y = ray_slopes(camera)
    here = -(normals[..., 0] * x + normals[..., 1] * y + normals[..., 2])
    found = np.zeros(here.shape), np.zeros(here.shape)
    places = (np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1, :], np.s_[1:, :])
    for axis, (first, second) in enumerate(places):
        ahead = _towards(normals[first], x[second], y[second])
        behind = _towards(normals[second], x[first], y[first])
        found[axis][first] = np.log((here[first] + behind) / (ahead + here[second]))
        if folds is not None:
            bent = np.isfinite(folds[axis][first])
            share = folds[axis][first][bent]
            own = np.log(here[first][bent] / ahead[bent])
            other = np.log(behind[bent] / here[second][bent])
            found[axis][first][bent] = share * own + (1 - share) * other
    return found


def links_within(mask: Mask) -> tuple[Mask, Mask]:
    """Whether a pixel and the one to its right (and the one below) are both in the mask."""
    right, down = np.zeros_like(mask), np.zeros_like(mask)
    right[:, :-1] = mask[:, :-1] & mask[:, 1:]
    down[:-1] = mask[:-1] & mask[1:]
    return right, down


def centred(logs: Array, parts: NDArray[np.int32]) -> Array:
    """The values minus their mean over each part; NaN where the part is 0."""
    inside = parts > 0
    counts = np.bincount(parts[inside], minlength=1)
    sums = np.bincount(parts[inside], logs[inside], minlength=1)
    means = sums / np.maximum(counts, 1)
    out = np.full(logs.shape, np.nan)
    out[inside] = logs[inside] - means[parts[inside]]
    return out


def _towards(normals: Array, x: Array, y: Array) -> Array:
    return np.maximum(-(normals[..., 0] * x + normals[..., 1] * y + normals[..., 2]), _LEAST)


def _any_across(vectors: Array) -> Array:
    across = np.stack([-vectors[:, 2], np.zeros(len(vectors)), vectors[:, 0]], axis=-1)
    found: Array = across / np.linalg.norm(across, axis=-1, keepdims=True)
    return found


def _of_size(name: str, mask: Mask, used: Mask) -> Mask:
    if mask.shape != used.shape:
        raise WrongShape(f"{name} is {mask.shape}, the normals are {used.shape}")
    return mask
