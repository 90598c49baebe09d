"""What a lens does towards the corners."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect
from depthgauge.perturbations._resample import centre_of, corner_radius, scaled

_LUMA = (0.299, 0.587, 0.114)  # ITU-R BT.601


@effect(
    "vignetting",
    unit="share lost at the corner",
    neutral=0,
    levels=(0, 0.2, 0.4, 0.6, 0.8),
    bounds=(0, 0.99),
    cite="Hirschmüller & Scharstein 2007",
)
def vignetting(image: Pixels, *, level: float) -> Pixels:
    """Darker towards the corners by the law of cos^4; corner pixels lose that share of the light.

    The factor at distance r from the middle is (1 + k r^2)^-2, with k so that it is 1 - level at
    the corner pixels.
    """
    height, width = image.shape[:2]
    (cy, cx), radius = centre_of(image), corner_radius(image)
    squares = ((np.arange(height) - cy) ** 2)[:, np.newaxis] + (np.arange(width) - cx) ** 2
    k = (1.0 / math.sqrt(1.0 - level) - 1.0) / radius**2
    factor = ((1.0 + k * squares) ** -2).astype(np.float32)
    return image * (factor if image.ndim == 2 else factor[..., np.newaxis])


@effect(
    "chromatic_aberration",
    unit="px at the corner",
    neutral=0,
    levels=(0, 0.5, 1, 2, 4),
    bounds=(0, 100),
    cite="Klette et al. 2011",
)
def chromatic_aberration(image: Pixels, *, level: float) -> Pixels:
    """Red is larger and blue smaller than green: by that many pixels at the corners.

    Displacements grow in proportion to the distance from the middle. A grey image becomes the luma
    of its three displaced copies, as a sensor without colour filters would see them.
    """
    change = level / corner_radius(image)
    factors = (1.0 - change, 1.0, 1.0 + change)
    if image.ndim == 2:
        mixed = sum(
            weight * _scaled(image, factor) for weight, factor in zip(_LUMA, factors, strict=True)
        )
        return np.asarray(mixed, np.float32)
    channels = [_scaled(image[..., i], factor) for i, factor in enumerate(factors)]
    return np.stack(channels, axis=2)


def _scaled(channel: Pixels, factor: float) -> Pixels:
    return channel if factor == 1.0 else scaled(channel, factor)
