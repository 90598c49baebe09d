"""Cameras that respond differently to the same light."""

from __future__ import annotations

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect

_FULL = np.float32(255)


@effect(
    "gain",
    unit="",
    neutral=1,
    levels=(1, 0.9, 0.75, 0.5, 0.25),
    bounds=(0, 100),
    cite="Hirschmüller & Scharstein 2007",
)
def gain(image: Pixels, *, level: float) -> Pixels:
    """Every value times the level: another exposure; above 1 bright pixels saturate."""
    return image * np.float32(level)


@effect(
    "offset",
    unit="grey levels",
    neutral=0,
    levels=(0, 5, 10, 20, 40),
    bounds=(-255, 255),
    cite="Morales et al. 2009",
)
def offset(image: Pixels, *, level: float) -> Pixels:
    """The level added to every value: a constant change of intensity."""
    return image + np.float32(level)


@effect(
    "gamma",
    unit="",
    neutral=1,
    levels=(1, 1.1, 1.25, 1.5, 2),
    bounds=(0.1, 10),
    cite="Hirschmüller & Scharstein 2007",
)
def gamma(image: Pixels, *, level: float) -> Pixels:
    """255 (value / 255) to the power of the level: above 1 darker, below 1 brighter."""
    share = np.clip(image / _FULL, np.float32(0), np.float32(1))
    return np.asarray(_FULL * share ** np.float32(level), np.float32)
