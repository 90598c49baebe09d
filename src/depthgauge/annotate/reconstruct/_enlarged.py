"""Large pictures: solved at a working size, then enlarged along the lines of the full size.

A system of links needs 600 bytes and more for each pixel. So in pictures of many million pixels,
normals and depth are found at a working size. Lines and surfaces are those of the full size; planes
are written in closed form, and curved surfaces are interpolated, each from its own pixels only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.segmentation import Segmentation
from depthgauge.geometry.projection import ray_slopes
from depthgauge.types import Camera, Map

Array = NDArray[np.float64]

WORK_PIXELS = 3_000_000
"""Pictures with more pixels are solved at a size with so many."""
_BASE_BYTES, _SOLVED_BYTES, _ENLARGED_BYTES = 300_000_000, 750, 85
"""Memory of the program; for each pixel of a picture that is solved, and of one that is enlarged.
Measured at 3 and 30 million pixels, with some room."""
_BAND = 256
_LEAST = 1e-3
"""Smallest cosine between a plane's normal and a ray in its closed form."""


def memory_bytes(width_px: int, height_px: int) -> int:
    """About how much memory `reconstruct` needs for a picture of this size.

    >>> [round(memory_bytes(*size) / 1e9, 1) for size in ((640, 480), (1600, 1200), (6400, 4700))]
    [0.5, 1.7, 2.9]
    """
    pixels = width_px * height_px
    solved = _SOLVED_BYTES * min(pixels, WORK_PIXELS)
    return _BASE_BYTES + max(solved, _ENLARGED_BYTES * pixels * (pixels > WORK_PIXELS))


def enlarged(
    normals: Map, depth: Map, small: Segmentation, large: Segmentation, camera: Camera
) -> tuple[Map, Map]:
    """Normals and depth at the size of `large`.

    Args:
        normals: (h, w, 3) of the small picture.
        depth: (h, w), scaled.
        small: Its surfaces.
        large: Surfaces of the same lines at full size.
        camera: Camera of the full size.
    """
    from depthgauge.annotate.reconstruct._enlarge_kernels import enlarge

    partner = _partners(small, large)
    inside = small.smooth > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(depth.astype(np.float64))
    values = np.where(inside[..., None], np.dstack([normals, logs]), 0.0)
    planes = _planes(values, small, large, partner, camera)
    height, width = large.smooth.shape
    out_normals = np.full((height, width, 3), np.nan, np.float32)
    out_depth = np.full((height, width), np.nan, np.float32)
    x_slopes, y_slopes = _slopes(camera)
    for top in range(0, height, _BAND):
        rows = slice(top, min(height, top + _BAND))
        labels = large.smooth[rows]
        band = np.zeros((*labels.shape, 4))
        enlarge(labels, partner, small.smooth, values, top, height, band)
        flat = planes[labels]
        planar = np.isfinite(flat[..., 0])
        x, y = np.broadcast_arrays(x_slopes[None, :], y_slopes[rows, None])
        towards = -(flat[..., 0] * x + flat[..., 1] * y + flat[..., 2])
        closed = flat[..., 3] - np.log(np.maximum(towards, _LEAST))
        band[planar, :3] = flat[planar, :3]
        band[planar, 3] = closed[planar]
        length = np.linalg.norm(band[..., :3], axis=-1, keepdims=True)
        out_normals[rows] = band[..., :3] / np.where(length > 0, length, np.nan)
        out_depth[rows] = np.exp(band[..., 3])
    return out_normals, out_depth


def _slopes(camera: Camera) -> tuple[Array, Array]:
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    width, height = camera.size_px
    across: Array = (np.arange(width, dtype=np.float64) - cx) / fx
    along: Array = (np.arange(height, dtype=np.float64) - cy) / fy
    return across, along


def _partners(small: Segmentation, large: Segmentation) -> NDArray[np.int32]:
    """For each smooth surface of the large picture, the one of the small picture it overlaps most.

    Surfaces may be numbered differently, and the smallest may be missing.
    """
    rows, columns = small.smooth.shape
    height, width = large.smooth.shape
    count = int(small.smooth.max(initial=0)) + 1
    counts = np.zeros((int(large.smooth.max(initial=0)) + 1) * count, np.int64)
    across = np.minimum((np.arange(width) + 0.5) * columns / width, columns - 1).astype(np.int64)
    for y in range(height):
        line = small.smooth[min(int((y + 0.5) * rows / height), rows - 1)][across]
        counts += np.bincount(
            large.smooth[y].astype(np.int64) * count + line, minlength=len(counts)
        )
    table = counts.reshape(-1, count)
    table[:, 0] = 0
    found: NDArray[np.int32] = table.argmax(axis=1).astype(np.int32)
    found[0] = 0
    return found


def _planes(
    values: Array,
    small: Segmentation,
    large: Segmentation,
    partner: NDArray[np.int32],
    camera: Camera,
) -> Array:
    """(n, 4) for each surface of the large picture: the normal of a plane and ln of its distance.

    NaN for curved ones. On a plane with normal n, depth along the ray r is d / (n . r).
    """
    height, width = small.smooth.shape
    full_width, full_height = camera.size_px
    scale = np.array([width / full_width, height / full_height])
    reduced = Camera(
        tuple((np.array(camera.focal_px) * scale).tolist()),
        tuple(((np.array(camera.centre_px) + 0.5) * scale - 0.5).tolist()),
        (width, height),
    )
    x, y = ray_slopes(reduced)
    towards = -(values[..., 0] * x + values[..., 1] * y + values[..., 2])
    distance = values[..., 3] + np.log(np.maximum(towards, _LEAST))
    planes = np.full((len(partner), 4), np.nan)
    for number, there in enumerate(partner.tolist()):
        if not there or small.shapes.get(there) != "planar":
            continue
        if large.shapes.get(number) != "planar" or (box := small.boxes.get(there)) is None:
            continue
        mask = (small.smooth[box] == there) & (towards[box] > 10 * _LEAST)
        if mask.any():
            planes[number, :3] = values[box][mask][0, :3]
            planes[number, 3] = np.median(distance[box][mask])
    return planes
