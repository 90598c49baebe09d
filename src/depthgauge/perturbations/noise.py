"""Random noise of the sensor."""

from __future__ import annotations

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect


@effect(
    "noise",
    unit="grey levels",
    neutral=0,
    levels=(0, 2, 5, 10, 20),
    bounds=(0, 255),
    cite="Leclercq & Morris 2003; Morales et al. 2009",
)
def noise(image: Pixels, *, level: float, rng: np.random.Generator) -> Pixels:
    """Gaussian noise; the level is its standard deviation.

    Independent for every pixel and channel, with mean 0. The same sample has the same pattern at
    every level, only stronger.
    """
    return image + np.float32(level) * rng.standard_normal(image.shape, np.float32)


@effect(
    "shot_noise",
    unit="grey levels",
    neutral=0,
    levels=(0, 0.1, 0.25, 0.5, 1),
    bounds=(0, 255),
    cite="EMVA standard 1288",
)
def shot_noise(image: Pixels, *, level: float, rng: np.random.Generator) -> Pixels:
    """Noise of counting photons: its variance is the level times the grey value.

    The level is how many grey levels one photo-electron is worth: 255 / full-well capacity, so a
    sensor that is full at 1000 electrons has 0.255. The Poisson distribution is replaced by the
    normal one of the same mean and variance, which keeps the pattern the same at every level.
    """
    variance = np.float32(level) * np.maximum(image, np.float32(0))
    pattern = rng.standard_normal(image.shape, np.float32)
    return np.asarray(image + np.sqrt(variance) * pattern, np.float32)
