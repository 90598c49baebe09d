"""An edge detector: colour gradients at several scales, weakened in textured surroundings."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.geometry.boundary_maps.edge_maps import thin_edges
from depthgauge.methods._images import as_bytes
from depthgauge.methods._spec import MethodOptions
from depthgauge.types import Inputs, Map

USUAL_DIAGONAL_PX = 578.0
"""Diagonal of the pictures (481 x 321) for which the scales are given."""
SCALES_PX = (1.5, 3.0, 6.0)
COLOUR_WEIGHT = 1.3
"""Weight of colour differences relative to lightness: they are smaller but more informative."""
SURROUND = 3.0
"""Width of the surroundings, in multiples of the scale."""


class EdgeOptions(MethodOptions):
    """Options of the edge detector."""

    contrast: float = Field(default=10.0, gt=0)
    """The difference across an edge, in units of CIELAB, that has the probability 0.63."""
    surround: float = Field(default=0.5, ge=0, le=1)
    """The share of the mean strength around a pixel that is subtracted, to suppress texture."""
    crests: bool = False
    """Keep only the crests of the map, for benchmarks that do not do so themselves (bsds500)."""


def edge_probability(inputs: Inputs, options: EdgeOptions) -> Map:
    """The probability of an edge at each pixel of the left picture, 0 to 1.

    At each scale the strength is the largest change of CIELAB colour in any direction (Di Zenzo
    1986), computed with derivatives of a Gaussian; the mean strength around the pixel is subtracted
    (Grigorescu et al. 2003). Scales are proportional to the picture's diagonal.
    """
    lab = _lab(as_bytes(inputs["left_image"]))
    unit = max(math.hypot(*lab.shape[:2]) / USUAL_DIAGONAL_PX, 0.5)
    found = [_strength(lab, unit * scale, options.surround) for scale in SCALES_PX]
    mean = np.mean(found, axis=0)
    probability = np.asarray(1 - np.exp(-mean / options.contrast), np.float32)
    return thin_edges(probability) if options.crests else probability


def _lab(image: NDArray[np.uint8]) -> Map:
    """Lightness (0 to 100) and the two colour axes; only lightness for a grey picture."""
    import cv2

    colour = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    lab = cv2.cvtColor(colour.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB)
    return np.asarray(lab if image.ndim == 3 else lab[..., :1], np.float32)


def _strength(lab: Map, scale_px: float, surround: float) -> Map:
    from scipy import ndimage

    xx = xy = yy = np.zeros(lab.shape[:2], np.float32)
    for gx, gy in _gradients(lab, scale_px):
        xx, xy, yy = xx + gx * gx, xy + gx * gy, yy + gy * gy
    largest = (xx + yy + np.sqrt((xx - yy) ** 2 + 4 * xy * xy)) / 2
    strength = np.sqrt(largest)
    around = ndimage.gaussian_filter(strength, SURROUND * scale_px, mode="reflect")
    return np.asarray(np.maximum(strength - np.float32(surround) * around, 0), np.float32)


def _gradients(lab: Map, scale_px: float) -> Iterator[tuple[Map, Map]]:
    """Gradients of each channel, across and down, per scale instead of per pixel."""
    from scipy import ndimage

    for channel in range(lab.shape[2]):
        factor = np.float32(scale_px * (1.0 if channel == 0 else COLOUR_WEIGHT))
        across, down = (
            ndimage.gaussian_filter(lab[..., channel], scale_px, order=order, mode="reflect")
            for order in ((0, 1), (1, 0))
        )
        yield across * factor, down * factor
