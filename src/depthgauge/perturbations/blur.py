"""A lens that is out of focus."""

from __future__ import annotations

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect


@effect(
    "blur",
    unit="px",
    neutral=0,
    levels=(0, 0.5, 1, 2, 4),
    bounds=(0, 100),
    cite="Morales et al. 2009",
)
def blur(image: Pixels, *, level: float) -> Pixels:
    """Gaussian blur; the level is its standard deviation in pixels.

    Cut off at four standard deviations; beyond the border the outermost pixel is repeated.
    """
    from scipy.ndimage import gaussian_filter

    # 0 along the channels: colours are not mixed.
    sigma = (level, level, 0.0)[: image.ndim]
    return np.asarray(gaussian_filter(image, sigma, mode="nearest"), np.float32)
