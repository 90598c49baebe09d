"""The distance between two point clouds of one photograph: EDist, after alignment.

A depth map from one image is known up to scale at best, so one cloud (the *moving* one) is scaled
and shifted onto the other (the *fixed* one) by least squares before distances are taken. Two ways:

- one scale and one translation for the whole cloud;
- one scale for each continuous surface, through the camera's centre, and one translation for all.
  A reconstruction from drawings gives only the order of surfaces, not their distances, so
  this is the fair way for people and for methods trained on their data.

Both have a closed form: a surface's best scale is linear in the translation, which leaves three
equations. Clouds are not mirrored: scales are at least 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.geometry.projection import backproject
from depthgauge.types import Camera, Map, Mask, is_known

Labels = NDArray[np.integer[Any]]
"""(H, W): the number of each pixel's surface, 0 outside."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CloudFit:
    """Aligns the moving cloud to the fixed one: `scale * point + shift`."""

    scales: Mapping[int, float]
    """By surface; with one scale for all it is surface 1. Only surfaces that both clouds have."""
    shift_m: tuple[float, float, float]
    """Along x, y, z, in the fixed cloud's unit."""
    count: int
    """Points that both clouds have."""


def fit_cloud(moving: Map, fixed: Map, surfaces: Labels | None = None) -> CloudFit:
    """The scales and the translation that minimise the mean squared distance.

    Args:
        moving: (H, W, 3) points, NaN where there is none.
        fixed: (H, W, 3) points of the same pixels.
        surfaces: One scale for each number; pixels with number 0 are ignored. None: one scale for
            the whole cloud.

    Returns:
        The fit; if it is not unique (say, all points on one ray), with the smallest translation.

    Raises:
        WrongShape: The maps have different sizes.

    >>> points = np.array([[[0, 0, 1], [1, 0, 2], [0, 1, 4]]], np.float32)
    >>> fit = fit_cloud(points, 2 * points + 1)
    >>> round(fit.scales[1], 5), [round(value, 5) for value in fit.shift_m]
    (2.0, [1.0, 1.0, 1.0])
    """
    numbers = _numbers(moving, fixed, surfaces)
    return _fit(np.asarray(moving)[numbers > 0], np.asarray(fixed)[numbers > 0], numbers)


def cloud_distances(moving: Map, fixed: Map, surfaces: Labels | None = None) -> Map:
    """The distance (H, W) of every point to its partner after `fit_cloud`; NaN without a partner.

    Args:
        moving: (H, W, 3) points, NaN where there is none.
        fixed: (H, W, 3) points of the same pixels; distances are in their unit.
        surfaces: As in `fit_cloud`.

    >>> flat = np.array([[[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]], np.float32)
    >>> bent = flat + np.array([[[0, 0, 1], [0, 0, -1], [0, 0, -1], [0, 0, 1]]], np.float32)
    >>> cloud_distances(flat, bent)
    array([[1., 1., 1., 1.]], dtype=float32)
    """
    numbers = _numbers(moving, fixed, surfaces)
    chosen = numbers > 0
    points, partners = np.asarray(moving)[chosen], np.asarray(fixed)[chosen]
    fit = _fit(points, partners, numbers)
    table = np.zeros(int(numbers.max(initial=0)) + 1)
    table[list(fit.scales)] = list(fit.scales.values())
    apart = table[numbers[chosen]][:, None] * points + fit.shift_m - partners
    distances = np.full(numbers.shape, np.nan, np.float32)
    distances[chosen] = np.sqrt((apart * apart).sum(axis=1))
    return distances


def edist(
    moving_depth_m: Map,
    moving_camera: Camera,
    fixed_depth_m: Map,
    fixed_camera: Camera,
    *,
    surfaces: Labels | None = None,
    region: Mask | None = None,
) -> float:
    """Mean Euclidean distance between corresponding points of two depth maps.

    Args:
        moving_depth_m: The depth that is aligned, NaN where there is none.
        moving_camera: Its camera; it may have another focal length.
        fixed_depth_m: The depth to compare with; the mean is in its unit.
        fixed_camera: Its camera.
        surfaces: One scale for each number; None: one for the whole cloud.
        region: Pixels to average over. The alignment uses all pixels that both maps have.

    Returns:
        The mean; NaN if the maps have no pixel of the region in common.

    >>> camera = Camera((10.0, 10.0), (1.5, 1.0), (4, 3))
    >>> depth = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    >>> edist(3 * depth, camera, depth, camera) < 1e-5
    True
    """
    distances = cloud_distances(
        backproject(moving_depth_m, moving_camera),
        backproject(fixed_depth_m, fixed_camera),
        surfaces,
    )
    return mean_distance(distances, region)


def mean_distance(distances: Map, region: Mask | None = None) -> float:
    """The mean of the known distances in a region; NaN if there are none."""
    known = np.isfinite(distances) if region is None else np.isfinite(distances) & region
    values = distances[known].astype(np.float64)
    return float(values.mean()) if len(values) else float("nan")


def _numbers(moving: Map, fixed: Map, surfaces: Labels | None) -> NDArray[np.int64]:
    """The surface of each pixel that both clouds have, 0 elsewhere."""
    shapes = [np.shape(moving), np.shape(fixed)]
    if len(shapes[0]) != 3 or shapes[0][2] != 3 or shapes[0] != shapes[1]:
        raise WrongShape(f"two clouds must be (H, W, 3) with the same size, found {shapes}.")
    both = is_known(np.asarray(moving)) & is_known(np.asarray(fixed))
    if surfaces is None:
        return both.astype(np.int64)
    labels = np.asarray(surfaces)
    if labels.shape != both.shape:
        raise WrongShape(
            f"the surfaces are {labels.shape}, the clouds {both.shape}; give one number per pixel."
        )
    return np.where(both & (labels > 0), labels, 0).astype(np.int64)


def _fit(points: Map, partners: Map, numbers: NDArray[np.int64]) -> CloudFit:
    names, which = np.unique(numbers[numbers > 0], return_inverse=True)
    if not len(names):
        return CloudFit({}, (0.0, 0.0, 0.0), 0)
    p, q = points.astype(np.float64), partners.astype(np.float64)
    squares = _sum_by(which, (p * p).sum(axis=1))
    products = _sum_by(which, (p * q).sum(axis=1))
    sums = np.stack([_sum_by(which, p[:, axis]) for axis in range(3)], axis=1)
    scales, shift = _solve(squares, products, sums, q.sum(axis=0), len(p))
    found = {int(name): float(scale) for name, scale in zip(names, scales, strict=True)}
    return CloudFit(found, (float(shift[0]), float(shift[1]), float(shift[2])), len(p))


def _sum_by(which: NDArray[np.intp], values: _Floats) -> _Floats:
    return np.asarray(np.bincount(which, values), np.float64)


def _solve(
    squares: _Floats, products: _Floats, sums: _Floats, target: _Floats, count: int
) -> tuple[_Floats, _Floats]:
    """Scales s and shift t with least sum over surfaces k of |s_k p + t - q|^2.

    Setting the derivative by s_k to zero gives s_k = (products_k - sums_k . t) / squares_k.
    Inserted into the derivative by t, this leaves three equations.
    """
    weights = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
    matrix = count * np.eye(3) - np.einsum("ki,kj,k->ij", sums, sums, weights)
    right = target - sums.T @ (weights * products)
    shift = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    scales = weights * (products - sums @ shift)
    if (scales >= 0).all():
        return scales, shift
    scales = _no_mirrors(squares, products, sums, target, count)
    return scales, (target - sums.T @ scales) / count


def _no_mirrors(
    squares: _Floats, products: _Floats, sums: _Floats, target: _Floats, count: int
) -> _Floats:
    """The best non-negative scales, with the best shift inserted: a quadratic program."""
    from scipy.optimize import nnls

    quadratic = np.diag(squares) - sums @ sums.T / count
    linear = products - sums @ target / count
    values, vectors = np.linalg.eigh(quadratic)
    values = np.sqrt(np.clip(values, values.max(initial=0.0) * 1e-14, None))
    # |R s - r|^2 with R^T R = quadratic and R^T r = linear has the same minimum.
    found: _Floats = nnls(values[:, None] * vectors.T, (vectors.T @ linear) / values)[0]
    return found
