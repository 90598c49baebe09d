"""Light that is too bright for its pixel."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect

_FROM, _FULL = 245.0, 255.0
_REACH = 0.01
"""Standard deviation of the halo, as a share of the image's diagonal."""


@effect(
    "blooming",
    unit="share that spreads",
    neutral=0,
    levels=(0, 0.25, 0.5, 1, 2),
    bounds=(0, 100),
    cite="Klette et al. 2011",
)
def blooming(image: Pixels, *, level: float) -> Pixels:
    """Saturated pixels spill light over their surroundings.

    In each channel, values between 245 and 255 are stretched to 0..255, blurred (Gaussian, 1 % of
    the image's diagonal) and added `level` times: at level 1 the straight border of a large white
    area gains 127. An image without saturated pixels stays as it is at every level.
    """
    from scipy.ndimage import gaussian_filter

    glow = np.clip((image - _FROM) / (_FULL - _FROM), 0.0, 1.0) * _FULL
    sigma = _REACH * math.hypot(*image.shape[:2])
    halo = gaussian_filter(glow, (sigma, sigma, 0.0)[: image.ndim], mode="nearest")
    return np.asarray(image + level * halo, np.float32)
