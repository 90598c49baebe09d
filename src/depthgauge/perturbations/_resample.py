"""Images sampled between their pixels, by cubic splines.

Splines keep what is sharp sharp (bilinear sampling would blur, and so be a second effect), and
whole-pixel shifts stay exact. OpenCV's `remap` is quicker, but rounds places to 1/32 px.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.perturbations._effect import Pixels


def centre_of(image: Pixels) -> tuple[float, float]:
    """(y, x) of the middle of the image; pixel centres are at integers."""
    height, width = image.shape[:2]
    return (height - 1) / 2.0, (width - 1) / 2.0


def corner_radius(image: Pixels) -> float:
    """How far the corner pixels are from the middle; at least half a pixel."""
    return max(0.5, math.hypot(*centre_of(image)))


def shifted_down(image: Pixels, pixels: float) -> Pixels:
    """The image moved down; beyond the border the outermost row is repeated."""
    return _transformed(image, np.ones(2), np.array([-pixels, 0.0]))


def scaled(image: Pixels, factor: float) -> Pixels:
    """The image taken at `factor` times the distance from the middle: below 1 it grows."""
    offset = (1.0 - factor) * np.array(centre_of(image))
    return _transformed(image, np.full(2, factor), offset)


def rotated(image: Pixels, degrees: float) -> Pixels:
    """The image turned clockwise about its middle."""
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    # Maps (y, x) of the turned image to its place in the original image.
    matrix = np.array([[cosine, -sine], [sine, cosine]])
    centre = np.array(centre_of(image))
    return _transformed(image, matrix, centre - matrix @ centre)


def _transformed(image: Pixels, matrix: NDArray[np.float64], offset: NDArray[np.float64]) -> Pixels:
    from scipy.ndimage import affine_transform

    def channel(values: Pixels) -> Pixels:
        moved = affine_transform(values, matrix, offset, order=3, mode="nearest")
        return np.asarray(moved, np.float32)

    if image.ndim == 2:
        return channel(image)
    return np.stack([channel(image[..., i]) for i in range(image.shape[2])], axis=2)
