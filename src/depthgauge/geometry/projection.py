"""Rays, back-projection, projection and rigid transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry._maps import as_plane, size_of
from depthgauge.types import Camera, Map

Points = NDArray[np.floating[Any]]
"""(..., 3) coordinates in metres, NaN where there is no point."""


def rays(camera: Camera) -> Map:
    """The direction (x, y, 1) of each pixel's ray in camera axes, (H, W, 3).

    Lens distortion is undone; a pixel that no ray reaches is NaN. A ray multiplied by the depth is
    the visible point.
    """
    x, y = ray_slopes(camera)
    out = np.ones((*x.shape, 3), np.float32)
    out[..., 0], out[..., 1] = x, y
    out[..., 2] = np.where(np.isnan(x), np.nan, 1.0)
    return out


def ray_slopes(camera: Camera) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slopes x / z and y / z of each pixel's ray as two (H, W) arrays; read-only if undistorted."""
    (width, height), (fx, fy), (cx, cy) = camera.size_px, camera.focal_px, camera.centre_px
    x = np.broadcast_to(((np.arange(width) - cx) / fx)[None, :], (height, width))
    y = np.broadcast_to(((np.arange(height) - cy) / fy)[:, None], (height, width))
    coefficients = _distortion(camera)
    if not coefficients.any():
        return x, y
    from depthgauge.geometry._kernels import undistort

    straight = np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    undistort(x, y, coefficients, *straight)
    return straight


def slopes_at(pixels: NDArray[np.generic], camera: Camera) -> NDArray[np.float64]:
    """Slopes (x / z, y / z), (..., 2), of the rays through arbitrary positions (..., 2).

    Lens distortion is undone; NaN where no ray reaches the position.

    >>> camera = Camera((100.0, 100.0), (320.0, 240.0), (641, 481))
    >>> slopes_at(np.array([[345.0, 240.0]]), camera)
    array([[0.25, 0. ]])
    """
    positions = np.asarray(pixels, np.float64)
    if positions.ndim == 0 or positions.shape[-1] != 2:
        raise WrongShape(f"pixel positions must be (..., 2), found {positions.shape}")
    bent = (positions - camera.centre_px) / camera.focal_px
    coefficients = _distortion(camera)
    if not coefficients.any():
        return bent
    from depthgauge.geometry._kernels import undistort

    flat = bent.reshape(1, -1, 2)
    x, y = np.full(flat.shape[:2], np.nan), np.full(flat.shape[:2], np.nan)
    # Copies, because the kernel is compiled for contiguous rows.
    undistort(flat[..., 0].copy(), flat[..., 1].copy(), coefficients, x, y)
    return np.stack([x, y], axis=-1).reshape(positions.shape)


def backproject(depth_m: NDArray[np.generic], camera: Camera) -> Map:
    """The points (H, W, 3) of a depth map in camera axes, in metres.

    Depth is along the optical axis, so z is the depth itself. A missing or non-positive depth gives
    NaN coordinates.

    Raises:
        WrongShape: The map does not have the camera's size.

    >>> camera = Camera((100.0, 100.0), (1.0, 0.0), (3, 1))
    >>> backproject(np.array([[2.0, 2.0, np.nan]]), camera)[0, 0]
    array([-0.02, 0. , 2. ], dtype=float32)
    """
    depth = as_plane(depth_m, "depth")
    need_camera_size(depth, camera)
    x, y = ray_slopes(camera)
    present = np.where((depth > 0) & (depth < np.inf), depth, np.float32(np.nan))
    points = np.full((*depth.shape, 3), np.nan, np.float32)
    np.multiply(x, present, out=points[..., 0], casting="same_kind")
    np.multiply(y, present, out=points[..., 1], casting="same_kind")
    # A pixel that no ray reaches has no point at all.
    points[..., 2] = np.where(np.isnan(x), np.float32(np.nan), present)
    return points


def project(points: Points, camera: Camera) -> NDArray[Any]:
    """Pixel positions (..., 2) of points (..., 3) in camera axes; NaN at or behind the camera.

    The lens distortion is OpenCV's: with x, y on the plane z = 1, r^2 = x^2 + y^2 and
    q = 1 + k1 r^2 + k2 r^4 + k3 r^6, the image is at
    (x q + 2 p1 x y + p2 (r^2 + 2 x^2), y q + p1 (r^2 + 2 y^2) + 2 p2 x y).
    Positions may lie outside the image. Results are float64 for float64 points, else float32.

    >>> camera = Camera((100.0, 100.0), (320.0, 240.0), (641, 481))
    >>> project(np.array([[0.5, 0.0, 2.0], [0.5, 0.0, -2.0]]), camera)
    array([[345., 240.], [ nan, nan]])
    """
    array = _as_points(points)
    z = np.where(array[..., 2] > 0, array[..., 2], array.dtype.type(np.nan))
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = _distort(array[..., 0] / z, array[..., 1] / z, _distortion(camera))
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    pixels = np.stack([x * fx + cx, y * fy + cy], axis=-1)
    # An overflow on one axis must not leave the other coordinate valid.
    pixels[~np.isfinite(pixels).all(axis=-1)] = np.nan
    return pixels


def transform(points: Points, matrix: NDArray[np.float64]) -> NDArray[Any]:
    """Points (..., 3) moved by a rigid (or affine) 4x4 matrix; missing points stay missing.

    >>> shift = np.eye(4)
    >>> shift[:3, 3] = 1.0, 2.0, 3.0
    >>> transform(np.array([[0.0, 0.0, 1.0]]), shift)
    array([[1., 2., 4.]])
    """
    array = _as_points(points)
    moved: NDArray[Any] = array @ _as_pose(matrix)[:3, :3].T.astype(array.dtype)
    moved += _as_pose(matrix)[:3, 3].astype(array.dtype)
    # A BLAS may skip zeros of the matrix, and then a point would lose only some coordinates.
    moved[np.isnan(array).any(axis=-1)] = np.nan
    return moved


def inverse_pose(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of a rigid 4x4 pose: its rotation transposed.

    >>> shift = np.eye(4)
    >>> shift[:3, 3] = 1.0, 2.0, 3.0
    >>> inverse_pose(shift)[:3, 3]
    array([-1., -2., -3.])
    """
    pose = _as_pose(matrix)
    if not np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-6):
        raise Misuse("the pose's upper left 3x3 is not a rotation; give a rigid transform")
    inverse = np.eye(4)
    inverse[:3, :3] = pose[:3, :3].T
    inverse[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return inverse


def to_world(points: Points, camera: Camera) -> NDArray[Any]:
    """Points from the camera's axes to the world's."""
    return transform(points, camera.world_from_camera)


def to_camera(points: Points, camera: Camera) -> NDArray[Any]:
    """Points from the world's axes to the camera's."""
    return transform(points, inverse_pose(camera.world_from_camera))


def need_camera_size(values: NDArray[np.generic], camera: Camera) -> None:
    """Refuses a map that does not have the camera's size.

    Raises:
        WrongShape: The sizes differ.
    """
    width, height = camera.size_px
    if values.shape[:2] != (height, width):
        raise WrongShape(
            f"the map is {size_of(values)}, the camera's image is {width}x{height}; "
            "resize the map, or the camera with scale_camera"
        )


def _distortion(camera: Camera) -> NDArray[np.float64]:
    """k1 k2 p1 p2 k3, padded with zeros."""
    given = np.asarray(camera.distortion, np.float64)
    if given[5:].any():
        raise Misuse(
            f"distortion beyond k1 k2 p1 p2 k3 is not supported, found {len(given)} coefficients; "
            "undistort the images first"
        )
    coefficients = np.zeros(5)
    coefficients[: len(given[:5])] = given[:5]
    return coefficients


def _distort(
    x: NDArray[Any], y: NDArray[Any], coefficients: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    if not coefficients.any():
        return x, y
    k1, k2, p1, p2, k3 = (float(k) for k in coefficients)
    r2 = x * x + y * y
    q = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
    xy = x * y
    return (
        x * q + 2.0 * p1 * xy + p2 * (r2 + 2.0 * x * x),
        y * q + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * xy,
    )


def _as_points(points: Points) -> NDArray[Any]:
    array = np.asarray(points)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise WrongShape(f"points must be (..., 3), found {array.shape}")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _as_pose(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    pose = np.asarray(matrix, np.float64)
    if pose.shape != (4, 4):
        raise WrongShape(f"a pose must be 4x4, found {pose.shape}")
    return pose
