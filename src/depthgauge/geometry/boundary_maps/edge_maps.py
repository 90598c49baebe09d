"""Maps of edge strength: smoothing, direction across the edge, non-maximum suppression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry._checks import need_length
from depthgauge.types import Map


def triangle_filter(values: Map, radius: int) -> Map:
    """Smooths with a triangle of 2 * radius + 1 px in both directions, mirrored at the border.

    >>> triangle_filter(np.array([[0, 0, 4, 0, 0]], np.float32), 1)
    array([[0., 1., 2., 1., 0.]], dtype=float32)
    """
    from scipy import ndimage

    _need_map(values)
    need_length("radius", radius)
    rising = np.arange(1, radius + 2, dtype=np.float64)
    weights = np.concatenate([rising, rising[-2::-1]]) / (radius + 1) ** 2
    smooth = np.asarray(values, np.float32)
    for axis in (0, 1):
        smooth = ndimage.correlate1d(smooth, weights, axis, mode="reflect")
    return smooth


def across_edges(values: Map, radius: int = 4) -> NDArray[np.float32]:
    """The direction across the edge at each pixel, from 0 to pi, from x (right) towards y (down).

    Computed from the second derivatives of the smoothed map with the formula of Dollar's toolbox,
    so that scores agree. It is exact at multiples of 45 degrees and off by at most 13 degrees
    between them. An exactly horizontal edge has direction 0, so non-maximum suppression does not
    change it.

    Args:
        values: (H, W), strength of edges.
        radius: Radius of the smoothing triangle.
    """
    gy, gx = _gradients(triangle_filter(values, radius))
    _, gxx = _gradients(gx)
    gyy, gxy = _gradients(gy)
    slope = gyy * np.sign(-gxy) / (gxx + np.float32(1e-5))
    return np.asarray(np.mod(np.arctan(slope), np.float32(np.pi)), np.float32)


def _gradients(values: Map) -> tuple[Map, Map]:
    """Central differences down and across; one-sided differences at the border."""
    found = [
        np.gradient(values, axis=axis) if values.shape[axis] > 1 else np.zeros_like(values)
        for axis in (0, 1)
    ]
    return np.asarray(found[0], np.float32), np.asarray(found[1], np.float32)


def suppress_non_maxima(
    values: Map,
    across: NDArray[np.float32],
    *,
    reach: int = 1,
    border: int = 5,
    margin: float = 1.01,
) -> Map:
    """Keeps the crests of an edge map; everything else becomes 0.

    A pixel is kept if its value times the margin is at least the (bilinear) value at 1 ... `reach`
    px on both sides across the edge. Values fade to 0 towards the border of the image.

    Args:
        values: (H, W), strength of edges.
        across: (H, W), from `across_edges`.
        reach: In px.
        border: Width in px of the frame in which values fade; at most half the image.
        margin: Values above 1 keep more.

    Raises:
        WrongShape: The sizes differ.
        Misuse: A negative length.
    """
    from depthgauge.geometry.boundary_maps._edge_map_kernels import suppress

    _need_map(values)
    if across.shape != values.shape:
        raise WrongShape(f"directions are {across.shape}, the edges {values.shape}.")
    need_length("reach", reach)
    need_length("border", border)
    if not margin > 0:
        raise Misuse(f"margin is {margin} but must be above 0.")
    kept = np.zeros(values.shape, np.float32)
    strength = np.ascontiguousarray(values, np.float32)
    suppress(strength, np.ascontiguousarray(across, np.float32), reach, margin, kept)
    height, width = values.shape
    border = min(border, height // 2, width // 2)
    return kept * np.outer(_fade(height, border), _fade(width, border)).astype(np.float32)


def _fade(length: int, border: int) -> NDArray[np.float64]:
    """1 in the middle, falling to 0 at both ends."""
    from_end = np.minimum(np.arange(length), np.arange(length)[::-1])
    return np.minimum(from_end / border, 1.0) if border else np.ones(length)


def thin_edges(values: Map) -> Map:
    """Smooths an edge map and keeps its crests, as is usual before edges are evaluated.

    >>> ridge = np.zeros((20, 21), np.float32)
    >>> ridge[:, 9:12] = [0.5, 1, 0.5]
    >>> np.flatnonzero(thin_edges(ridge)[10]).tolist()
    [10]
    """
    smooth = triangle_filter(values, 1)
    return suppress_non_maxima(smooth, across_edges(smooth))


def _need_map(values: Map) -> None:
    if values.ndim != 2:
        raise WrongShape(f"an edge map must be (H, W), this one is {values.shape}.")
